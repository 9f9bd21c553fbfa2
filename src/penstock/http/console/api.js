// The broker's HTTP API. A refused request throws a Problem with the broker's message.

export class Problem extends Error {
  constructor(status, body, retryAfter = 0) {
    const reasons = (body.errors || []).map((error) => `${error.field}: ${error.reason}`);
    super([body.detail || body.title || `HTTP ${status}`, ...reasons].join(" · "));
    this.status = status;
    this.hint = body.hint || "";
    this.retryAfter = retryAfter;
  }
}

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      // Other sites cannot send the second header: the broker requires it for changes that use the cookie.
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), "x-penstock-console": "1" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
  } catch {
    throw new Problem(0, { detail: "The broker is not responding." });
  }
  const text = await answer.text();
  let value = {};
  try {
    value = text ? JSON.parse(text) : {};
  } catch {
    value = { detail: text.slice(0, 200) };
  }
  if (answer.status === 401 && !["/v1/session", "/v1/me/password"].includes(path)) document.dispatchEvent(new CustomEvent("login-over"));
  if (!answer.ok) throw new Problem(answer.status, value, Number(answer.headers.get("retry-after")) || 0);
  return value;
}

export const get = (path) => ask("GET", path);
export const post = (path, body = {}) => ask("POST", path, body);
export const put = (path, body = {}) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}
