// The log: offsets, durability, segments and retention.

import { get, query } from "../api.js";
import { card, command, empty, h, repeat, setText, tiles } from "../dom.js";
import { age, count, exact, moment, plural, size } from "../format.js";
import { live } from "../live.js";
import { plot } from "../plot.js";
import { table } from "../table.js";

export function log(root) {
  const figures = tiles([
    ["first", "first offset", "offset of the oldest message in the log"],
    ["next", "next offset", "offset that the next message gets"],
    ["durable", "durable up to", "all messages before it are on disk"],
    ["behind", "not yet on disk", "accepted, but not yet written to disk"],
    ["kept", "messages"],
    ["size", "on disk"],
  ]);
  const growth = plot({
    title: "Disk lag",
    note: "accepted, but not yet on disk",
    format: size,
    least: 1000,
    series: [{ label: "lag", ink: "warn", fill: true, value: (sample) => sample.log.behind_bytes }],
  });
  const syncs = plot({
    title: "Fsync",
    format: age,
    least: 0.001,
    series: [
      { label: "mean", ink: "in", fill: true, value: (sample) => sample.process.sync_seconds },
      { label: "max", ink: "in", dashed: true, value: (sample) => sample.process.sync_max_seconds },
    ],
  });
  let largest = 1;
  const files = table({
    caption: "Segments",
    key: (row) => row.name,
    columns: [
      { label: "segment", class: "mono", cell: (row) => row.name },
      { label: "first offset", number: true, cell: (row) => exact(row.first_offset) },
      { label: "started", wide: true, cell: (row) => moment(row.begun_at) },
      { label: "size", number: true, cell: (row) => size(row.bytes) },
      { label: "", node: true, changes: true, wide: true, class: "gauge", cell: (row) => h("progress", { max: largest, value: row.bytes, "aria-hidden": "true" }) },
    ],
  });
  const none = h("div", { hidden: true });
  const found = h("output", { role: "status" });
  const time = h("input", { type: "datetime-local", step: 1, "aria-label": "Time" });
  const finder = h("form", { class: "inline", onsubmit: find }, time, h("button", { type: "submit" }, "Find offset"), found);
  const retention = h("dl", { class: "facts" });
  root.append(
    h("div", { class: "title" }, h("h1", {}, "Log")),
    figures.element,
    h("div", { class: "plots" }, growth.element, syncs.element),
    h("section", { class: "card flush" }, h("h2", {}, "Segments"), files.element, none),
    h(
      "div",
      { class: "columns" },
      card("Find messages by time", finder, h("p", { class: "muted" }, "Read the log as an Arrow table in Python:"), command(`import pyarrow as pa, urllib.request\ntable = pa.ipc.open_stream(urllib.request.urlopen("${location.origin}/v1/log?from=0")).read_all()`)),
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
    if (!none.hidden) none.replaceChildren(empty("Nothing written yet", "The first message creates the first segment."));
  }

  function volatile() {
    figures.show({ size: "none" });
    files.element.hidden = true;
    if (!none.hidden) return;
    none.hidden = false;
    none.replaceChildren(empty("This broker keeps its log in memory", "It is lost when the broker stops. To store it on disk, and to confirm messages only once they are stored:", command("penstock serve --data ./penstock-data")));
  }

  async function find(event) {
    event.preventDefault();
    if (!time.value) return setText(found, "Choose a time.");
    try {
      const answer = await get(`/v1/log/offsets${query({ at: new Date(time.value).toISOString() })}`);
      setText(found, answer.offset >= answer.next_offset ? "No messages since then." : `Offset ${exact(answer.offset)}: ${plural(answer.next_offset - answer.offset, "message")} since then.`);
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
    ["Directory", storage.directory ? h("code", {}, storage.directory) : "none (in memory)"],
    ["Sync", storage.sync ? { always: "always (before a confirmation)", interval: "interval (once per second)", off: "off (left to the operating system)" }[storage.sync] || storage.sync : "–"],
    ["History", storage.durable ? `kept ${storage.retain_seconds ? `for ${age(storage.retain_seconds)}` : "forever"}, up to ${size(storage.retain_bytes)}` : "lost when the broker stops"],
    ["Queued", "Messages that a queue still holds are never deleted."],
  ];
  retention.replaceChildren(...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
