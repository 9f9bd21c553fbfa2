// All queues: the server searches, sorts and pages, so this is as quick with ten thousand as with ten.

import { get, put, query } from "../api.js";
import { ask, toast } from "../dialog.js";
import { badge, command, empty, h, repeat, settled } from "../dom.js";
import { has } from "../me.js";
import { age, exact, plural, rate, size } from "../format.js";
import { pager, table } from "../table.js";
import { queueLink } from "./overview.js";

const LIMIT = 50;

export function queues(root, route) {
  const asked = { search: route.query.search || "", sort: route.query.sort || "-ready", offset: Number(route.query.offset) || 0 };
  const before = new Map(); // href -> {at, queued, delivered}, for rates
  let asking = 0;

  const search = h("input", { type: "search", value: asked.search, placeholder: "Filter by name", "aria-label": "Search queues", spellcheck: "false" });
  search.addEventListener("input", settled(() => change({ search: search.value, offset: 0 })));
  const found = h("span", { class: "muted", role: "status" });
  const rows = table({
    caption: "Queues",
    key: (row) => row.href,
    columns: [
      { label: "queue", sort: "name", node: true, class: "name", cell: (row) => h("a", { href: queueLink(row) }, row.name || h("em", {}, "(no name)")) },
      { label: "", node: true, changes: true, class: "state", cell: states },
      { label: "ready", sort: "ready", number: true, cell: (row) => exact(row.ready) },
      { label: "unacked", sort: "unacked", number: true, cell: (row) => exact(row.unacked) },
      { label: "oldest", sort: "oldest", number: true, cell: (row) => age(row.oldest_age_seconds) },
      { label: "in", number: true, wide: true, cell: (row) => rate(row.in) },
      { label: "out", number: true, wide: true, cell: (row) => rate(row.out) },
      { label: "size", sort: "bytes", number: true, wide: true, cell: (row) => size(row.bytes) },
      { label: "consumers", sort: "consumers", number: true, wide: true, cell: (row) => exact(row.consumers) },
    ],
    onsort: (sort) => change({ sort, offset: 0 }),
    onopen: (row) => (location.hash = queueLink(row)),
  });
  const pages = pager((step) => change({ offset: Math.max(0, asked.offset + step * LIMIT) }));
  const nothing = h("div", { hidden: true });
  root.append(
    h("div", { class: "title" }, h("h1", {}, "Queues"), found, h("span", { class: "gap" }), search, has("declare") && h("button", { type: "button", class: "primary", onclick: declare }, "New queue")),
    h("section", { class: "card flush" }, rows.element, nothing, pages.element),
  );

  function change(given) {
    Object.assign(asked, given);
    history.replaceState(null, "", `#/queues${query({ search: asked.search, sort: asked.sort === "-ready" ? "" : asked.sort, offset: asked.offset || "" })}`);
    load().catch(() => {});
  }

  async function load() {
    const turn = ++asking;
    const page = await get(`/v1/queues${query({ ...asked, limit: LIMIT })}`);
    if (turn !== asking) return; // a later question is on its way
    if (page.queues.length === 0 && asked.offset > 0) return change({ offset: 0 });
    const now = performance.now();
    for (const row of page.queues) {
      const last = before.get(row.href);
      const seconds = last ? (now - last.at) / 1000 : 0;
      if (last && seconds < 0.5) Object.assign(row, { in: last.in, out: last.out });
      else {
        row.in = last ? Math.max(0, row.queued - last.queued) / seconds : null;
        row.out = last ? Math.max(0, row.delivered - last.delivered) / seconds : null;
        before.set(row.href, { at: now, queued: row.queued, delivered: row.delivered, in: row.in, out: row.out });
      }
    }
    rows.sortedBy(asked.sort);
    rows.show(page.queues);
    pages.show(page, page.queues.length);
    found.textContent = asked.search ? `${plural(page.total, "match", "matches")}` : plural(page.total, "queue");
    nothing.hidden = page.queues.length > 0;
    rows.element.hidden = page.queues.length === 0;
    if (!nothing.hidden) nothing.replaceChildren(asked.search ? empty("No matching queues") : noQueues());
  }

  async function declare() {
    const name = await ask({
      title: "New queue",
      text: "Queues are also created on first use, by a consumer or a message.",
      fields: [
        { name: "name", label: "Name" },
        { name: "events", label: "Events", hint: "The queue receives a copy of each message published as one of these events. Separate them with spaces." },
      ],
      confirm: "Create",
      async run(values) {
        if (!values.name) throw new Error("Enter a name.");
        const events = values.events.split(/\s+/).filter(Boolean);
        await put(`/v1/queues/${encodeURIComponent(values.name)}`, events.length ? { events } : {});
        return values.name;
      },
    });
    if (name) {
      toast(`Created queue ${name}.`);
      location.hash = `#/queues/${encodeURIComponent(name)}`;
    }
  }

  return repeat(load, 2000);
}

function states(row) {
  const list = h("span", { class: "badges" });
  if (row.paused) list.append(badge("paused", "warn"));
  if (row.full) list.append(badge("full", "bad"));
  if (row.ready > 0 && row.consumers === 0) list.append(badge("no consumer", "quiet"));
  return list;
}

function noQueues() {
  return empty(
    "No queues yet",
    "Queues are created on first use, by a consumer or a message:",
    command(`curl ${location.origin}/v1/publish -H 'content-type: application/json' -d '{"queue": "jobs", "body": "hello"}'`),
  );
}
