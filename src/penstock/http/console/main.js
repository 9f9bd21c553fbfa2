// The page: routing, the status in the bar, keyboard shortcuts.

import { get, remove } from "./api.js";
import { panel } from "./dialog.js";
import { empty, h, setText } from "./dom.js";
import { live } from "./live.js";
import { login } from "./login.js";
import { has, me, recognise } from "./me.js";
import { access } from "./views/access.js";
import { connections } from "./views/connections.js";
import { log } from "./views/log.js";
import { overview } from "./views/overview.js";
import { pipelines } from "./views/pipelines.js";
import { queue } from "./views/queue.js";
import { queues } from "./views/queues.js";
import { rosetta } from "./views/rosetta.js";

// Each view fills `root` and returns a function that ends it. `route` is {path: [words], query, set(query)}.
const VIEWS = { overview, queues, queue, connections, log, pipelines, rosetta, access };
// Permissions that a view needs: any one of them.
const NEEDS = { overview: ["browse"], queues: ["browse"], queue: ["browse"], connections: ["browse"], log: ["read-log"], pipelines: ["browse", "read-log"] };
const JUMPS = { o: "#/", q: "#/queues", c: "#/connections", l: "#/log", p: "#/pipelines", r: "#/rosetta", a: "#/access" };
const KEYS = [
  ["/", "search"],
  ["g o · g q · g c", "overview · queues · connections"],
  ["g l · g p · g r", "log · pipelines · Rosetta"],
  ["g a", "access"],
  ["t", "switch between light and dark"],
  ["?", "show shortcuts"],
  ["Esc", "close"],
];

const main = document.getElementById("main");
let leave = null;
let shown = "";

function routeOf(hash) {
  const [path, search = ""] = (hash.replace(/^#/, "") || "/").split("?");
  const words = path.split("/").filter(Boolean);
  const name = words[0] === "queues" && words.length > 1 ? "queue" : words[0] || "overview";
  return { name, path: words, query: Object.fromEntries(new URLSearchParams(search)) };
}

function enter() {
  if (location.hash === "#main") return; // the skip link
  const route = routeOf(location.hash);
  const address = `${route.name} ${route.path.join("/")}`;
  leave?.(); // also for another query of the same view: a view reads its query once
  leave = null;
  const view = VIEWS[route.name];
  const root = h("div", { class: `view ${route.name}` });
  main.replaceChildren(root);
  for (const link of document.querySelectorAll("#nav a")) {
    const here = link.dataset.view === route.name || (link.dataset.view === "queues" && route.name === "queue");
    if (here) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "center" }); // on a phone there are more than fit
    }
    else link.removeAttribute("aria-current");
  }
  document.title = `${route.path.map(decode).join(" / ") || "overview"} · Penstock`;
  if (route.name !== "queue") live.watch("");
  leave = !offered(route.name) ? refused(root) : view ? view(root, route) : root.append(empty("Page not found", "No view has this address.", h("a", { href: "#/" }, "Overview"))) || null;
  if (shown && shown !== address) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  shown = address;
}

function offered(name) {
  return !NEEDS[name] || has(...NEEDS[name]);
}

function refused(root) {
  root.append(empty("Permission denied", `User ${me.user} lacks the permission for this view. An administrator can grant it.`, h("p", {}, h("a", { href: "#/access" }, "Your permissions"))));
  return null;
}

function decode(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function help() {
  panel("Keyboard shortcuts", h("dl", { class: "keys" }, KEYS.map(([keys, what]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)])));
}

let jumping = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const jump = Date.now() - jumping < 1500 ? JUMPS[event.key] : null;
  jumping = event.key === "g" ? Date.now() : 0;
  if (jump) location.hash = jump;
  else if (event.key === "t") window.penstockTheme.toggle();
  else if (event.key === "?") help();
  else if (event.key === "/") {
    const search = main.querySelector("input[type=search]");
    if (!search) return;
    search.focus();
    search.select();
  } else return;
  event.preventDefault();
});

const pulse = document.getElementById("pulse");
const pulseText = document.getElementById("pulse-text");
const WORDS = { waiting: "connecting", live: "live", lost: "disconnected" };
live.listen({
  state(state) {
    pulse.dataset.state = state;
    setText(pulseText, WORDS[state]);
  },
});

document.getElementById("theme").addEventListener("click", () => window.penstockTheme.toggle());
document.getElementById("help").addEventListener("click", help);
document.addEventListener("login-over", () => location.reload(), { once: true });

/** Show the page, or the login if one is needed. */
async function start() {
  let known = true;
  try {
    known = await recognise();
  } catch {
    // the broker is not responding: the status shows it
  }
  if (!known) {
    document.body.classList.add("stranger");
    document.title = "log in · Penstock";
    const root = h("div", { class: "view" });
    main.replaceChildren(root);
    login(root);
    return;
  }
  if (me.authentication) {
    const out = document.getElementById("log-out");
    out.hidden = false;
    out.title = `Log out ${me.user}`;
    setText(document.getElementById("who"), me.user);
    out.addEventListener("click", async () => {
      await remove("/v1/session").catch(() => {});
      location.reload();
    });
    for (const link of document.querySelectorAll("#nav a")) link.hidden = !offered(link.dataset.view);
  }
  window.addEventListener("hashchange", enter);
  if (has("browse", "read-log")) {
    get("/v1/overview").then((answer) => (document.getElementById("nav").dataset.version = answer.version)).catch(() => {});
    live.start();
  } else {
    pulse.hidden = true;
    if (!routeOf(location.hash).path.length) history.replaceState(null, "", "#/access");
  }
  enter();
}

start();
