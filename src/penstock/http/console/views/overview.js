// Rates, backlog, disk latency and the fullest queues at a glance.

import { get } from "../api.js";
import { badge, card, command, empty, h, repeat, setText, tiles } from "../dom.js";
import { age, count, exact, rate, short, shortRate, size } from "../format.js";
import { live } from "../live.js";
import { plot } from "../plot.js";
import { table } from "../table.js";

const TOP = 8;

export function overview(root) {
  const figures = tiles([
    ["published", "published", "messages published per second"],
    ["delivered", "delivered", "messages delivered per second"],
    ["ready", "ready", "messages waiting for a consumer"],
    ["unacked", "unacked", "messages delivered, but not settled yet"],
    ["oldest", "oldest waiting", "age of the oldest unsettled message"],
    ["queues", "queues", ""],
    ["consumers", "consumers", ""],
    ["connections", "connections", ""],
  ]);
  const rates = plot({
    title: "Messages per second",
    format: rate,
    mark: shortRate,
    series: [
      { label: "published", ink: "in", fill: true, value: (sample) => sample.rates.published },
      { label: "delivered", ink: "out", value: (sample) => sample.rates.delivered },
      { label: "retried", ink: "bad", value: (sample) => sample.rates.retried },
    ],
  });
  const backlog = plot({
    title: "Backlog",
    format: count,
    mark: short,
    stacked: true,
    series: [
      { label: "ready", ink: "in", value: (sample) => sample.totals.ready },
      { label: "unacked", ink: "warn", value: (sample) => sample.totals.unacked },
      { label: "delayed", ink: "quiet", value: (sample) => sample.totals.delayed },
    ],
  });
  const latency = plot({
    title: "Latency",
    format: age,
    least: 0.001,
    series: [
      { label: "fsync", ink: "in", fill: true, value: (sample) => sample.process.sync_seconds },
      { label: "max fsync", ink: "in", dashed: true, value: (sample) => sample.process.sync_max_seconds },
      { label: "max loop lag", ink: "warn", value: (sample) => sample.process.loop_lag_max_seconds },
    ],
  });
  const work = plot({
    title: "Process",
    format: (value) => `${Math.round(value)} %`,
    series: [{ label: "CPU (of one core)", ink: "out", fill: true, value: busy }],
  });
  const plots = [rates, backlog, latency, work];

  const top = table({
    caption: "Queues with the most ready messages",
    key: (row) => row.href,
    columns: [
      { key: "name", label: "queue", node: true, class: "name", cell: (row) => h("a", { href: queueLink(row) }, row.name) },
      { key: "ready", label: "ready", number: true, cell: (row) => exact(row.ready) },
      { key: "unacked", label: "unacked", number: true, cell: (row) => exact(row.unacked) },
      { key: "oldest", label: "oldest", number: true, cell: (row) => age(row.oldest_age_seconds) },
      { key: "consumers", label: "consumers", number: true, wide: true, cell: (row) => exact(row.consumers) },
    ],
    onopen: (row) => (location.hash = queueLink(row)),
  });
  const fullest = card("Fullest queues", top.element, h("p", { class: "more" }, h("a", { href: "#/queues" }, "All queues")));
  const facts = h("dl", { class: "facts" });
  const memory = h("dl", { class: "facts" });
  const welcome = h("div", { class: "welcome", hidden: true });
  const warning = h("p", { class: "banner", role: "alert", hidden: true });

  root.append(
    h("h1", { class: "hidden" }, "Overview"),
    warning,
    figures.element,
    welcome,
    h("div", { class: "plots" }, plots.map((one) => one.element)),
    h("div", { class: "columns" }, fullest, h("div", {}, card("Broker", facts), card("Memory", memory))),
  );

  const stopSamples = live.listen({
    sample(sample) {
      const { totals, rates: now } = sample;
      figures.show(
        {
          published: rate(now.published),
          delivered: rate(now.delivered),
          ready: count(totals.ready),
          unacked: count(totals.unacked),
          oldest: age(totals.oldest_age_seconds),
          queues: count(totals.queues),
          consumers: count(totals.consumers),
          connections: count(totals.connections),
        },
        { ready: totals.full_queues > 0 },
      );
      for (const one of plots) one.show(live.samples);
      showMemory(memory, sample.memory);
    },
  });
  const stopTurns = repeat(async () => {
    const [state, { queues }] = await Promise.all([get("/v1/overview"), get(`/v1/queues?sort=-ready&limit=${TOP}`)]);
    warning.hidden = state.status === "ok";
    setText(warning, state.reasons.join(" · "));
    top.show(queues);
    if (!facts.childElementCount || facts.dataset.since !== state.started_at) describe(facts, state);
    setText(facts.querySelector("[data-fact=up]"), age(state.uptime_seconds));
    setText(facts.querySelector("[data-fact=memory]"), size(state.process.memory_bytes));
    setText(facts.querySelector("[data-fact=totals]"), totalsOf(state.counters));
    if (welcome.hidden === (state.counters.published === 0)) greet(welcome, state);
    fullest.hidden = queues.length === 0;
  }, 2000);

  return () => {
    stopSamples();
    stopTurns();
    for (const one of plots) one.destroy();
  };
}

