// The page: which view the address asks for, the pulse in the bar, the keys.

import { get } from "./api.js";
import { panel } from "./dialog.js";
import { empty, h, setText } from "./dom.js";
import { live } from "./live.js";
import { connections } from "./views/connections.js";
import { log } from "./views/log.js";
import { overview } from "./views/overview.js";
import { pipelines } from "./views/pipelines.js";
import { queue } from "./views/queue.js";
import { queues } from "./views/queues.js";
import { rosetta } from "./views/rosetta.js";

// Each view fills `root` and gives back what ends it. `route` is {path: [words], query, set(query)}.
const VIEWS = { overview, queues, queue, connections, log, pipelines, rosetta };
const JUMPS = { o: "#/", q: "#/queues", c: "#/connections", l: "#/log", p: "#/pipelines", r: "#/rosetta" };
const KEYS = [
  ["/", "search"],
  ["g o · g q · g c", "overview · queues · connections"],
  ["g l · g p · g r", "log · pipelines · Rosetta"],
  ["t", "light or dark"],
  ["?", "this list"],
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
  leave = view ? view(root, route) : root.append(empty("No such view", "The address names none of them.", h("a", { href: "#/" }, "Overview"))) || null;
  if (shown && shown !== address) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
  shown = address;
}

function decode(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function help() {
  panel("Keys", h("dl", { class: "keys" }, KEYS.map(([keys, what]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)])));
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
const WORDS = { waiting: "connecting", live: "live", lost: "no answer" };
live.listen({
  state(state) {
    pulse.dataset.state = state;
    setText(pulseText, WORDS[state]);
  },
});

document.getElementById("theme").addEventListener("click", () => window.penstockTheme.toggle());
document.getElementById("help").addEventListener("click", help);
window.addEventListener("hashchange", enter);
get("/v1/overview").then((answer) => (document.getElementById("nav").dataset.version = answer.version)).catch(() => {});
live.start();
enter();
