// Plots each figure of a program's runs over the number of the run, so that runs with directives
// can be compared with those without.

import { el, pair } from "../dom.js";
import { figuresOf, runKindOf, type Program, type RunFigure, type RunKind } from "../model/optimized.js";
import { Scatter, type Shape } from "../scatter.js";
import { amountText } from "./benefit_plot.js";
import { ownColour, shapeEntry } from "./marks.js";

const KINDS: Record<RunKind, { shape: Shape; colour: string; text: string }> = {
  measured: { shape: "disc", colour: "--soft", text: "measured" },
  without: { shape: "ring", colour: "--more", text: "without directives" },
  some: { shape: "disc", colour: "--match", text: "with some" },
  with: { shape: "disc", colour: "--accent", text: "with all that are tried" },
  validated: { shape: "disc", colour: "--good", text: "with what is validated" },
};
const ORDER = Object.keys(KINDS) as RunKind[];
const NOT_COMPARED = "not compared";

export class RunPlots {
  readonly element = el("div", { class: "runs" });
  private readonly legend = el("div", { class: "legend wraps" });
  private readonly line = el("p", { class: "soft", role: "status" });
  private plots: Scatter[] = [];

  show(program: Program): void {
    const figures = figuresOf(program);
    this.plots = figures.map((figure) => this.plotOf(figure));
    const runs = figures.flatMap((one) => one.runs);
    const kinds = new Set(runs.filter((run) => run.compared).map(runKindOf));
    this.legend.replaceChildren(
      ...ORDER.filter((kind) => kinds.has(kind)).map((kind) =>
        shapeEntry(KINDS[kind].shape, KINDS[kind].colour, KINDS[kind].text)),
      ...runs.every((run) => run.compared) ? [] : [shapeEntry("cross", "--soft", NOT_COMPARED)]);
    this.line.textContent = figures.length === 0 ? "No run has figures." : "";
    this.element.replaceChildren(el("h2", {}, "Runs"), this.legend,
      ...figures.flatMap(({ name }, i) =>
        [el("h3", {}, name), el("div", { class: "plot" }, this.plots[i]!.canvas)]), this.line);
    for (const plot of this.plots) plot.draw();
  }

  private plotOf(figure: RunFigure): Scatter {
    const { name, unit, runs, values } = figure;
    const plot = new Scatter();
    const of = (i: number) => (runs[i]!.compared ? KINDS[runKindOf(runs[i]!)]
      : { shape: "cross" as const, colour: "--soft" });
    plot.scene = {
      x: { name: "run", unit: "", whole: true, values: Float64Array.from(runs, (run) => run.number) },
      y: { name: "", unit, whole: unit === "", values },
      scale: "linear", selected: -1, marked: new Set(),
      colourOf: (i) => ownColour(of(i).colour), shapeOf: (i) => of(i).shape,
      text: ownColour("--text"), line: ownColour("--line"), accent: ownColour("--accent"),
    };
    plot.canvas.setAttribute("role", "img");
    plot.canvas.setAttribute("aria-label", `${name} of the runs`);
    plot.canvas.addEventListener("pointermove", ({ offsetX, offsetY }) =>
      this.describe(figure, plot.nearest(offsetX, offsetY)));
    new ResizeObserver(() => plot.draw()).observe(plot.canvas);
    return plot;
  }

  private describe({ name, unit, runs, values }: RunFigure, i: number): void {
    const run = runs[i];
    if (!run) return this.line.replaceChildren();
    const kind = run.compared ? KINDS[runKindOf(run)].text : NOT_COMPARED;
    this.line.replaceChildren(pair("run", `${run.number}, ${kind}`), pair(name, amountText(values[i]!, unit)),
      ...run.applied.length > 0 ? [`applied ${run.applied.join(", ")}`] : []);
  }
}
