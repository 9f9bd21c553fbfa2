// One queue: depth, age, consumers, messages and actions.

import { get, post, remove } from "../api.js";
import { act, ask, toast } from "../dialog.js";
import { badge, card, empty, h, repeat, setText, tiles } from "../dom.js";
import { age, count, exact, plural, rate, short, shortRate, size } from "../format.js";
import { live } from "../live.js";
import { has, may } from "../me.js";
import { browser, publish, redrive, transfer } from "../messages.js";
import { plot } from "../plot.js";
import { table } from "../table.js";

export function queue(root, route) {
  const word = route.path[1]; // percent-encoded, byte by byte, as the API has it
  const path = `/v1/queues/${word}`;
  let name = word;
  try {
    name = decodeURIComponent(word);
  } catch {
    // not valid UTF-8: the broker's answer has a printable name
  }
  if (!may("browse", "queue", name)) {
    root.append(empty(`Permission denied: ${name}`, "You need the browse permission for this queue.", h("p", {}, h("a", { href: "#/queues" }, "Queues that you can see"))));
    return null;
  }
  let paused = false;
  let messages = 0;

  const heading = h("h1", { class: "mono" }, name);
  const badges = h("span", { class: "badges" });
  const pause = h("button", { type: "button", onclick: togglePause }, "Pause");
  const takes = may("consume", "queue", name);
  const deletes = may("delete", "queue", name);
  const actions = h(
    "div",
    { class: "actions", role: "group", "aria-label": "Actions" },
    may("publish", "queue", name) && h("button", { type: "button", class: "primary", onclick: () => after(publish(path, name)) }, "Publish"),
    takes && has("publish") && h("button", { type: "button", onclick: () => after(transfer(path, name, "move")) }, "Move"),
    has("publish") && h("button", { type: "button", onclick: () => after(transfer(path, name, "copy")) }, "Copy"),
    takes && has("publish") && h("button", { type: "button", onclick: () => after(redrive(path, name)) }, "Redrive"),
    may("operate", "queue", name) && pause,
    deletes && h("button", { type: "button", class: "danger quiet", onclick: purge }, "Purge"),
    deletes && h("button", { type: "button", class: "danger quiet", onclick: destroy }, "Delete"),
  );
  const figures = tiles([
    ["ready", "ready"],
    ["unacked", "unacked"],
    ["delayed", "delayed"],
    ["oldest", "oldest"],
    ["in", "in"],
    ["out", "out"],
    ["size", "size"],
    ["consumers", "consumers"],
  ]);
  const depth = plot({
    title: "Depth",
    format: count,
    mark: short,
    stacked: true,
    series: [
      { label: "ready", ink: "in", value: (row) => row.ready },
      { label: "unacked", ink: "warn", value: (row) => row.unacked },
      { label: "delayed", ink: "quiet", value: (row) => row.delayed },
    ],
  });
  const flow = plot({
    title: "Flow",
    format: rate,
    mark: shortRate,
    series: [
      { label: "in", ink: "in", fill: true, value: (row, before) => slope(row, before, "queued") },
      { label: "out", ink: "out", value: (row, before) => slope(row, before, "delivered") },
      { label: "retried", ink: "bad", value: (row, before) => slope(row, before, "retried") },
    ],
  });
  const list = browser(path, name);
  const who = table({
    caption: "Consumers",
    key: (row) => `${row.connection} ${row.name}`,
    columns: [
      { label: "consumer", class: "mono clip", cell: (row) => row.name },
      { label: "protocol", node: true, cell: (row) => h("span", { class: `door proto-${row.protocol}` }, row.protocol) },
      { label: "connection", class: "mono", wide: true, cell: (row) => row.connection },
      { label: "unacked", number: true, cell: (row) => exact(row.unacked) },
      { label: "", node: true, changes: true, cell: consumerState },
    ],
  });
  const nobody = h("div", {}, empty("No consumers", "Messages wait here until a client consumes them."));
  const bindings = h("ul", { class: "plain" });
  const policy = h("dl", { class: "facts" });
  const here = h("div", {}, h("div", { class: "title" }, heading, badges, h("span", { class: "gap" }), actions), figures.element, h("div", { class: "plots" }, depth.element, flow.element), h("div", { class: "columns" }, card("Consumers", who.element, nobody), card("Bindings and policy", bindings, policy)), list.element);
  const gone = h("div", { hidden: true });
  root.append(h("p", { class: "crumbs" }, h("a", { href: "#/queues" }, "Queues"), " / "), here, gone);

  live.watch(word);
  const stopSamples = live.listen({
    sample(sample) {
      if (sample.queue) showRow(sample.queue);
    },
  });
  const stopTurns = repeat(load, 3000);
  list.refresh();

  function showRow(row) {
    const seen = live.queueSamples.get(word) || [];
    const [last, before] = [seen.at(-1), seen.at(-2)];
    figures.show(
      {
        ready: count(row.ready),
        unacked: count(row.unacked),
        delayed: count(row.delayed),
        oldest: age(row.oldest_age_seconds),
        in: rate(last && slope(last, before, "queued")),
        out: rate(last && slope(last, before, "delivered")),
        size: size(row.bytes),
        consumers: count(row.consumers),
      },
      { ready: row.full, consumers: row.ready > 0 && row.consumers === 0 },
    );
    depth.show(seen);
    flow.show(seen);
    showState(row);
  }

  function showState(row) {
    paused = row.paused;
    messages = row.ready + row.unacked + row.delayed;
    setText(pause, paused ? "Resume" : "Pause");
    const wanted = [row.paused && "paused", row.full && "full"].filter(Boolean).join(" ");
    if (badges.dataset.shows !== wanted) {
      badges.dataset.shows = wanted;
      badges.replaceChildren(...wanted.split(" ").filter(Boolean).map((text) => badge(text, text === "full" ? "bad" : "warn")));
    }
  }

  async function load() {
    let found;
    try {
      found = await get(path);
    } catch (error) {
      if (error.status === 404) missing();
      return;
    }
    gone.hidden = true;
    here.hidden = false;
    setText(heading, found.name);
    showState(found);
    const consumers = found.consumers_list || [];
    who.show(consumers);
    who.element.hidden = consumers.length === 0;
    nobody.hidden = consumers.length > 0;
    showBindings(found);
  }

  function showBindings(found) {
    const { events, patterns } = found.bindings;
    const text = JSON.stringify([events, patterns, found.policy, found.expires_after_seconds]);
    if (bindings.dataset.shows === text) return;
    bindings.dataset.shows = text;
    bindings.replaceChildren(
      ...events.map((event) => h("li", {}, "event ", h("code", {}, event))),
      ...patterns.map((pattern) => h("li", {}, "pattern ", h("code", {}, JSON.stringify(pattern)))),
      ...(events.length + patterns.length ? [] : [h("li", { class: "muted" }, "No bindings: it receives only messages sent to it by name.")]),
    );
    const settings = Object.entries(found.policy || {}).filter(([, value]) => value !== null && value !== "");
    if (found.expires_after_seconds !== null) settings.push(["deleted when unused for", age(found.expires_after_seconds)]);
    policy.replaceChildren(...settings.flatMap(([key, value]) => [h("dt", {}, key.replace(/_seconds$/, "").replaceAll("_", " ")), h("dd", {}, setting(key, value))]));
  }

  function missing() {
    here.hidden = true;
    if (!gone.hidden) return;
    gone.hidden = false;
    gone.replaceChildren(empty(`There is no queue ${name}`, "It was deleted, or has not been created yet.", h("p", {}, h("a", { href: "#/queues" }, "All queues"))));
  }

  /** Reload after an action. */
  async function after(question) {
    if ((await question) !== null) {
      load();
      list.refresh();
    }
  }

  async function togglePause() {
    const verb = paused ? "resume" : "pause";
    const found = await act(() => post(`${path}/${verb}`), verb === "pause" ? `Paused ${name}: no messages are delivered until it is resumed.` : `Resumed ${name}.`);
    if (found) showState(found);
  }

  function purge() {
    after(
      ask({
        title: `Purge ${name}?`,
        text: "All ready messages are deleted permanently. Messages held by consumers stay.",
        confirm: "Purge",
        danger: true,
        async run() {
          const { purged } = await post(`${path}/purge`);
          toast(`${plural(purged, "message")} purged.`);
        },
      }),
    );
  }

  async function destroy() {
    const done = await ask({
      title: `Delete ${name}?`,
      text: `The queue, its bindings, its consumers and ${plural(messages, "message")} are deleted permanently.`,
      confirm: "Delete",
      danger: true,
      run: () => remove(path),
    });
    if (done) {
      toast(`Deleted ${name}.`);
      location.hash = "#/queues";
    }
  }

  return () => {
    stopSamples();
    stopTurns();
    depth.destroy();
    flow.destroy();
  };
}

/** Growth of a counter per second, between two samples. */
function slope(row, before, key) {
  if (!before || row.x <= before.x || row.x - before.x > 5000) return null;
  return Math.max(0, row[key] - before[key]) / ((row.x - before.x) / 1000);
}

/** A policy setting, formatted by the unit in its name. */
function setting(key, value) {
  if (typeof value !== "number") return String(value);
  if (key.endsWith("_seconds")) return age(value);
  if (key.startsWith("bytes")) return size(value);
  return exact(value);
}

function consumerState(row) {
  const list = h("span", { class: "badges" });
  if (!row.manual) list.append(badge("auto-ack", "quiet"));
  if (row.exclusive) list.append(badge("exclusive"));
  if (!row.active) list.append(badge("standby", "warn"));
  if (row.suspended) list.append(badge("not reading", "warn"));
  return list;
}
