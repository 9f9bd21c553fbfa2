// A table that is refreshed repeatedly: a row keeps its element while its key exists, so focus, selection and
// scroll position stay while numbers change. The server sorts and pages.

import { h, setText } from "./dom.js";
import { exact } from "./format.js";

/**
 * columns: [{key, label, cell: row => text or Node, node: true if it gives a Node, made once, number, sort, wide}]
 *   `sort` is the server's word for it; `number` aligns right; `wide` is left out on a phone.
 * onsort(word): called with `name` or `-name`.
 */
export function table({ caption, columns, key, onsort = null, rowClass = null, onopen = null }) {
  const body = h("tbody");
  const heads = new Map();
  const header = h("tr", {}, columns.map((column) => head(column)));
  const element = h("div", { class: "scroll" }, h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, header), body));
  const rows = new Map(); // key -> {element, cells, row}

  function head(column) {
    const classes = [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim();
    if (!column.sort || !onsort) return h("th", { scope: "col", class: classes }, column.label);
    const button = h("button", { type: "button", onclick: () => onsort(next(column)) }, column.label);
    const cell = h("th", { scope: "col", class: classes }, button);
    heads.set(column.sort, cell);
    return cell;
  }

  let order = "";
  function next(column) {
    const word = column.sort;
    const first = column.number ? `-${word}` : word;
    const second = column.number ? word : `-${word}`;
    return order === first ? second : first;
  }

  function make(row) {
    const entry = { row, cells: [] };
    entry.element = h("tr", { "data-key": key(row) });
    for (const column of columns) {
      const classes = [column.number ? "number" : "", column.wide ? "wide" : "", column.class || ""].join(" ").trim();
      const cell = h("td", { class: classes, "data-label": column.label });
      if (column.node) cell.append(column.cell(row));
      entry.cells.push(cell);
      entry.element.append(cell);
    }
    if (onopen) {
      entry.element.classList.add("opens");
      entry.element.addEventListener("click", (event) => {
        if (!event.target.closest("a, button, input") && !String(getSelection())) onopen(entry.row);
      });
    }
    return entry;
  }

  return {
    element,
    sortedBy(word) {
      order = word;
      for (const [name, cell] of heads) {
        if (word === name) cell.setAttribute("aria-sort", "ascending");
        else if (word === `-${name}`) cell.setAttribute("aria-sort", "descending");
        else cell.removeAttribute("aria-sort");
      }
    },
    show(list) {
      const wanted = new Set();
      let place = body.firstElementChild;
      for (const row of list) {
        const name = key(row);
        wanted.add(name);
        let entry = rows.get(name);
        if (!entry) rows.set(name, (entry = make(row)));
        entry.row = row;
        columns.forEach((column, index) => {
          if (!column.node) setText(entry.cells[index], String(column.cell(row) ?? "–"));
          else if (column.changes) entry.cells[index].replaceChildren(column.cell(row));
        });
        if (rowClass) entry.element.className = `${onopen ? "opens " : ""}${rowClass(row)}`;
        if (entry.element === place) place = place.nextElementSibling;
        else body.insertBefore(entry.element, place);
      }
      for (const [name, entry] of rows) {
        if (!wanted.has(name)) {
          entry.element.remove();
          rows.delete(name);
        }
      }
    },
  };
}

/** Previous and next pages of a list that the server pages. */
export function pager(go) {
  const text = h("span", { class: "pages" });
  const before = h("button", { type: "button", onclick: () => go(-1) }, "‹ previous");
  const after = h("button", { type: "button", onclick: () => go(1) }, "next ›");
  const element = h("nav", { class: "pager", "aria-label": "Pages" }, before, text, after);
  return {
    element,
    show({ total, offset, limit }, shown) {
      setText(text, total ? `${exact(offset + 1)} – ${exact(offset + shown)} of ${exact(total)}` : "none");
      before.disabled = offset === 0;
      after.disabled = offset + limit >= total;
      element.hidden = total <= limit && offset === 0;
    },
  };
}
