// One stream of samples for the whole page, one per second, and the samples of the last five minutes.
// A hidden page closes the stream, and requests the missed samples when it is visible again.

import { get } from "./api.js";

const KEPT_MS = 300_000;
const QUEUES_KEPT = 20;

class Live {
  constructor() {
    this.samples = []; // oldest first: {x: time in ms, ...what the broker sends}
    this.queueSamples = new Map(); // by the queue's name as a path has it
    this.state = "waiting"; // then "live" or "lost"
    this.queue = "";
    this.listeners = new Set();
    this.source = null;
  }

  get last() {
    return this.samples.at(-1) || null;
  }

  start() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.open()));
    this.open();
  }

  stop() {
    this.source?.close();
    this.source = null;
  }

  /** Include the row of this queue in each sample; "" for none. */
  watch(queue) {
    if (queue === this.queue) return;
    this.queue = queue;
    if (this.source !== null) this.connect();
  }

  async open() {
    this.connect();
    try {
      const { samples } = await get("/v1/overview/history");
      const known = new Set(this.samples.map((sample) => sample.time));
      this.samples.push(...samples.filter((sample) => !known.has(sample.time)).map(stamped));
      this.samples.sort((one, other) => one.x - other.x);
      this.trim();
      if (this.last) this.tell();
    } catch {
      // the stream reports that the broker is down
    }
  }

  connect() {
    this.stop();
    const queue = this.queue;
    const source = new EventSource(queue ? `/v1/live?queue=${queue}` : "/v1/live");
    source.addEventListener("sample", (event) => this.take(JSON.parse(event.data), queue));
    source.addEventListener("over", () => document.dispatchEvent(new CustomEvent("login-over")));
    source.addEventListener("error", () => {
      this.setState("lost");
      // The browser reconnects after an interruption, but not after a refusal, such as for too many streams.
      if (source.readyState === EventSource.CLOSED && this.source === source) setTimeout(() => this.source === source && this.again(), 3000);
    });
    this.source = source;
  }

  /** After a refusal: reconnect, unless the login has expired. */
  async again() {
    const session = await get("/v1/session").catch(() => null);
    if (session?.authentication && !session.user) document.dispatchEvent(new CustomEvent("login-over"));
    else this.connect();
  }

  take(data, queue) {
    const sample = stamped(data);
    if (this.last && sample.x <= this.last.x) {
      if (sample.x < this.last.x) return;
      this.samples.pop(); // the same second again, on a new stream
    }
    this.samples.push(sample);
    if (queue && sample.queue) this.keepQueue(queue, sample);
    this.trim();
    this.setState("live");
    this.tell();
  }

  keepQueue(queue, sample) {
    const seen = this.queueSamples.get(queue) || [];
    this.queueSamples.delete(queue); // the one looked at last is the last to be forgotten
    this.queueSamples.set(queue, seen);
    const before = seen.at(-1);
    if (before && before.x === sample.x) seen.pop();
    seen.push({ x: sample.x, ...sample.queue });
    while (seen[0].x < sample.x - KEPT_MS) seen.shift();
    if (this.queueSamples.size > QUEUES_KEPT) this.queueSamples.delete(this.queueSamples.keys().next().value);
  }

  trim() {
    const first = this.last ? this.last.x - KEPT_MS : 0;
    while (this.samples.length && this.samples[0].x < first) this.samples.shift();
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener.state?.(state);
  }

  tell() {
    for (const listener of this.listeners) listener.sample?.(this.last);
  }

  /** Call `listener.sample(last)` every second, and at once if there is a sample. Returns a function that stops it. */
  listen(listener) {
    this.listeners.add(listener);
    listener.state?.(this.state);
    if (this.last) listener.sample?.(this.last);
    return () => this.listeners.delete(listener);
  }
}

function stamped(sample) {
  return { ...sample, x: sample.time * 1000 };
}

export const live = new Live();
export const WINDOW_MS = KEPT_MS;
