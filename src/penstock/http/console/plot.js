// A plot of the last five minutes, by Chart.js, in the page's colours. Its legend is text and shows the latest values.

import { h, setText } from "./dom.js";
import { clock } from "./format.js";
import { WINDOW_MS } from "./live.js";

const STEPS = [10_000, 15_000, 30_000, 60_000, 120_000];
const NARROWEST_MS = 60_000; // a broker that has just started has little to show
const plots = new Set();

function colour(name) {
  const probe = h("span", { class: `ink-${name}`, hidden: true });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function faint(value, alpha) {
  return value.replace(/^rgba?\(([^)]+)\)$/, (_, parts) => `rgba(${parts.split(",").slice(0, 3).join(",")}, ${alpha})`);
}

/**
 * title: what it is; series: [{label, ink, value: sample => number or null, fill, dashed}]; format: number => text;
 * mark: the same for the axis, where it has to be shorter; least: how far the axis goes at least.
 * `show(samples)` draws; samples have their time in ms as `x`.
 */
export function plot({ title, series, format, mark = format, least = 10, stacked = false, note = "" }) {
  const canvas = h("canvas", { role: "img", "aria-label": title });
  const values = series.map((one) => h("b", { "data-series": one.label }, "–"));
  const legend = h(
    "ul",
    { class: "legend" },
    series.map((one, index) => h("li", {}, h("i", { class: `swatch ink-${one.ink}${one.dashed ? " dashed" : ""}`, "aria-hidden": "true" }), `${one.label} `, values[index])),
  );
  const element = h("figure", { class: "card plot" }, h("figcaption", {}, h("h2", {}, title, note ? h("small", {}, note) : null), legend), h("div", { class: "canvas" }, canvas));
  let chart = null;

  const config = () => ({
    type: "line",
    data: {
      datasets: series.map((one) => {
        const ink = colour(one.ink);
        return {
          label: one.label,
          data: [],
          borderColor: ink,
          backgroundColor: faint(ink, stacked ? 0.35 : 0.12),
          fill: stacked ? "stack" : one.fill ? "origin" : false,
          borderWidth: 1.5,
          borderDash: one.dashed ? [4, 3] : [],
          pointRadius: 0,
          pointHitRadius: 8,
          cubicInterpolationMode: "monotone",
        };
      }),
    },
    options: {
      animation: false,
      parsing: false,
      normalized: true,
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      plugins: {
        legend: { display: false },
        tooltip: {
          callbacks: {
            title: (items) => (items.length ? clock(items[0].parsed.x) : ""),
            label: (item) => ` ${item.dataset.label}: ${format(item.parsed.y)}`,
          },
        },
      },
      scales: {
        x: {
          type: "linear",
          ticks: { color: colour("muted"), maxRotation: 0, autoSkip: false, padding: 7, callback: (value) => clock(value), font: { size: 10.5 } },
          grid: { color: colour("line"), drawTicks: false },
          border: { display: false },
          afterBuildTicks: (axis) => {
            const step = STEPS.find((one) => (axis.max - axis.min) / one <= axis.width / 90) || 120_000;
            axis.ticks = [];
            for (let at = Math.ceil(axis.min / step) * step; at <= axis.max; at += step) axis.ticks.push({ value: at });
          },
        },
        y: {
          beginAtZero: true,
          stacked,
          suggestedMax: least,
          ticks: { color: colour("muted"), maxTicksLimit: 5, callback: (value) => mark(value), font: { size: 10.5 } },
          grid: { color: colour("line"), drawTicks: false },
          border: { display: false },
          afterFit: (axis) => (axis.width = 62),
        },
      },
    },
  });

  const api = {
    element,
    samples: [],
    show(samples) {
      api.samples = samples;
      const last = samples.at(-1);
      if (!last) return;
      series.forEach((one, index) => {
        const value = one.value(last, samples.at(-2));
        setText(values[index], value === null || value === undefined ? "–" : format(value));
      });
      if (chart === null) {
        if (!window.Chart || !canvas.isConnected) return;
        chart = new window.Chart(canvas, config());
      }
      series.forEach((one, index) => {
        chart.data.datasets[index].data = samples.map((sample, place) => ({ x: sample.x, y: one.value(sample, samples[place - 1]) ?? null }));
      });
      chart.options.scales.x.min = Math.max(last.x - WINDOW_MS, Math.min(samples[0].x, last.x - NARROWEST_MS));
      chart.options.scales.x.max = last.x;
      chart.update("none");
    },
    repaint() {
      chart?.destroy();
      chart = null;
      api.show(api.samples);
    },
    destroy() {
      plots.delete(api);
      chart?.destroy();
      chart = null;
    },
  };
  plots.add(api);
  return api;
}

document.addEventListener("theme", () => {
  for (const one of plots) one.repaint();
});
