// Who looks at the page, and what they may do: what they may not is not offered. The broker refuses it in any case.

import { get } from "./api.js";

export const me = { authentication: false, user: null, admin: true, grants: ["admin"], by: null, quotas: {}, use: null };
let grants = []; // {right, scope, names}

/** False when somebody has to log in first. */
export async function recognise() {
  const session = await get("/v1/session");
  if (session.authentication && !session.user) return false;
  take(await get("/v1/me"));
  return true;
}

function take(found) {
  Object.assign(me, found);
  grants = me.grants.map(parse);
}

function parse(text) {
  const space = text.indexOf(" ");
  if (space < 0) return { right: text, scope: "", names: /^/ };
  const [, scope = "", glob] = text.slice(space + 1).match(/^(?:(event|queue):)?(.*)$/s);
  return { right: text.slice(0, space), scope, names: patternOf(glob) };
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
  return me.admin || grants.some((grant) => rights.includes(grant.right));
}

export function may(right, scope, name) {
  return me.admin || grants.some((grant) => grant.right === right && (!grant.scope || grant.scope === scope) && grant.names.test(name));
}
