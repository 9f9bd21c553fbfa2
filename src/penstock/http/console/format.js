// Short formats for numbers, sizes and times, of about the same width from one second to the next.

const whole = new Intl.NumberFormat("en-US");

export function count(number) {
  if (number === null || number === undefined) return "–";
  return Math.abs(number) < 100_000 ? whole.format(Math.round(number)) : scaled(number, 1000, ["", "k", "M", "G", "T"], "");
}

export function exact(number) {
  return number === null || number === undefined ? "–" : whole.format(number);
}

export function rate(number) {
  if (number === null || number === undefined) return "–";
  if (number > 0 && number < 10) return `${number.toFixed(1)}/s`;
  return `${number < 10_000 ? whole.format(Math.round(number)) : scaled(number, 1000, ["", "k", "M", "G"], "")}/s`;
}

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  return bytes === 0 ? "0" : scaled(bytes, 1000, ["B", "kB", "MB", "GB", "TB"], " ");
}

/** For axis ticks: 0, 500, 7.5k, 10M. */
export function short(number) {
  const units = ["", "k", "M", "G", "T"];
  let unit = 0;
  while (Math.abs(number) >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${Number(number.toPrecision(4))}${units[unit]}`;
}

export function shortRate(number) {
  return number === 0 ? "0" : `${short(number)}/s`;
}

function scaled(number, base, units, space) {
  let unit = 0;
  while (Math.abs(number) >= base && unit < units.length - 1) {
    number /= base;
    unit += 1;
  }
  const digits = unit === 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)}${space}${units[unit]}`;
}

/** A duration in seconds. */
export function age(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds === 0) return "0";
  if (seconds < 0.0005) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return both(seconds, 3600, "h", 60, "min");
  return both(seconds, 86_400, "d", 3600, "h");
}

function both(seconds, large, largeName, small, smallName) {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeName}${rest ? ` ${rest} ${smallName}` : ""}`;
}

export function clock(milliseconds) {
  const time = new Date(milliseconds);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** A timestamp of the API, in local time. */
export function moment(text) {
  if (!text) return "–";
  const time = new Date(text);
  return `${time.getFullYear()}-${String(time.getMonth() + 1).padStart(2, "0")}-${String(time.getDate()).padStart(2, "0")} ${clock(time)}`;
}

export function plural(number, one, many = `${one}s`) {
  return `${exact(number)} ${number === 1 ? one : many}`;
}
