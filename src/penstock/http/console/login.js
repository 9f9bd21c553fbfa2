// The login page: exchanges a password or a token for a cookie that scripts cannot read. The page stores nothing.

import { post } from "./api.js";
import { h } from "./dom.js";

export function login(root) {
  let byToken = false;
  const user = h("input", { name: "user", type: "text", autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: true });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
  const token = h("input", { name: "token", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "pst_…" });
  const people = h("div", { class: "fields" }, field("User", user), field("Password", password));
  const programs = h("div", { class: "fields", hidden: true }, field("Token", token, "Exchanged for a cookie; the page does not store it."));
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const go = h("button", { class: "primary", type: "submit" }, "Log in");
  const other = h("button", { class: "link", type: "button", onclick: change }, "Use a token");
  const form = h("form", { class: "card login", novalidate: true, "aria-label": "Log in" }, h("h1", {}, "Log in"), people, programs, problem, go, other);
  root.append(form);
  user.focus();

  function field(label, control, hint = "") {
    return h("label", { class: "field" }, h("span", {}, label), control, hint ? h("small", {}, hint) : null);
  }

  function change() {
    byToken = !byToken;
    people.hidden = byToken;
    programs.hidden = !byToken;
    problem.hidden = true;
    other.textContent = byToken ? "Use a password" : "Use a token";
    (byToken ? token : user).focus();
  }

  function say(text) {
    problem.textContent = text;
    problem.hidden = false;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const missing = (byToken ? [token] : [user, password]).find((control) => !control.value);
    if (missing) {
      missing.focus();
      return say(byToken ? "Enter a token." : "Enter a user and a password.");
    }
    problem.hidden = true;
    go.disabled = true;
    go.textContent = "Logging in…"; // the answer to a wrong one is delayed
    try {
      await post("/v1/session", byToken ? { token: token.value } : { user: user.value, password: password.value });
      location.reload();
    } catch (error) {
      for (const secret of [password, token]) secret.value = "";
      if (error.status === 429) return wait(error.retryAfter || 30);
      say(error.status === 401 ? (byToken ? "The token is unknown, revoked or expired." : "Wrong user or password.") : error.message);
      ready();
      (byToken ? token : password).focus();
    }
  });

  function ready() {
    go.disabled = false;
    go.textContent = "Log in";
  }

  /** Too many attempts: count down, then allow another. */
  function wait(seconds) {
    const until = Date.now() + seconds * 1000;
    const turn = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left <= 0) {
        problem.hidden = true;
        return ready();
      }
      say("Too many failed attempts. Wait before you try again.");
      go.textContent = `Wait ${left} s`;
      setTimeout(turn, 500);
    };
    turn();
  }
}
