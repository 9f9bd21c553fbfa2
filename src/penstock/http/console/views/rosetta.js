// One message as the bytes that each of the five protocols sends, and how each part of it changes.

import { get, post, query } from "../api.js";
import { badge, empty, h, settled } from "../dom.js";
import { exact, plural } from "../format.js";
import { bytesOf } from "../messages.js";

const EXAMPLES = [
  ["a JSON object", '{"order": 4711, "paid": true}', ""],
  ["text over two lines", "first line\nsecond line", ""],
  ["a JSON string", '"hello"', ""],
  ["binary", "", "AAEC//4K"],
  ["empty", "", ""],
];
const OUTCOMES = { same: "good", coded: "warn", changed: "bad", lost: "quiet" };
const BINARY = new Set(["mqmq", "rq"]);
const FINE = 24; // bytes of a part that are spelt out
const MEMBERS = ["body", "id", "event", "retry", "headers"];

export function rosetta(root, route) {
  const { queue, offset } = route.query;
  const results = h("div", { class: "renderings", "aria-live": "polite" });
  const told = h("p", { class: "problem", role: "alert", hidden: true });
  let asHex = false;
  let shown = [];
  const look = h("button", { type: "button", "aria-pressed": "false", onclick: toggle }, "hexadecimal");
  const fromQueue = queue !== undefined && offset !== undefined;

  root.append(
    h("div", { class: "title" }, h("h1", {}, "Rosetta"), h("span", { class: "muted" }, "the bytes that a consumer of each protocol receives")),
    fromQueue ? h("p", { class: "muted" }, "Message ", exact(Number(offset)), " of ", h("a", { href: `#/queues/${queue}` }, nameOf(queue)), ". ", h("a", { href: "#/rosetta" }, "Try another message")) : form(),
    h("div", { class: "key" }, legend(), h("span", { class: "gap" }), look),
    told,
    results,
  );

  function form() {
    const body = h("textarea", { name: "body", rows: 4, value: EXAMPLES[0][1], spellcheck: "false" });
    const base64 = h("input", { name: "base64", placeholder: "replaces the body", spellcheck: "false" });
    const event = h("input", { name: "event", value: "order.paid", spellcheck: "false" });
    const into = h("input", { name: "queue", value: "orders", spellcheck: "false" });
    const id = h("input", { name: "id", value: "m1", spellcheck: "false" });
    const retries = h("input", { name: "retries", type: "number", min: 0, max: 1000, value: 0 });
    const by = h("select", { name: "protocol" }, ["http", "mqks", "smqs", "sevx", "mqmq", "rq"].map((word) => h("option", { value: word }, word)));
    const again = settled(translate, 150);
    const samples = h(
      "div",
      { class: "samples" },
      h("span", { class: "muted" }, "examples"),
      EXAMPLES.map(([label, text, coded]) => h("button", { type: "button", class: "small", onclick: () => fill(text, coded) }, label)),
    );

    function fill(text, coded) {
      body.value = text;
      base64.value = coded;
      again();
    }

    function translate() {
      const content = base64.value ? { body_base64: base64.value } : { body: body.value };
      show(post("/v1/rosetta", { queue: into.value, event: event.value, id: id.value, retries: Number(retries.value) || 0, protocol: by.value, ...content }));
    }

    const label = (text, control, kind = "field") => h("label", { class: kind }, h("span", {}, text), control);
    const element = h(
      "form",
      { class: "card grid", onsubmit: (submit) => submit.preventDefault() },
      h("div", { class: "wide" }, label("Body", body), samples),
      label("Body (base64)", base64),
      label("Event", event),
      label("Queue", into),
      label("Id", id),
      label("Retries", retries),
      label("Published over", by),
    );
    element.addEventListener("input", again);
    translate();
    return element;
  }

  async function show(asking) {
    try {
      const answer = await asking;
      told.hidden = true;
      shown = answer.renderings;
      paint();
    } catch (error) {
      told.textContent = error.hint ? `${error.message} ${error.hint}` : error.message;
      told.hidden = false;
      if (error.status === 404) results.replaceChildren(empty("The message is no longer in the queue", "It has been settled or moved."));
    }
  }

  function toggle() {
    asHex = !asHex;
    look.setAttribute("aria-pressed", String(asHex));
    paint();
  }

  function paint() {
    results.replaceChildren(...shown.map((rendering) => card(rendering, asHex)));
  }

  if (fromQueue) show(get(`/v1/queues/${queue}/messages/${encodeURIComponent(offset)}/rosetta`));
  return () => {};
}

