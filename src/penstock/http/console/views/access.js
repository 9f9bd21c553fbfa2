// Permissions and quotas: everyone sees their own, admins see all users and tokens.

import { get, post, put, query, remove } from "../api.js";
import { act, ask, panel, toast } from "../dialog.js";
import { badge, card, command, empty, h, repeat, setText } from "../dom.js";
import { exact, moment, plural, rate } from "../format.js";
import { me } from "../me.js";
import { pager, table } from "../table.js";

const LIMIT = 50;
const QUOTAS = [
  ["connections", "concurrent connections"],
  ["queues", "queues created"],
  ["messages", "messages per second"],
  ["bytes", "bytes per second"],
  ["unacked", "unacked messages"],
];

export function access(root) {
  if (!me.authentication) {
    root.append(
      h("div", { class: "title" }, h("h1", {}, "Access")),
      h("section", { class: "card" }, empty("Authentication is off", "Anyone who can reach this broker can do everything. To turn authentication on, create the first user on the broker's machine:", command("penstock user add ada --grant admin"))),
    );
    return () => {};
  }
  root.append(h("div", { class: "title" }, h("h1", {}, "Access")), own());
  if (!me.admin) return () => {};
  const users = usersCard();
  const tokens = tokensCard();
  root.append(users.element, tokens.element);
  return repeat(() => Promise.all([users.load(), tokens.load()]), 2000);

  function own() {
    const facts = [
      ["User", me.user],
      ["Authenticated by", { password: "password", token: `token ${me.which}`, certificate: `certificate ${me.which}`, oidc: `identity provider token, ${me.which}` }[me.by] || me.by],
      ["Permissions", grantList(me.grants, me.roles)],
      ["Quotas", Object.entries(me.quotas).map(([name, amount]) => `${name} ${exact(amount)}`).join(", ") || "none"],
    ];
    const change = me.by === "password" && h("p", { class: "more" }, h("button", { type: "button", onclick: changePassword }, "Change password"));
    return card("You", h("dl", { class: "facts" }, facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])), change);
  }

  async function changePassword() {
    const done = await ask({
      title: "Change password",
      text: "All sessions that use it end, including this one.",
      fields: [
        { name: "current", label: "Current password", kind: "password" },
        { name: "password", label: "New password", kind: "password", hint: "At least 8 characters." },
      ],
      confirm: "Change",
      run: (values) => put("/v1/me/password", values),
    });
    if (done) location.reload();
  }

  // -- users ----------------------------------------------------------------------------------------------------------

  function usersCard() {
    const asked = { offset: 0 };
    const before = new Map(); // name -> {at, published}
    const found = h("span", { class: "muted", role: "status" });
    const rows = table({
      caption: "Users",
      key: (row) => row.name,
      columns: [
        { label: "user", node: true, class: "name", cell: (row) => h("button", { type: "button", class: "link", onclick: () => open(row.name) }, row.name) },
        { label: "permissions", node: true, changes: true, class: "clip", cell: (row) => h("span", { class: "mono", title: row.grants.join("\n") }, row.grants.join(", ") || "–") },
        { label: "connections", number: true, cell: (row) => used(row.use.connections, row.quotas.connections) },
        { label: "publish rate", number: true, wide: true, cell: (row) => used(rate(row.rate), row.quotas.messages && rate(row.quotas.messages)) },
        { label: "throttled", number: true, wide: true, cell: (row) => exact(row.use.paused) },
        { label: "denied", number: true, wide: true, cell: (row) => exact(row.use.denied) },
        { label: "tokens", number: true, wide: true, cell: (row) => exact(row.tokens) },
        { label: "", node: true, changes: true, cell: ways },
      ],
    });
    const pages = pager((step) => {
      asked.offset = Math.max(0, asked.offset + step * LIMIT);
      load();
    });
    const add = h("button", { type: "button", class: "primary", onclick: create }, "New user");
    const element = h("section", { class: "card flush" }, h("div", { class: "filters" }, h("h2", {}, "Users"), found, h("span", { class: "gap" }), add), rows.element, pages.element);

    async function load() {
      const page = await get(`/v1/users${query({ ...asked, limit: LIMIT })}`);
      const now = performance.now();
      for (const row of page.users) {
        const last = before.get(row.name);
        row.rate = last ? Math.max(0, row.use.published - last.published) / ((now - last.at) / 1000) : null;
        before.set(row.name, { at: now, published: row.use.published });
      }
      rows.show(page.users);
      pages.show(page, page.users.length);
      setText(found, plural(page.total, "user"));
    }

    async function create() {
      const name = await ask({
        title: "New user",
        fields: [
          { name: "name", label: "Name", hint: "Letters, digits and . _ @ -" },
          { name: "grants", label: "Permissions", kind: "area", value: "browse *", hint: "One per line. Roles: reader orders.*, writer orders.*, operator *. Single permissions: publish orders.*, consume queue:jobs, declare *, delete *, browse *, operate *, read-log, admin" },
          { name: "password", label: "Password for the console", kind: "password", hint: "Optional. Without one, the user needs a token or a certificate." },
        ],
        confirm: "Create",
        async run(values) {
          await post("/v1/users", { name: values.name, grants: lines(values.grants), password: values.password || null });
          return values.name;
        },
      });
      if (name) {
        toast(`Created user ${name}.`);
        load();
      }
    }

    async function open(name) {
      const user = await act(() => get(`/v1/users/${encodeURIComponent(name)}`));
      if (user) userPanel(user, load);
    }

    return { element, load };
  }

  // -- tokens ---------------------------------------------------------------------------------------------------------

  function tokensCard() {
    const asked = { offset: 0 };
    const found = h("span", { class: "muted", role: "status" });
    const rows = table({
      caption: "Tokens",
      key: (row) => row.id,
      columns: [
        { label: "token", class: "mono", cell: (row) => row.id },
        { label: "user", class: "name", cell: (row) => row.user },
        { label: "note", class: "clip", wide: true, cell: (row) => row.note },
        { label: "created", wide: true, cell: (row) => moment(row.created_at) },
        { label: "expires", cell: (row) => (row.expires_at ? moment(row.expires_at) : "never") },
        { label: "", node: true, changes: true, cell: (row) => (row.expired ? badge("expired", "warn") : h("span")) },
        { label: "", node: true, class: "end", cell: (row) => h("button", { type: "button", class: "small danger quiet", "aria-label": `Revoke ${row.id}`, onclick: () => revoke(row) }, "revoke") },
      ],
    });
    const pages = pager((step) => {
      asked.offset = Math.max(0, asked.offset + step * LIMIT);
      load();
    });
    const nothing = h("div", { hidden: true }, empty("No tokens yet", "Programs authenticate with tokens."));
    const add = h("button", { type: "button", class: "primary", onclick: create }, "New token");
    const element = h("section", { class: "card flush" }, h("div", { class: "filters" }, h("h2", {}, "Tokens"), found, h("span", { class: "gap" }), add), rows.element, nothing, pages.element);

    async function load() {
      const page = await get(`/v1/tokens${query({ ...asked, limit: LIMIT })}`);
      rows.show(page.tokens);
      rows.element.hidden = page.tokens.length === 0;
      nothing.hidden = page.tokens.length > 0;
      pages.show(page, page.tokens.length);
      setText(found, plural(page.total, "token"));
    }

    async function create() {
      const made = await ask({
        title: "New token",
        fields: [
          { name: "user", label: "User" },
          { name: "days", label: "Expires after (days)", kind: "number", hint: "Optional. By default, it does not expire." },
          { name: "note", label: "Note", hint: "What the token is for." },
        ],
        confirm: "Create",
        run: (values) => post("/v1/tokens", { user: values.user, note: values.note, expires_seconds: values.days ? Math.max(1, Math.round(Number(values.days) * 86_400)) : null }),
      });
      if (made) {
        panel(`Token for ${made.user}`, h("p", {}, "This token is shown only once. Store it in a file that only the program can read."), command(made.token));
        load();
      }
    }

    async function revoke(row) {
      const done = await ask({ title: `Revoke ${row.id}?`, text: `Sessions of ${row.user} that use it end at once.`, confirm: "Revoke", danger: true, run: () => remove(row.href) });
      if (done) {
        toast(`Revoked token ${row.id}.`);
        load();
      }
    }

    return { element, load };
  }
}

