// Plots the predicted benefits of directives against the observed ones, with their intervals.

import { el } from "../dom.js";
import { formatValue } from "../model/format.js";
import { benefitOf, type Benefit, type Directive, type Interval } from "../model/optimized.js";
import { linearPart } from "../model/scale.js";
import { Scatter, type Axis, type Guide, type Shape } from "../scatter.js";
import { ownColour, shapeEntry } from "./marks.js";

type State = Directive["state"];

const STATES: Record<State, { shape: Shape; colour: string }> = {
  validated: { shape: "disc", colour: "--good" },
  applied: { shape: "ring", colour: "--accent" },
  withdrawn: { shape: "cross", colour: "--more" },
  proposed: { shape: "square", colour: "--soft" },
};
const AS_PREDICTED: Guide = { slope: 1, dashes: [] };
const HALF: Guide = { slope: 0.5, dashes: [5, 4] };

/** A directive that has been observed. */
interface Point {
  directive: number;
  benefit: Benefit;
  observed: Interval;
}

export const amountText = (value: number, unit: string) => formatValue(value, unit, unit === "");

/** Returns the ends of an interval, or nothing if they are the same. */
export function rangeText({ low, high }: Interval, unit: string): string {
  return low === high ? "" : `${amountText(low, unit)} to ${amountText(high, unit)}`;
}

function withRange(interval: Interval, unit: string): string {
  const range = rangeText(interval, unit);
  return `${amountText(interval.value, unit)}${range && ` (${range})`}`;
}

/** Returns which figure a directive lowers, by how much, and by how much it was to. */
export function benefitTexts({ figure, unit, predicted, observed, runs }: Benefit): [string, string][] {
  return [[`predicted, fewer ${figure}`, withRange(predicted, unit)],
          ["observed", observed ? `${withRange(observed, unit)} in ${runs} ${runs === 1 ? "run" : "runs"}` : "nothing yet"]];
}

export class BenefitPlot {
  readonly element: HTMLElement;
  readonly legend = el("div", { class: "legend wraps" });
  private readonly plot = new Scatter();
  private readonly tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  private directives: Directive[] = [];
  private points: Point[] = [];

  constructor(private readonly choose: (directive: number) => void) {
    const { canvas } = this.plot;
    canvas.setAttribute("role", "img");
    this.element = el("div", { class: "plot" }, canvas, this.tip);
    canvas.addEventListener("pointermove", (event) => this.showTip(event));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      const found = this.plot.nearest(offsetX, offsetY);
      if (found >= 0) this.choose(this.points[found]!.directive);
    });
    new ResizeObserver(() => this.plot.draw()).observe(canvas);
  }

  /** Returns up to where the scale of the directives of a figure would be linear if it were
   * symmetric, or 0 if a linear scale shows all of them. */
  static linearPart(directives: Directive[], figure: string): number {
    return linearPart(pointsOf(directives, figure)
      .flatMap(({ benefit, observed }) => [benefit.predicted.value, observed.value]));
  }

  show(directives: Directive[], figure: string, selected: number, linear: number): void {
    this.directives = directives;
    this.points = pointsOf(directives, figure);
    this.element.hidden = this.legend.hidden = this.points.length === 0;
    this.tip.hidden = true;
    const unit = this.points[0]?.benefit.unit ?? "";
    const of = (i: number) => STATES[directives[this.points[i]!.directive]!.state];
    this.plot.scene = {
      x: axisOf(`predicted benefit: fewer ${figure}`, unit, this.points.map((one) => one.benefit.predicted)),
      y: axisOf("observed benefit", unit, this.points.map((one) => one.observed)),
      scale: linear > 0 ? "symmetric" : "linear", linear, guides: [AS_PREDICTED, HALF],
      colourOf: (i) => ownColour(of(i).colour), shapeOf: (i) => of(i).shape,
      selected: this.points.findIndex((one) => one.directive === selected), marked: new Set(),
      text: ownColour("--text"), line: ownColour("--line"), accent: ownColour("--accent"),
    };
    this.plot.canvas.setAttribute("aria-label", `Directives: ${figure}, observed against predicted`);
    this.plot.draw();
    const shown = new Set(this.points.map((one) => directives[one.directive]!.state));
    this.legend.replaceChildren(
      ...(Object.keys(STATES) as State[]).filter((state) => shown.has(state)).map((state) =>
        shapeEntry(STATES[state].shape, STATES[state].colour, state)),
      shapeEntry("line", "--text", "as predicted"),
      shapeEntry("dashes", "--text", "half of it: withdrawn if the whole interval is below"));
  }

  private showTip({ offsetX, offsetY }: PointerEvent): void {
    const found = this.plot.nearest(offsetX, offsetY);
    this.tip.hidden = found < 0;
    if (found < 0) return;
    const { directive, benefit } = this.points[found]!;
    const { kind, key, text, state } = this.directives[directive]!;
    this.tip.replaceChildren(el("b", {}, text), el("div", {}, `${kind} ${key}`),
      ...[...benefitTexts(benefit), ["state", state]].map(([name, value]) =>
        el("div", {}, el("span", { class: "soft" }, `${name} `), value!)));
    const { canvas } = this.plot;
    const isRight = offsetX > canvas.clientWidth / 2;
    const isLow = offsetY > canvas.clientHeight / 2;
    Object.assign(this.tip.style, {
      left: isRight ? "" : `${offsetX + 14}px`, top: isLow ? "" : `${offsetY + 14}px`,
      right: isRight ? `${canvas.clientWidth - offsetX + 14}px` : "",
      bottom: isLow ? `${canvas.clientHeight - offsetY + 14}px` : "",
    });
  }
}

function pointsOf(directives: Directive[], figure: string): Point[] {
  return directives.flatMap((one, directive) => {
    const benefit = benefitOf(one);
    return benefit?.observed && benefit.figure === figure
      ? [{ directive, benefit, observed: benefit.observed }] : [];
  });
}

function axisOf(name: string, unit: string, intervals: Interval[]): Axis {
  const of = (value: (one: Interval) => number) => Float64Array.from(intervals, value);
  return { name, unit, whole: unit === "", values: of((one) => one.value),
           low: of((one) => one.low), high: of((one) => one.high) };
}