function nameOf(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function legend() {
  const roles = [["body", "body"], ["id", "id"], ["event", "event"], ["retry", "retry counter"], ["queue", "queue"], ["marker", "encoding marker"], ["frame", "protocol framing"]];
  return h("ul", { class: "legend roles", "aria-label": "Colours" }, roles.map(([role, text]) => h("li", {}, h("span", { class: `part ${role}` }, text))));
}

function card(rendering, asHex) {
  const { protocol, refusal, fates, parts, size, consume } = rendering;
  const head = h("header", {}, h("h2", { class: `proto-${protocol}` }, protocol.toUpperCase()), h("span", { class: "muted" }, refusal ? "" : plural(size, "byte")));
  if (refusal) return h("section", { class: "card rendering" }, head, h("p", { class: "problem" }, refusal));
  const outcome = fates.body.outcome;
  head.append(h("span", { class: "gap" }), badge(outcome === "same" ? "body unchanged" : `body ${outcome}`, OUTCOMES[outcome]));
  const told = MEMBERS.filter((member) => fates[member]);
  const chips = told.map((member) => {
    const { outcome: word } = fates[member];
    const chip = badge(nameOfMember(member), `${OUTCOMES[word]} ${word}`);
    chip.title = word;
    chip.append(h("span", { class: "hidden" }, ` ${word}`));
    return chip;
  });
  const notes = told.filter((member) => fates[member].note).map((member) => h("li", {}, `${nameOfMember(member)}: ${fates[member].note}`));
  return h(
    "section",
    { class: "card rendering", "data-protocol": protocol },
    head,
    h("pre", { class: "bytes", tabindex: 0, "aria-label": `${protocol.toUpperCase()} bytes` }, asHex ? inHex(parts) : inText(parts, BINARY.has(protocol))),
    parts.some((part) => part.size > bytesOf(part.base64).length) ? h("p", { class: "muted" }, "Long parts are shortened here, but not on the wire.") : null,
    h("ul", { class: "fates" }, h("li", {}, h("span", { class: "badges" }, chips)), notes),
    h("details", {}, h("summary", {}, "Byte by byte"), fine(parts)),
    h("details", {}, h("summary", {}, "What a client sends to receive it"), h("pre", { class: "bytes" }, inText([{ role: "frame", base64: consume, note: "" }], BINARY.has(protocol)))),
  );
}

function nameOfMember(member) {
  return member === "retry" ? "retry counter" : member;
}

function inText(parts, binary) {
  return parts.map((part) => h("span", { class: `part ${part.role}`, title: part.note || part.role }, binary && part.role === "frame" ? coded(bytesOf(part.base64)) : visible(bytesOf(part.base64))));
}

/** Escapes instead of single letters: a byte of a frame is a number, even if it looks like text. Words stay words. */
function coded(bytes) {
  const text = String.fromCharCode(...bytes);
  return text.replace(/[A-Za-z]{2,}|[^]/g, (found) => (found.length > 1 ? found : escaped(found)));
}

function escaped(character) {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

function inHex(parts) {
  return parts.map((part) => h("span", { class: `part ${part.role}`, title: part.note || part.role }, `${numbers(bytesOf(part.base64))} `));
}

function numbers(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** Each part with its meaning, for authors of clients. */
function fine(parts) {
  const rows = parts.map((part) => {
    const bytes = bytesOf(part.base64);
    const shown = bytes.length > FINE ? `${numbers(bytes.slice(0, FINE))} … ${exact(part.size)} bytes` : numbers(bytes);
    return h("tr", {}, h("td", { class: "mono" }, h("span", { class: `part ${part.role}` }, shown)), h("td", {}, part.note || (part.role === "frame" ? visible(bytes).trim() || "space" : nameOfMember(part.role))));
  });
  return h("table", { class: "fine" }, h("tbody", {}, rows));
}

/** Text, with escapes for control characters and for bytes that are not valid UTF-8. */
function visible(bytes) {
  let text = null;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return [...bytes].map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : escaped(String.fromCharCode(byte)))).join("");
  }
  return text.replace(/[\u0000-\u001f\u007f]/g, (character) => (character === "\n" ? "⏎\n" : escaped(character)));
}
