// Dialogs, panels and toasts.

import { h } from "./dom.js";

/**
 * Show a dialog. fields: [{name, label, kind: "text" | "number" | "area" | "check" | "choice", value, hint, required, choices}].
 * `run(values)` is called on submit; if it throws, the dialog shows the error and stays open.
 * Resolves to the result of `run`, or null if the user cancelled.
 */
export function ask({ title, text = "", fields = [], confirm = "OK", danger = false, run, extra = null }) {
  return new Promise((resolve) => {
    const controls = new Map();
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const answer = h("div", { class: "answer", role: "status" });
    const go = h("button", { class: danger ? "danger" : "primary", type: "submit" }, confirm);
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
    const buttons = h("div", { class: "buttons" }, extra ? extraButton() : null, h("span", { class: "gap" }), cancel, go);
    const form = h("form", { novalidate: true }, h("h2", {}, title), text ? h("p", {}, text) : null, fields.map(field), answer, problem, buttons);
    const dialog = h("dialog", { "aria-label": title }, form);
    let result = null;

    function field({ name, label, kind = "text", value = "", hint = "", choices = [], placeholder = null }) {
      let control;
      if (kind === "area") control = h("textarea", { name, rows: 6, value, placeholder, spellcheck: "false" });
      else if (kind === "choice") control = h("select", { name }, choices.map(([word, shown]) => h("option", { value: word }, shown)));
      else if (kind === "check") control = h("input", { name, type: "checkbox", checked: value });
      else control = h("input", { name, type: kind, value, placeholder, autocomplete: "off", spellcheck: "false", ...(kind === "number" ? { min: 0, step: "any" } : {}) });
      if (kind === "choice") control.value = value;
      controls.set(name, control);
      return h("label", { class: kind === "check" ? "check" : "field" }, kind === "check" ? [control, label] : [h("span", {}, label), control], hint ? h("small", {}, hint) : null);
    }

    function values() {
      const given = {};
      for (const [name, control] of controls) given[name] = control.type === "checkbox" ? control.checked : control.value;
      return given;
    }

    function extraButton() {
      return h("button", { type: "button", onclick: () => attempt(async () => answer.replaceChildren(await extra.run(values()))) }, extra.label);
    }

    async function attempt(action) {
      problem.hidden = true;
      go.disabled = true;
      try {
        await action();
      } catch (error) {
        problem.textContent = error.hint ? `${error.message} ${error.hint}` : error.message;
        problem.hidden = false;
      } finally {
        go.disabled = false;
      }
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(async () => {
        result = (await run(values())) ?? true;
        dialog.close();
      });
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    if (danger) cancel.focus(); // an accidental Enter must do no harm
    else (controls.values().next().value || go).focus();
  });
}

/** A side panel; Escape closes it. */
export function panel(title, ...children) {
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)", onclick: () => dialog.close() }, "×");
  const dialog = h("dialog", { class: "side", "aria-label": title }, h("div", { class: "head" }, h("h2", {}, title), close), h("div", { class: "content" }, ...children));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function toast(text, kind = "") {
  const note = h("p", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), kind === "bad" ? 8000 : 4000);
}

/** Run an action and show a toast with its result. */
export async function act(action, done) {
  try {
    const value = await action();
    if (done) toast(typeof done === "function" ? done(value) : done);
    return value;
  } catch (error) {
    toast(error.hint ? `${error.message} ${error.hint}` : error.message, "bad");
    return null;
  }
}
