// Shows the scatter plot: two quantities over all methods, and their correlation.

import { button, el, methodName, pair, select } from "../dom.js";
import { formatValue } from "../model/format.js";
import type { MethodTable } from "../model/methods.js";
import { isShown } from "../model/scale.js";
import { Scatter, type Axis } from "../scatter.js";
import { correlation } from "../model/statistics.js";
import type { Changed } from "../model/state.js";
import { DATA_KEYS, hasAny, type Context, type Legend, type View } from "../view.js";

interface Choice {
  name: string;
  unit: string;
  whole: boolean;
  values(): Float64Array;
}

export class PlotView implements View {
  private readonly plot = new Scatter();
  private readonly tools = el("div", { class: "tools" });
  private readonly result = el("p", { class: "lead", role: "status" });
  private readonly tip = el("div", { class: "details", role: "status" });
  private readonly brush = el("div", { class: "brush", hidden: true });
  private methods!: MethodTable;
  private begin: { x: number; y: number } | null = null;

  constructor(private readonly context: Context, host: HTMLElement) {
    const { canvas } = this.plot;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    host.append(this.tools, this.result, el("div", { class: "plot" }, canvas, this.brush),
                this.tip);
    canvas.addEventListener("pointerdown", (event) => {
      this.begin = { x: event.offsetX, y: event.offsetY };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.plot.draw()).observe(canvas);
  }

  focus(): void {
    this.plot.canvas.focus();
  }

  legend(): Legend {
    return {
      about: ["Each point is a method. Click selects it, dragging marks those in a rectangle, "
        + "which can then be filtered. Matches of a search are coloured.",
        "Pearson's r is near 1 or -1 where the two quantities depend on one another in a straight "
        + "line, and near 0 where they do not."],
      columns: [], colours: [],
    };
  }

  /** Returns what an axis can show. */
  private choices(): Choice[] {
    const { model } = this.context;
    const { methods, calls } = model;
    const choices: Choice[] = model.quantities.flatMap((one, q) => {
      const { label, unit, whole } = one;
      if (!one.metric) return [{ name: label, unit, whole, values: () => methods.self(q) }];
      return [{ name: `self ${label}`, unit, whole, values: () => methods.self(q) },
              { name: `cumulative ${label}`, unit, whole, values: () => methods.cum(q) }];
    });
    choices.push({ name: "contexts", unit: "", whole: true, values: () => methods.contexts() });
    if (calls >= 0) {
      choices.push({ name: "spread", unit: "", whole: false,
                     values: () => methods.spread(calls, model.quantity) });
    }
    for (const one of model.computed) {
      const measure = model.measures.find((other) => other.node === one.node)!;
      choices.push({ name: one.name, unit: one.unit, whole: false,
                     values: () => measure.cum(methods) });
    }
    return choices;
  }

  update(changed: Changed | null): void {
    const { model, store } = this.context;
    const { state } = store;
    const keys = [...DATA_KEYS, "x", "y", "logarithmic", "method", "search", "theme"];
    if (!hasAny(changed, keys)) return;
    this.methods = model.methods;
    const choices = this.choices();
    const find = (name: string, otherwise: number) =>
      choices.find((one) => one.name === name) ?? choices[Math.min(otherwise, choices.length - 1)]!;
    const [x, y] = [find(state.x, 0), find(state.y, 1)];
    this.drawTools(choices, x.name, y.name);
    const axis = (one: Choice): Axis => ({ ...one, values: one.values() });
    this.draw(axis(x), axis(y));
    this.showCorrelation(axis(x), axis(y), state.logarithmic);
    this.describe(state.method < 0 ? -1 : this.methods.entryOf(state.method));
  }

  private draw(x: Axis, y: Axis): void {
    const { model, store } = this.context;
    const { state } = store;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const [point, match, pale] = [colour("--accent"), colour("--match"), colour("--pale")];
    const { matches } = model;
    this.plot.scene = {
      x, y, scale: state.logarithmic ? "logarithmic" : "linear",
      colourOf: (i) => (!matches ? point : matches.methods[this.methods.ids[i]!] ? match : pale),
      selected: state.method < 0 ? -1 : this.methods.entryOf(state.method),
      marked: new Set(state.marked.map((one) => this.methods.entryOf(one)).filter((i) => i >= 0)),
      text: colour("--text"), line: colour("--line"), accent: colour("--more"),
    };
    this.plot.canvas.setAttribute("aria-label", `Methods: ${y.name} against ${x.name}`);
    this.plot.draw();
  }

  private showCorrelation(x: Axis, y: Axis, logarithmic: boolean): void {
    const text = (r: number) => (Number.isNaN(r) ? "not defined" : r.toFixed(3));
    const plain = correlation(x.values, y.values);
    const log = (axis: Axis) => axis.values.map((v) => (isShown(v, "logarithmic") ? Math.log(v) : NaN));
    const logs = correlation(log(x), log(y));
    this.result.replaceChildren("Each point is a method: click to select it, drag to mark several. "
      + "Correlation: Pearson's r = ", el("b", {}, text(plain.r)),
      ` over ${formatValue(plain.pairs, "", true)} methods; of the logarithms `,
      el("b", {}, text(logs.r)), ` over ${formatValue(logs.pairs, "", true)}` +
      (logarithmic ? " (those with both values above 0, as drawn)." : "."));
  }

  private drawTools(choices: Choice[], x: string, y: string): void {
    const { store } = this.context;
    const { state } = store;
    const list = choices.map((one): [string, string] => [one.name, one.name]);
    const marked = state.marked.length;
    this.tools.replaceChildren(
      select("across", list, x, (value) => store.set({ x: value })),
      select("up", list, y, (value) => store.set({ y: value })),
      select("axes", [["true", "logarithmic"], ["false", "linear"]], String(state.logarithmic),
             (value) => store.set({ logarithmic: value === "true" })));
    if (marked > 0) {
      this.tools.append(el("span", {}, `${marked} marked`),
        button("Only these", "Sets the filter: marked", () => store.set({ filter: "marked" })),
        button("Unmark", "Removes the marks", () => store.set({ marked: [],
          filter: state.filter === "marked" ? "" : state.filter })));
    }
  }

  private move(event: PointerEvent): void {
    if (!this.begin) {
      this.describe(this.plot.nearest(event.offsetX, event.offsetY));
      return;
    }
    const box = this.box(event);
    this.brush.hidden = false;
    Object.assign(this.brush.style, {
      left: `${box[0]}px`, top: `${box[1]}px`, width: `${box[2] - box[0]}px`,
      height: `${box[3] - box[1]}px`,
    });
  }
  private box(event: PointerEvent): [number, number, number, number] {
    const { x, y } = this.begin!;
    return [Math.min(x, event.offsetX), Math.min(y, event.offsetY), Math.max(x, event.offsetX),
            Math.max(y, event.offsetY)];
  }

  private up(event: PointerEvent): void {
    if (!this.begin) return;
    const box = this.box(event);
    this.begin = null;
    this.brush.hidden = true;
    const { store } = this.context;
    if (box[2] - box[0] > 4 || box[3] - box[1] > 4) {
      store.set({ marked: this.plot.inside(...box).map((i) => this.methods.ids[i]!) });
      return;
    }
    const found = this.plot.nearest(event.offsetX, event.offsetY);
    if (found >= 0) store.set({ method: this.methods.ids[found]!, row: -1 });
  }

  /** Moves to the next point across, by the keys left and right. */
  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const { scene } = this.plot;
    if (step === 0 || !scene) return;
    event.preventDefault();
    const shown = Array.from(scene.x.values.keys()).filter((i) => this.plot.place(i))
      .sort((a, b) => scene.x.values[a]! - scene.x.values[b]!);
    const at = shown.indexOf(scene.selected);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + step))];
    if (next !== undefined) this.context.store.set({ method: this.methods.ids[next]!, row: -1 });
  }

  private describe(i: number): void {
    const { scene } = this.plot;
    if (!scene || i < 0) {
      this.tip.replaceChildren();
      return;
    }
    const value = ({ name, unit, whole, values }: Axis) =>
      pair(name, formatValue(values[i]!, unit, whole));
    this.tip.replaceChildren(
      el("code", {}, methodName(this.context.model.names.parts(this.methods.ids[i]!))), " ",
      value(scene.x), value(scene.y));
  }
}
