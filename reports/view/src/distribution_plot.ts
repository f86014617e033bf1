// Shows how long single calls of a method or of a context took: quantiles, and a histogram by
// powers of two of the time.

import { el } from "./dom.js";
import { octavesOf, type CallTimes, type Distribution } from "./model/distributions.js";
import { formatPercent, formatValue } from "./model/format.js";

export const DISTRIBUTION_MEANINGS: [title: string, meaning: string][] = [
  ["calls one by one", "Of the whole profile, whatever the filters. CPU time is the time in which "
    + "the thread ran, elapsed time includes waiting; both include what is called, and not the "
    + "profiler's share. <X: more than half of X, the time as measured, is that share"],
  ["bars", "How many calls took from the time at the left of the bar to twice that, on a "
    + "logarithmic scale"],
];

const WIDTH = 480;
const HEIGHT = 190;
const LEFT = 46;
const RIGHT = 10;
const TOP = 20;
const BOTTOM = 22;
const SERIES = [["cpu", "CPU time"], ["elapsed", "elapsed time"]] as const;
const QUANTILES = ["min", "p50", "p90", "p99", "max", "mean"] as const;
const TITLES = { min: "shortest", p50: "median", p90: "90 %", p99: "99 %", max: "longest", mean: "mean" };

function svg(tag: string, attributes: Record<string, string | number>,
             ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

const time = (ns: number) => formatValue(ns, "ns");
const count = (calls: number) => formatValue(calls, "", true);

/** Returns the table of quantiles and the histogram below it. */
export function distributionPlot(distribution: Distribution, title: string): HTMLElement {
  return el("div", { class: "distribution" },
    el("table", { class: "edges" },
      el("caption", {}, title, el("span", { class: "soft" },
        ` (${count(distribution.calls)} calls, of the whole profile)`)),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "first" }, ""),
        ...QUANTILES.map((name) => el("th", { scope: "col" }, TITLES[name])),
        el("th", { scope: "col", title: "The profiler's part of the measured time, which is "
          + "subtracted" }, "own %"))),
      el("tbody", {}, ...SERIES.map(([key, name]) => quantileRow(name, distribution[key])))),
    histogram(distribution, title));
}

function quantileRow(name: string, times: CallTimes): HTMLElement {
  return el("tr", {}, el("th", { scope: "row", class: "first" }, name),
    ...QUANTILES.map((one) =>
      el("td", {}, `${times.below.includes(one) ? "<" : ""}${time(times[one])}`)),
    el("td", {}, formatPercent(times.removed, 1)));
}

function histogram(distribution: Distribution, title: string): HTMLElement {
  const series = SERIES.map(([key, name]) => ({ key, name, octaves: octavesOf(distribution[key]) }));
  const all = series.flatMap(({ octaves }) => octaves);
  const first = Math.min(...all.map(({ octave }) => octave));
  const end = Math.max(...all.map(({ octave }) => octave)) + 1;
  const most = Math.max(...all.map(({ calls }) => calls));
  const step = (WIDTH - LEFT - RIGHT) / (end - first);
  const x = (octave: number) => LEFT + (octave - first) * step;
  // A single call has a height, too.
  const levels = Math.log10(most) + 1;
  const y = (calls: number) =>
    HEIGHT - BOTTOM - (calls < 1 ? 0 : (Math.log10(calls) + 1) / levels) * (HEIGHT - TOP - BOTTOM);
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "histogram",
    "aria-label": `${title}: histogram of ${count(distribution.calls)} calls, median `
      + `${time(distribution.cpu.p50)}, longest ${time(distribution.cpu.max)} of CPU time`,
  });
  for (let power = 1; power <= most; power *= 10) {
    picture.append(
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(power), y2: y(power), class: "grid" }),
      svg("text", { x: LEFT - 5, y: y(power) + 4, class: "end" }, count(power)));
  }
  const every = Math.max(1, Math.ceil(62 / step));  // octaves between two labels
  for (let octave = first; octave <= end; octave += every) {
    const at = x(octave);
    picture.append(
      svg("line", { x1: at, x2: at, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4, class: "axis" }));
    if (at > WIDTH - 30) break;  // no space for its label
    picture.append(svg("text", { x: at, y: HEIGHT - 6, class: "middle" }, time(2 ** octave)));
  }
  series.forEach(({ key, name, octaves }, i) => {
    const width = step * 0.42;
    for (const { octave, calls } of octaves) {
      if (calls === 0) continue;
      picture.append(svg("rect", {
        x: x(octave) + step * (0.07 + 0.44 * i), y: y(calls), width,
        height: HEIGHT - BOTTOM - y(calls), class: key,
      }, svg("title", {}, `${count(calls)} calls: ${time(2 ** octave)} to ${time(2 ** (octave + 1))} `
        + `of ${name}`)));
    }
    picture.append(svg("rect", { x: LEFT + 110 * i, y: 4, width: 9, height: 9, class: key }),
                   svg("text", { x: LEFT + 14 + 110 * i, y: 12, class: "start" }, name));
  });
  picture.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM,
                               y2: HEIGHT - BOTTOM, class: "axis" }));
  const host = el("div");
  host.append(picture);
  return host;
}
