// Open connections, by protocol.

import { get, query, remove } from "../api.js";
import { ask, toast } from "../dialog.js";
import { badge, command, empty, h, repeat, setText } from "../dom.js";
import { exact, plural, size } from "../format.js";
import { live } from "../live.js";
import { mayAll, me } from "../me.js";
import { pager, table } from "../table.js";

const LIMIT = 50;
const NOBODY = { mqks: 0, smqs: 0, sevx: 0, mqmq: 0, rq: 0 }; // in this order

export function connections(root, route) {
  const asked = { protocol: route.query.protocol || "", offset: 0 };
  let ports = {};
  const found = h("span", { class: "muted", role: "status" });
  const choices = h("div", { class: "segments", role: "group", "aria-label": "Protocol" });
  const rows = table({
    caption: "Connections",
    key: (row) => row.id,
    columns: [
      { label: "peer", class: "mono", cell: (row) => row.id },
      { label: "protocol", node: true, cell: (row) => h("span", { class: `door proto-${row.protocol}` }, row.protocol) },
      ...(me.authentication ? [{ label: "user", class: "name", cell: (row) => row.user }] : []),
      { label: "consumers", number: true, wide: true, cell: (row) => exact(row.consumers) },
      { label: "unacked", number: true, cell: (row) => exact(row.unacked) },
      { label: "unsent", number: true, wide: true, cell: (row) => size(row.outbox_bytes) },
      { label: "memory", number: true, wide: true, cell: (row) => size(row.memory_bytes) },
      { label: "errors", number: true, wide: true, cell: (row) => exact(row.errors) },
      { label: "", node: true, changes: true, cell: (row) => (row.publishing_paused ? badge("publishing paused", "warn") : h("span")) },
      mayAll("operate", "queue") && { label: "", node: true, class: "end", cell: (row) => h("button", { type: "button", class: "small danger quiet", "aria-label": `Close ${row.id}`, onclick: () => close(row) }, "close") },
    ].filter(Boolean),
  });
  const pages = pager((step) => {
    asked.offset = Math.max(0, asked.offset + step * LIMIT);
    load();
  });
  const nothing = h("div", { hidden: true });
  root.append(h("div", { class: "title" }, h("h1", {}, "Connections"), found, h("span", { class: "gap" }), choices), h("section", { class: "card flush" }, rows.element, nothing, pages.element));
  get("/v1/overview").then((state) => (ports = state.ports)).catch(() => {});

  const stopSamples = live.listen({ sample: (sample) => showCounts(sample.connections) });
  const stopTurns = repeat(load, 2000);

  function showCounts(counts) {
    const all = Object.values(counts).reduce((sum, number) => sum + number, 0);
    for (const [protocol, number] of [["", all], ...Object.entries({ ...NOBODY, ...counts })]) {
      let button = choices.querySelector(`[data-protocol="${protocol}"]`);
      if (!button) {
        button = h("button", { type: "button", "data-protocol": protocol, onclick: () => choose(protocol) }, h("span", { class: protocol ? `proto-${protocol}` : "" }, protocol || "all"), " ", h("b"));
        choices.append(button);
      }
      button.setAttribute("aria-pressed", String(protocol === asked.protocol));
      setText(button.querySelector("b"), exact(number));
    }
  }

  function choose(protocol) {
    Object.assign(asked, { protocol, offset: 0 });
    history.replaceState(null, "", `#/connections${query({ protocol })}`);
    if (live.last) showCounts(live.last.connections);
    load();
  }

  async function load() {
    const page = await get(`/v1/connections${query({ ...asked, limit: LIMIT })}`);
    rows.show(page.connections);
    pages.show(page, page.connections.length);
    setText(found, plural(page.total, "connection"));
    rows.element.hidden = page.connections.length === 0;
    nothing.hidden = page.connections.length > 0;
    if (!nothing.hidden) nothing.replaceChildren(nobody(asked.protocol, ports));
  }

  async function close(row) {
    const done = await ask({
      title: `Close ${row.id}?`,
      text: "Its consumers end, and their unacked messages return to their queues. The client may reconnect.",
      confirm: "Close connection",
      danger: true,
      run: () => remove(row.href),
    });
    if (done) {
      toast(`Closed ${row.id}.`);
      load();
    }
  }

  return () => {
    stopSamples();
    stopTurns();
  };
}

const GREETINGS = {
  mqks: (host, port) => `(echo 'c1 consume jobs job.new'; cat) | nc ${host} ${port}`,
  smqs: (host, port) => `(echo 'C:jobs'; cat) | nc ${host} ${port}`,
  sevx: (host, port) => `(echo 'c1 recv {"queue": "jobs", "pattern": {"event": "job.new"}}'; cat) | nc ${host} ${port}`,
};

function nobody(protocol, ports) {
  const host = location.hostname.replace(/^\[|\]$/g, "");
  const wanted = protocol || "mqks";
  const greeting = GREETINGS[wanted];
  const port = ports[wanted] || ports.any;
  if (!greeting || !port) return empty(protocol ? `No connections over ${protocol.toUpperCase()}` : "No connections", port ? `It listens on port ${port}.` : "");
  return empty(protocol ? `No connections over ${protocol.toUpperCase()}` : "No connections", "Connect from a terminal:", command(greeting(host, port)));
}
