// The log: how far it goes, what is safe, in which files, and for how long.

import { get, query } from "../api.js";
import { card, command, empty, h, repeat, setText, tiles } from "../dom.js";
import { age, count, exact, moment, plural, size } from "../format.js";
import { live } from "../live.js";
import { plot } from "../plot.js";
import { table } from "../table.js";

export function log(root) {
  const figures = tiles([
    ["first", "first offset", "the oldest message that is kept"],
    ["next", "next offset", "what the next message gets"],
    ["durable", "durable up to", "everything before it is on the disk"],
    ["behind", "not yet on disk", "what the disk is behind"],
    ["kept", "messages kept"],
    ["size", "on disk"],
  ]);
  const growth = plot({
    title: "Behind",
    note: "accepted and not yet on the disk",
    format: size,
    least: 1000,
    series: [{ label: "behind", ink: "warn", fill: true, value: (sample) => sample.log.behind_bytes }],
  });
  const syncs = plot({
    title: "Fsync",
    format: age,
    least: 0.001,
    series: [
      { label: "mean", ink: "in", fill: true, value: (sample) => sample.process.sync_seconds },
      { label: "worst", ink: "in", dashed: true, value: (sample) => sample.process.sync_max_seconds },
    ],
  });
  let largest = 1;
  const files = table({
    caption: "Segments",
    key: (row) => row.name,
    columns: [
      { label: "segment", class: "mono", cell: (row) => row.name },
      { label: "first offset", number: true, cell: (row) => exact(row.first_offset) },
      { label: "begun", wide: true, cell: (row) => moment(row.begun_at) },
      { label: "size", number: true, cell: (row) => size(row.bytes) },
      { label: "", node: true, changes: true, wide: true, class: "gauge", cell: (row) => h("progress", { max: largest, value: row.bytes, "aria-hidden": "true" }) },
    ],
  });
  const none = h("div", { hidden: true });
  const found = h("output", { role: "status" });
  const time = h("input", { type: "datetime-local", step: 1, "aria-label": "Moment" });
  const finder = h("form", { class: "inline", onsubmit: find }, time, h("button", { type: "submit" }, "Find the offset"), found);
  const retention = h("dl", { class: "facts" });
  root.append(
    h("div", { class: "title" }, h("h1", {}, "Log")),
    figures.element,
    h("div", { class: "plots" }, growth.element, syncs.element),
    h("section", { class: "card flush" }, h("h2", {}, "Segments"), files.element, none),
    h(
      "div",
      { class: "columns" },
      card("What was published from a moment on", finder, h("p", { class: "muted" }, "Read the log as a table of Arrow, in Python:"), command(`import pyarrow as pa, urllib.request\ntable = pa.ipc.open_stream(urllib.request.urlopen("${location.origin}/v1/log?from=0")).read_all()`)),
      card("Retention", retention),
    ),
  );

  const stopSamples = live.listen({
    sample(sample) {
      const { first_offset: first, next_offset: next, durable_offset: durable, behind_bytes: behind } = sample.log;
      figures.show({ first: exact(first), next: exact(next), durable: exact(durable), behind: size(behind), kept: count(next - first) });
      growth.show(live.samples);
      syncs.show(live.samples);
    },
  });
  const stopTurns = repeat(load, 3000);

  async function load() {
    const state = await get("/v1/overview");
    describe(retention, state);
    if (!state.storage.durable) return volatile();
    const { segments, bytes } = await get("/v1/log/segments");
    largest = Math.max(1, ...segments.map((segment) => segment.bytes));
    figures.show({ size: size(bytes) });
    files.show([...segments].reverse());
    files.element.hidden = segments.length === 0;
    none.hidden = segments.length > 0;
    if (!none.hidden) none.replaceChildren(empty("Nothing is written yet", "The first message begins the first file."));
  }

  function volatile() {
    figures.show({ size: "nothing" });
    files.element.hidden = true;
    if (!none.hidden) return;
    none.hidden = false;
    none.replaceChildren(empty("This broker keeps its log in memory", "It ends with the process. To keep it, and to have confirmations mean that a message is on the disk:", command("penstock serve --data ./penstock-data")));
  }

  async function find(event) {
    event.preventDefault();
    if (!time.value) return setText(found, "Choose a moment.");
    try {
      const answer = await get(`/v1/log/offsets${query({ at: new Date(time.value).toISOString() })}`);
      setText(found, answer.offset >= answer.next_offset ? "Nothing was published since then." : `Offset ${exact(answer.offset)}: ${plural(answer.next_offset - answer.offset, "message")} since then.`);
    } catch (error) {
      setText(found, error.message);
    }
  }

  return () => {
    stopSamples();
    stopTurns();
    growth.destroy();
    syncs.destroy();
  };
}

function describe(retention, state) {
  const { storage } = state;
  const rows = [
    ["Directory", storage.directory ? h("code", {}, storage.directory) : "none: in memory"],
    ["Sync", storage.sync ? { always: "always: a confirmation waits for the disk", interval: "interval: once a second", off: "off: when the system likes" }[storage.sync] || storage.sync : "–"],
    ["History", storage.durable ? `kept for ${storage.retain_seconds ? age(storage.retain_seconds) : "ever"}, up to ${size(storage.retain_bytes)}` : "gone when the process ends"],
    ["Owed", "What a queue still owes is never dropped."],
  ];
  retention.replaceChildren(...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
