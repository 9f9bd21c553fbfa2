// Messages: a list to browse, one in full, and the dialogs to publish, move, copy and redrive.

import { get, post, query } from "./api.js";
import { act, ask, panel, toast } from "./dialog.js";
import { badge, command, empty, h, settled } from "./dom.js";
import { age, exact, moment, plural, size } from "./format.js";
import { table } from "./table.js";

const LIMIT = 25;
const BODY_SHOWN = 65_536;
const PREVIEW = 160;

/** A list of the messages in a queue; `path` is the queue's address in the API. */
export function browser(path, name) {
  const asked = { search: "", state: "" };
  const pages = []; // the `after` of each page before this one
  let after = "";
  let turn = 0;

  const search = h("input", { type: "search", placeholder: "Filter by body", "aria-label": "Search bodies", spellcheck: "false" });
  search.addEventListener("input", settled(() => restart({ search: search.value }), 300));
  const state = h("select", { "aria-label": "State" }, [["", "any state"], ["ready", "ready"], ["unacked", "unacked"], ["delayed", "delayed"]].map(([value, text]) => h("option", { value }, text)));
  state.addEventListener("change", () => restart({ state: state.value }));
  const first = h("button", { type: "button", onclick: () => restart({}) }, "refresh");
  const back = h("button", { type: "button", onclick: () => go(pages.pop() ?? "") }, "‹ previous");
  const on = h("button", { type: "button" }, "next ›");
  const told = h("span", { class: "muted", role: "status" });
  const rows = table({
    caption: `Messages in ${name}`,
    key: (row) => `${row.state}:${row.offset}`,
    columns: [
      { label: "offset", node: true, number: true, cell: (row) => h("button", { type: "button", class: "link", onclick: () => open(row) }, exact(row.offset)) },
      { label: "state", node: true, changes: true, cell: (row) => badge(row.state, row.state === "ready" ? "" : "warn") },
      { label: "id", wide: true, class: "mono clip", cell: (row) => row.id },
      { label: "event", class: "mono clip", cell: (row) => row.event },
      { label: "age", number: true, cell: (row) => age(row.age_seconds) },
      { label: "deliveries", number: true, wide: true, cell: (row) => exact(row.retries + (row.state === "unacked" ? 1 : 0)) },
      { label: "protocol", node: true, wide: true, cell: (row) => h("span", { class: `door proto-${row.protocol}` }, row.protocol) },
      { label: "size", number: true, wide: true, cell: (row) => size(row.size) },
      { label: "body", class: "mono clip body", cell: (row) => preview(row) },
    ],
    onopen: open,
  });
  const nothing = h("div", { hidden: true });
  const element = h(
    "section",
    { class: "card flush" },
    h("div", { class: "filters" }, h("h2", {}, "Messages"), search, state, first, h("span", { class: "gap" }), told, h("nav", { class: "pager", "aria-label": "Pages of messages" }, back, on)),
    rows.element,
    nothing,
  );

  function restart(given) {
    Object.assign(asked, given);
    pages.length = 0;
    return go("");
  }

  async function go(place) {
    const mine = ++turn;
    after = place;
    const page = await act(() => get(`${path}/messages${query({ ...asked, limit: LIMIT, after })}`));
    if (page === null || mine !== turn) return;
    rows.show(page.messages);
    rows.element.hidden = page.messages.length === 0;
    nothing.hidden = page.messages.length > 0;
    if (!nothing.hidden) nothing.replaceChildren(page.next ? empty("No match so far", "There are more messages: continue with “next”.") : asked.search || asked.state ? empty("No matching messages") : noMessages(name));
    back.disabled = pages.length === 0;
    on.disabled = !page.next;
    on.onclick = () => {
      pages.push(after);
      go(page.next);
    };
    told.textContent = page.messages.length ? `${plural(page.messages.length, "message")} on page ${exact(pages.length + 1)}` : "";
  }

  async function open(row) {
    const whole = row.truncated ? await act(() => get(`${path}/messages${query({ id: row.id, state: row.state, limit: 10, body_max: BODY_SHOWN })}`)) : null;
    show(whole?.messages.find((one) => one.offset === row.offset) || row, path);
  }

  return { element, refresh: () => restart({}) };
}

function preview(row) {
  const text = row.body ?? `${row.body_base64.slice(0, 60)} (base64)`;
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
}

