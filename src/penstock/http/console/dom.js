// Elements, without a framework: h("a", {href: "#/", onclick: go}, "text", child).

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in PROPERTIES) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const PROPERTIES = { value: 1, checked: 1, disabled: 1, hidden: 1, indeterminate: 1 };

/** Set the text only if it changed, to avoid a layout every second. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A command line with a copy button. */
export function command(text) {
  const button = h("button", { type: "button", class: "copy", "aria-label": "Copy", title: "Copy" }, "copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      button.textContent = "copy failed"; // a page that is not on loopback or TLS may not write to the clipboard
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
  return h("div", { class: "command" }, h("pre", {}, h("code", {}, text)), button);
}

/** An empty state. */
export function empty(title, text, ...more) {
  return h("div", { class: "empty" }, h("h3", {}, title), text ? h("p", {}, text) : null, ...more);
}

export function card(title, ...children) {
  return h("section", { class: "card" }, title ? h("h2", {}, title) : null, ...children);
}

/** A row of figures. `show(texts, alerts)` sets their texts by key, and highlights those in `alerts`. */
export function tiles(labels) {
  const values = {};
  const list = h("dl", { class: "tiles" });
  for (const [key, label, hint] of labels) {
    values[key] = h("dd", { "data-value": key }, "–");
    list.append(h("div", { title: hint }, h("dt", {}, label), values[key]));
  }
  return {
    element: list,
    show(texts, alerts = {}) {
      for (const [key, text] of Object.entries(texts)) {
        setText(values[key], text);
        values[key].classList.toggle("alert", Boolean(alerts[key]));
      }
    },
  };
}

export function badge(text, kind = "") {
  return h("span", { class: `badge ${kind}` }, text);
}

/** Call `run` repeatedly while the page is visible, with `wait` ms between runs. Returns a function that stops it. */
export function repeat(run, wait) {
  let timer = null;
  let over = false;
  const turn = async () => {
    timer = null;
    if (!document.hidden) {
      try {
        await run();
      } catch {
        // the status in the bar shows it; the next run tries again
      }
    }
    if (!over) timer = setTimeout(turn, wait);
  };
  turn();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

/** Debounce: run the last of several calls, `wait` ms after it. */
export function settled(run, wait = 200) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}
