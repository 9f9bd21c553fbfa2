// Spark pipelines, as reported by their listeners.

import { get } from "../api.js";
import { badge, command, empty, h, repeat, setText } from "../dom.js";
import { age, exact, moment, plural, rate } from "../format.js";
import { table } from "../table.js";

const KINDS = { running: "good", failed: "bad", done: "quiet", silent: "warn" };
const SILENT_AFTER_MS = 120_000;

export function pipelines(root) {
  const found = h("span", { class: "muted", role: "status" });
  const rows = table({
    caption: "Pipelines",
    key: (row) => row.name,
    columns: [
      { label: "pipeline", class: "name", cell: (row) => row.name },
      { label: "state", node: true, changes: true, cell: (row) => badge(stateOf(row), KINDS[stateOf(row)]) },
      { label: "batches", number: true, cell: (row) => exact(row.batches) },
      { label: "rows", number: true, wide: true, cell: (row) => exact(row.rows_total) },
      { label: "last batch", number: true, wide: true, cell: (row) => `${plural(row.rows, "row")} in ${age(row.seconds)}` },
      { label: "speed", number: true, cell: (row) => rate(row.rows_per_second) },
      { label: "lag", number: true, cell: (row) => (row.lag === null ? "–" : exact(row.lag)) },
      { label: "offset", number: true, wide: true, cell: (row) => exact(row.offset) },
      { label: "last report", number: true, wide: true, cell: (row) => moment(row.reported_at) },
    ],
  });
  const nothing = h("div", { hidden: true });
  root.append(h("div", { class: "title" }, h("h1", {}, "Pipelines"), found), h("section", { class: "card flush" }, rows.element, nothing));

  return repeat(async () => {
    const { pipelines: list } = await get("/v1/pipelines");
    rows.show(list);
    rows.element.hidden = list.length === 0;
    setText(found, list.length ? plural(list.length, "pipeline") : "");
    if (nothing.hidden === (list.length === 0)) {
      nothing.hidden = list.length > 0;
      nothing.replaceChildren(none());
    }
  }, 2000);
}

function none() {
  return empty(
    "No pipeline has reported yet",
    "A pipeline is a Spark job over the log. It reports its batches here while it runs. For example, archive the log as Parquet:",
    command(`penstock pipeline run archive --server ${location.origin} --to ./lake`),
  );
}

/** The reported state; `silent` if a running pipeline has not reported for a while. */
function stateOf(row) {
  return row.state === "running" && Date.now() - Date.parse(row.reported_at) > SILENT_AFTER_MS ? "silent" : row.state;
}