/** One message in full. */
function show(message, path) {
  const facts = [
    ["Offset", exact(message.offset)],
    ["Id", h("code", {}, message.id)],
    ["Event", h("code", {}, message.event)],
    ["Queue", message.queue],
    ["State", { unacked: "unacked: delivered to a consumer", delayed: `delayed until ${moment(message.due_at)}` }[message.state] || message.state],
    ["Retries", exact(message.retries)],
    ["Published", `${moment(message.published_at)} (${age(message.age_seconds)} ago) over ${message.protocol}`],
    ["Size", `${exact(message.size)} bytes`],
    ...Object.entries(message.headers || {}).map(([name, value]) => [h("code", {}, name), h("code", {}, value)]),
  ];
  const link = `#/rosetta${query({ queue: path.split("/").at(-1), offset: message.offset })}`;
  const dialog = panel(
    `Message ${exact(message.offset)}`,
    h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("h3", {}, "Body"),
    bodyView(message),
    message.truncated ? h("p", { class: "muted" }, `Only the first ${size(BODY_SHOWN)} are shown.`) : null,
    h("p", {}, h("a", { href: link, onclick: () => dialog.close() }, "Show in Rosetta")),
  );
}

function bodyView(message) {
  if (message.body === null) return h("pre", { class: "bytes" }, hex(bytesOf(message.body_base64)));
  let text = message.body;
  try {
    if (/^\s*[[{]/.test(text)) text = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // not JSON
  }
  return h("pre", { class: "bytes" }, text || "(empty)");
}

export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Sixteen bytes per line, like hexdump. */
export function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.slice(at, at + 16)];
    const numbers = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${numbers.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}

function noMessages(name) {
  return empty(
    "The queue is empty",
    "Publish a message with the button above, or from a terminal:",
    command(`curl ${location.origin}/v1/publish -H 'content-type: application/json' -d '${JSON.stringify({ queue: name, body: "hello" })}'`),
  );
}

// -- dialogs -----------------------------------------------------------------------------------------------------------

export function publish(path, name) {
  return ask({
    title: `Publish to ${name}`,
    fields: [
      { name: "body", label: "Body", kind: "area", placeholder: '{"hello": "world"}' },
      { name: "id", label: "Id", hint: "Optional. By default, the broker generates one." },
      { name: "headers", label: "Headers", kind: "area", hint: "One per line, as name: value" },
    ],
    confirm: "Publish",
    async run(values) {
      const answer = await post(`${path}/messages`, { body: values.body, id: values.id || null, headers: headersOf(values.headers) });
      toast(`Published as offset ${exact(answer.first_offset)}.`);
    },
  });
}

function headersOf(text) {
  const headers = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`Invalid header “${line}”: write name: value.`);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

export function transfer(path, name, verb) {
  const done = verb === "move" ? "moved" : "copied";
  const request = (values, dryRun) =>
    post(`${path}/${verb}`, { to: values.to, limit: limitOf(values), event: values.event || null, search: values.search || null, dry_run: dryRun });
  return ask({
    title: `${verb === "move" ? "Move" : "Copy"} messages from ${name}`,
    text: "Applies to ready messages, from the front of the queue. Messages held by consumers are not affected.",
    fields: [
      { name: "to", label: "Target queue" },
      { name: "limit", label: "Limit", kind: "number", value: 1000 },
      { name: "event", label: "Only this event" },
      { name: "search", label: "Only bodies that contain" },
    ],
    confirm: verb === "move" ? "Move" : "Copy",
    extra: { label: "Dry run", run: async (values) => `${plural((await request(values, true))[done], "message")} would be ${done}.` },
    async run(values) {
      if (!values.to) throw new Error("Enter a target queue.");
      const answer = await request(values, false);
      toast(`${plural(answer[done], "message")} ${done} to ${values.to}.`);
    },
  });
}

export function redrive(path, name) {
  const request = (values, dryRun) => post(`${path}/redrive`, { to: values.to || null, limit: limitOf(values), dry_run: dryRun });
  return ask({
    title: `Redrive ${name}`,
    text: "Moves dead letters back to the queue they came from, and resets their retry counters.",
    fields: [
      { name: "limit", label: "Limit", kind: "number", value: 1000 },
      { name: "to", label: "Target queue", hint: "Optional. By default, each message returns to its original queue." },
    ],
    confirm: "Redrive",
    extra: {
      label: "Dry run",
      async run(values) {
        const { redriven, targets } = await request(values, true);
        const where = Object.entries(targets || {}).map(([target, number]) => `${exact(number)} to ${target}`);
        return redriven ? `${plural(redriven, "message")} would be redriven: ${where.join(", ")}.` : "No messages would be redriven.";
      },
    },
    async run(values) {
      const { redriven } = await request(values, false);
      toast(`${plural(redriven, "message")} redriven.`);
    },
  });
}

function limitOf(values) {
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1) throw new Error("The limit must be a whole number above 0.");
  return limit;
}