/** Percent of one core between two samples. */
function busy(sample, before) {
  if (!before || sample.x - before.x > 5000) return null;
  const used = sample.process.cpu_seconds - before.process.cpu_seconds;
  return used < 0 ? null : (used * 100_000) / (sample.x - before.x);
}

const KINDS = {
  ready: "in queues",
  held: "unacked",
  leased: "leased",
  staged: "staged",
  in: "incomplete requests",
  out: "unsent to clients",
  queues: "queue state",
  bindings: "bindings",
  ids: "deduplication ids",
  log: "not yet on disk",
};

/** Memory by kind; each row keeps its element. */
function showMemory(facts, { limit, used, kinds }) {
  if (!facts.childElementCount) {
    const rows = [["used", "Used"], ...Object.entries(KINDS)];
    facts.replaceChildren(...rows.flatMap(([kind, name]) => [h("dt", {}, name), h("dd", { "data-memory": kind })]));
  }
  setText(facts.querySelector("[data-memory=used]"), `${size(used)} of ${size(limit)}, ${Math.round((used * 100) / limit)} %`);
  for (const kind of Object.keys(KINDS)) setText(facts.querySelector(`[data-memory=${kind}]`), size(kinds[kind] || 0));
}

export function queueLink(row) {
  return `#/queues/${row.href.split("/").at(-1)}`;
}

function totalsOf(counters) {
  const told = [["published", "published"], ["delivered", "delivered"], ["retried", "retried"], ["dead_lettered", "dead letters"], ["refused", "refused"], ["dropped", "dropped"]];
  return told.filter(([key], index) => index < 2 || counters[key]).map(([key, word]) => `${exact(counters[key])} ${word}`).join(", ");
}

function describe(facts, state) {
  facts.dataset.since = state.started_at;
  const ports = Object.entries(state.ports).map(([name, port]) => h("span", { class: `door proto-${name}` }, `${name} ${port}`));
  const { storage } = state;
  const kept = storage.durable ? [h("code", {}, storage.directory), ` · sync ${storage.sync}`] : ["in memory: lost when the broker stops ", badge("volatile", "warn")];
  const rows = [
    ["Version", [state.version, " ", badge(state.compiled ? "compiled" : "interpreted", state.compiled ? "" : "warn")]],
    ["Uptime", h("span", { "data-fact": "up" })],
    ["Since start", h("span", { "data-fact": "totals" })],
    ["Memory", h("span", { "data-fact": "memory" })],
    ["Storage", kept],
    ["Ports", h("span", { class: "doors" }, ports)],
    ["Links", [h("a", { href: "/metrics" }, "metrics"), " · ", h("a", { href: "/openapi.json" }, "OpenAPI")]],
  ];
  facts.replaceChildren(...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, ...[value].flat())]));
}

function greet(welcome, state) {
  welcome.hidden = state.counters.published > 0;
  if (welcome.hidden) return;
  const host = location.hostname.replace(/^\[|\]$/g, "");
  const { mqks, smqs } = state.ports;
  const lines = [];
  if (mqks) lines.push(["Consume a queue over MQKS, in one terminal", `(echo 'c1 consume jobs job.new'; cat) | nc ${host} ${mqks}`]);
  if (mqks) lines.push(["Publish an event over MQKS, in another one", `echo 'm1 publish job.new hello' | nc -q1 ${host} ${mqks}`]);
  if (smqs) lines.push(["Put a message into the same queue over SMQS", `echo 'M:jobs:hello from SMQS' | nc -q1 ${host} ${smqs}`]);
  lines.push(["Or over HTTP", `curl ${location.origin}/v1/publish -H 'content-type: application/json' -d '{"queue": "jobs", "body": "hello"}'`]);
  welcome.replaceChildren(
    empty("Nothing has been published yet", "Run these commands and watch this page.", h("ol", { class: "steps" }, lines.map(([what, line]) => h("li", {}, h("span", {}, what), command(line))))),
  );
}