/** A panel to edit one user. */
function userPanel(user, changed) {
  const path = user.href;
  const content = h("div", { class: "stack" });
  const dialog = panel(user.name, content);
  show(user);

  function show(found) {
    const quotas = QUOTAS.map(([name, label]) => [h("dt", {}, label), h("dd", {}, found.quotas[name] ? exact(found.quotas[name]) : "no limit")]);
    content.replaceChildren(
      h("h3", {}, "Permissions"),
      removable(found.grants, "No permissions.", (grant) => remove(`${path}/grants${query({ grant })}`)),
      button("Grant", () => ({ title: `Grant a permission to ${user.name}`, fields: [{ name: "grant", label: "Permission", hint: "A role (reader, writer, operator) or a permission, with names: writer orders.*, consume queue:jobs, browse *, read-log, admin" }], confirm: "Grant", run: (values) => post(`${path}/grants`, { grant: values.grant }) })),
      h("h3", {}, "Quotas"),
      h("dl", { class: "facts" }, quotas),
      button("Set quotas", () => ({ title: `Quotas for ${user.name}`, text: "0 means no limit.", fields: QUOTAS.map(([name, label]) => ({ name, label, kind: "number", value: found.quotas[name] || 0 })), confirm: "Set", run: (values) => put(`${path}/quotas`, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(Number(value) || 0)]))) })),
      h("h3", {}, "Certificates"),
      removable(found.certificates, "No certificates.", (certificate) => remove(`${path}/certificates${query({ certificate })}`)),
      button("Add certificate", () => ({ title: `Add a certificate for ${user.name}`, fields: [{ name: "certificate", label: "Certificate name", hint: "CN:worker-1, DNS:worker.example, sha256:…" }], confirm: "Add", run: (values) => post(`${path}/certificates`, { certificate: values.certificate }) })),
      h("h3", {}, "Password"),
      h("p", { class: "muted" }, found.password ? "Set. The user can log in to this console with it." : "Not set. The user cannot log in to this console with a password."),
      button("Set password", () => ({ title: `Password for ${user.name}`, fields: [{ name: "password", label: "Password", kind: "password", hint: "At least 8 characters." }], confirm: "Set", run: (values) => put(`${path}/password`, { password: values.password }) })),
      h("h3", {}, "Remove user"),
      h("div", {}, h("button", { type: "button", class: "danger quiet", onclick: destroy }, `Remove ${user.name}`)),
    );
  }

  function removable(list, none, take) {
    if (!list.length) return h("p", { class: "muted" }, none);
    const item = (text) => h("li", { class: "inline" }, h("code", {}, text), h("button", { type: "button", class: "small danger quiet", "aria-label": `Remove ${text}`, onclick: () => attempt(() => take(text)) }, "remove"));
    return h("ul", { class: "plain stack" }, list.map(item));
  }

  function button(label, question) {
    const go = async () => {
      const found = await ask(question());
      if (found) refresh(found);
    };
    return h("div", {}, h("button", { type: "button", onclick: go }, label));
  }

  async function attempt(action) {
    const found = await act(action);
    if (found) refresh(found);
  }

  function refresh(found) {
    show(found);
    changed();
  }

  async function destroy() {
    const done = await ask({ title: `Remove ${user.name}?`, text: "Its tokens are removed too, and its sessions end at once.", confirm: "Remove", danger: true, run: () => remove(path) });
    if (done) {
      toast(`Removed user ${user.name}.`);
      dialog.close();
      changed();
    }
  }
}

function ways(row) {
  const list = h("span", { class: "badges" });
  if (row.admin) list.append(badge("admin", "warn"));
  for (const role of new Set(row.roles.map((one) => one.role))) list.append(badge(role));
  if (row.password) list.append(badge("password"));
  if (row.certificates.length) list.append(badge("certificate"));
  return list;
}

/** Each grant; for a role, with its permissions. */
function grantList(grants, roles = []) {
  const meant = Object.fromEntries(roles.map((role) => [role.grant, ` (${role.rights.join(", ")})`]));
  return grants.length ? h("ul", { class: "plain" }, grants.map((grant) => h("li", {}, h("code", {}, grant), meant[grant] || ""))) : "none";
}

function used(amount, most) {
  const text = typeof amount === "number" ? exact(amount) : amount;
  return most ? `${text} of ${typeof most === "number" ? exact(most) : most}` : text;
}

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean);
}
