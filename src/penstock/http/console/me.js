// The current user and their permissions. The page hides what they may not do; the broker refuses it in any case.

import { get } from "./api.js";

export const me = { authentication: false, user: null, admin: true, grants: ["admin"], roles: [], by: null, quotas: {}, use: null };
let grants = []; // {rights, scope, names}

/** False if a login is needed. */
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

/** A grant of one permission, or of a role, which has several. */
function parse(text, rights) {
  const space = text.indexOf(" ");
  if (space < 0) return { rights: [text], scope: "", names: /^/ };
  const [, scope = "", glob] = text.slice(space + 1).match(/^(?:(event|queue):)?(.*)$/s);
  return { rights: rights || [text.slice(0, space)], scope, names: patternOf(glob), all: /^\*+$/.test(glob) };
}

/** A regular expression for a glob with *, ? and [...]. */
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
    return /^/; // not a valid pattern: show it, and let the broker decide
  }
}

/** Whether the user has one of these permissions, on any name. */
export function has(...rights) {
  return me.admin || grants.some((grant) => grant.rights.some((right) => rights.includes(right)));
}

export function may(right, scope, name) {
  return me.admin || grants.some((grant) => grant.rights.includes(right) && (!grant.scope || grant.scope === scope) && grant.names.test(name));
}

/** Whether the user has the permission on all names. */
export function mayAll(right, scope) {
  return me.admin || grants.some((grant) => grant.rights.includes(right) && (!grant.scope || grant.scope === scope) && grant.all);
}
