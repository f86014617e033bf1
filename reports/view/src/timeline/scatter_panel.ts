// Plots two metrics of the selected stretches, with Pearson's correlation.

import { el, select } from "../dom.js";
import { Scatter, type Axis } from "../scatter.js";
import { formatValue } from "../model/format.js";
import { correlation } from "../model/statistics.js";
import type { StretchSelection } from "../model/stretch_selection.js";
import { sampleOf } from "../model/stretch_sums.js";
import type { StretchMetric } from "../model/stretches.js";

const MOST = 4000;      // points

export class ScatterPanel {
  readonly element: HTMLElement;
  private readonly plot = new Scatter();
  private readonly tools = el("div", { class: "tools" });
  private readonly result = el("p", { class: "lead", role: "status" });
  private readonly brush = el("div", { class: "brush", hidden: true });
  private begin: { x: number; y: number } | null = null;
  private axes: [x: string, y: string] = ["duration", "waited"];
  private logarithmic = true;

  constructor(private readonly selection: StretchSelection,
              private readonly chosen: (term: string) => void) {
    const { canvas } = this.plot;
    canvas.setAttribute("role", "img");
    this.element = el("div", { class: "lists" }, this.tools, this.result,
                      el("div", { class: "plot" }, canvas, this.brush));
    canvas.addEventListener("pointerdown", (event) => {
      this.begin = { x: event.offsetX, y: event.offsetY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    new ResizeObserver(() => this.plot.draw()).observe(canvas);
  }

  update(): void {
    const { selection, logarithmic } = this;
    const { metrics, rows, stretches } = selection;
    const find = (name: string, otherwise: number) =>
      metrics.find((one) => one.name === name) ?? metrics[otherwise]!;
    const [x, y] = [find(this.axes[0], 0), find(this.axes[1], 1)];
    const sample = sampleOf(rows, stretches.length, MOST);
    const axis = ({ name, unit, whole, values }: StretchMetric): Axis =>
      ({ name, unit, whole, values: Float64Array.from(sample, (row) => values[row]!) });
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const accent = colour("--accent");
    this.plot.scene = {
      x: axis(x), y: axis(y), scale: logarithmic ? "logarithmic" : "linear",
      colourOf: () => accent, selected: -1,
      marked: new Set(), text: colour("--text"), line: colour("--line"), accent: colour("--more"),
    };
    this.plot.canvas.setAttribute("aria-label", `Stretches: ${y.name} against ${x.name}`);
    this.plot.draw();
    this.describe(x, y, sample.length);
    this.drawTools(x, y);
  }

  private describe(x: StretchMetric, y: StretchMetric, shown: number): void {
    const { rows } = this.selection;
    const among = (values: Float64Array, log: boolean) => {
      const all = rows ? Float64Array.from(rows, (row) => values[row]!) : values;
      return log ? all.map((value) => (value > 0 ? Math.log(value) : NaN)) : all;
    };
    const of = (log: boolean) => correlation(among(x.values, log), among(y.values, log));
    const [plain, logs] = [of(false), of(true)];
    const text = (r: number) => (Number.isNaN(r) ? "not defined" : r.toFixed(3));
    this.result.replaceChildren("Correlation: Pearson's r = ", el("b", {}, text(plain.r)),
      ` over ${formatValue(plain.pairs, "", true)} stretches; of the logarithms `,
      el("b", {}, text(logs.r)), ` over ${formatValue(logs.pairs, "", true)}. ` +
      `${formatValue(shown, "", true)} are drawn. Drag to select.`);
  }

  private drawTools(x: StretchMetric, y: StretchMetric): void {
    const list = this.selection.metrics.map(({ name }): [string, string] => [name, name]);
    this.tools.replaceChildren(
      select("across", list, x.name, (value) => this.choose([value, y.name])),
      select("up", list, y.name, (value) => this.choose([x.name, value])),
      select("axes", [["true", "logarithmic"], ["false", "linear"]], String(this.logarithmic),
             (value) => {
               this.logarithmic = value === "true";
               this.update();
             }));
  }
  private choose(axes: [string, string]): void {
    this.axes = axes;
    this.update();
  }

  private move(event: PointerEvent): void {
    if (!this.begin) return;
    const { x, y } = this.begin;
    this.brush.hidden = false;
    Object.assign(this.brush.style, {
      left: `${Math.min(x, event.offsetX)}px`, top: `${Math.min(y, event.offsetY)}px`,
      width: `${Math.abs(x - event.offsetX)}px`, height: `${Math.abs(y - event.offsetY)}px` });
  }
  /** Selects the values in the rectangle, also of stretches that are not drawn. */
  private up(event: PointerEvent): void {
    const { begin, plot: { scene } } = this;
    this.begin = null;
    this.brush.hidden = true;
    if (!begin || !scene || Math.abs(begin.x - event.offsetX) < 4) return;
    const x = this.valuesBetween(scene.x, begin.x, event.offsetX, true);
    const y = this.valuesBetween(scene.y, begin.y, event.offsetY, false);
    if (x && y) this.chosen(`${x} && ${y}`);
  }
  private valuesBetween({ name, unit, values }: Axis, a: number, b: number,
                        isX: boolean): string | null {
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < values.length; ++i) {
      const place = this.plot.place(i)?.[isX ? 0 : 1];
      if (place === undefined || place < Math.min(a, b) || place > Math.max(a, b)) continue;
      low = Math.min(low, values[i]!);
      high = Math.max(high, values[i]!);
    }
    const text = (value: number) => (unit === "ns" ? `${value}ns` : String(value));
    const quoted = /^[A-Za-z_][\w.:]*$/.test(name) ? name : `"${name}"`;
    return low <= high ? `${quoted} >= ${text(low)} && ${quoted} <= ${text(high)}` : null;
  }
}
