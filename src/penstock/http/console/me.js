// Who looks at the page, and what they may do: what they may not is not offered. The broker refuses it in any case.

import { get } from "./api.js";

export const me = { authentication: false, user: null, admin: true, grants: ["admin"], roles: [], by: null, quotas: {}, use: null };
let grants = []; // {rights, scope, names}

/** False when somebody has to log in first. */
export async function recognise() {
  const session = await get("/v1/session");
  if (session.authentication && !session.user) return false;
  take(await get("/v1/me"));
  return true;
}

function take(found) {
  Object.assign(me, found);
  const roles = Object.fromEntries((me.roles || []).map((role) => [role.grant, role.rights]));
  grants = me.grants.map((text) => parse(text, roles[text]));
}

/** A grant, of a right or of a role, which is some. */
function parse(text, rights) {
  const space = text.indexOf(" ");
  if (space < 0) return { rights: [text], scope: "", names: /^/ };
  const [, scope = "", glob] = text.slice(space + 1).match(/^(?:(event|queue):)?(.*)$/s);
  return { rights: rights || [text.slice(0, space)], scope, names: patternOf(glob), all: /^\*+$/.test(glob) };
}

/** Names with *, ? and [...] in them, as for files. */
function patternOf(glob) {
  const parts = glob.match(/\[!?\]?[^\]]*\]|[^]/g) || [];
  const words = parts.map((part) => {
    if (part === "*") return "[^]*";
    if (part === "?") return "[^]";
    if (part.length > 1) return part.replace(/\\/g, "\\\\").replace(/^\[!/, "[^");
    return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  try {
    return new RegExp(`^${words.join("")}$`);
  } catch {
    return /^/; // offered, then; the broker decides
  }
}

/** Whether they have the right on anything at all. */
export function has(...rights) {
  return me.admin || grants.some((grant) => grant.rights.some((right) => rights.includes(right)));
}

export function may(right, scope, name) {
  return me.admin || grants.some((grant) => grant.rights.includes(right) && (!grant.scope || grant.scope === scope) && grant.names.test(name));
}

/** Whether they have the right on all names there can be. */
export function mayAll(right, scope) {
  return me.admin || grants.some((grant) => grant.rights.includes(right) && (!grant.scope || grant.scope === scope) && grant.all);
}
