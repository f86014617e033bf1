// Shows the methods over time as a heat map, and the sums of the columns that are selected.

import type { ValueColumn } from "../columns.js";
import { button, el, pair, select } from "../dom.js";
import { ItemTable, number, words } from "../item_table.js";
import { formatPercent, formatValue } from "../model/format.js";
import {
  columnAt, parseSpan, ratesOf, spanText, sumsOf, timesOf, type Intervals, type Span, type SpanSum,
} from "../model/series.js";
import type { Changed } from "../model/state.js";
import { ownColour } from "../optimize/marks.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

const ROWS = 24;      // methods in the picture
const HEIGHT = 17;    // of one
const AXIS = 22;
const LEFT = 260;     // of the names
const MARGIN = 8;

export class HeatView implements View {
  private readonly intervals: Intervals;
  private readonly tools = el("div", { class: "tools" });
  private readonly canvas = el("canvas", { class: "heat", tabindex: "0", role: "img",
                                           style: `height: ${ROWS * HEIGHT + AXIS}px` });
  private readonly tip = el("p", { class: "lead soft", role: "status" });
  private readonly about = el("p", { class: "lead span", role: "status" });
  private readonly table = new ItemTable<SpanSum>("Methods in the selected time",
    { select: (i) => this.choose(this.shown[i]!.method) }, (rows) => this.columnsOf(rows),
    { key: "own", down: true });
  private shown: SpanSum[] = [];
  private begin = -1;   // the column at which dragging began

  constructor(private readonly context: Context, host: HTMLElement) {
    this.intervals = context.model.intervals!;
    const { canvas } = this;
    canvas.addEventListener("pointerdown", ({ offsetX, offsetY, pointerId }) => {
      this.begin = this.columnOf(offsetX);
      canvas.setPointerCapture(pointerId);
      const row = Math.floor(offsetY / HEIGHT);
      if (offsetX < LEFT && row < this.rows) this.choose(this.intervals.methods[row]!);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", ({ offsetX }) => {
      if (this.begin >= 0 && offsetX >= LEFT) this.setSpan(this.begin, this.columnOf(offsetX));
      this.begin = -1;
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
    host.append(this.tools, el("div", { class: "heat" }, canvas), this.tip, this.about,
                el("div", { class: "split lower" }, this.table.table.element));
  }

  focus(): void {
    this.canvas.focus();
  }

  legend(): Legend {
    return {
      about: ["Each row of the picture is a method, each column a part of the time, as the snapshots of "
        + "--series allow. A cell is the darker, or in the dark the lighter, the more the method used "
        + "per second; the scale is that of a square root, so that small amounts are visible.",
        "Drag over columns to select them: the table has the sums of that time. The same window of all "
        + "reports: --window. Keys: arrows move the selection, with Shift they extend it, Escape or 0 "
        + "selects everything."],
      columns: this.table.table.meanings, colours: [],
    };
  }

  back(): boolean {
    if (this.context.store.state.span === "") return false;
    this.context.store.set({ span: "" });
    return true;
  }

  update(changed: Changed | null): void {
    if (hasAny(changed, ["names", "theme", "span", "method", "heat"])) {
      const { store } = this.context;
      this.tools.replaceChildren(
        ...this.intervals.own ? [select("heat", [["own", `own ${this.intervals.metric}`], ["calls", "calls"]],
          store.state.heat, (heat) => store.set({ heat: heat === "calls" ? "calls" : "own" }))] : [],
        button("All", "Select the whole recording (0)", () => store.set({ span: "" })));
      this.describe();
      this.draw();
    }
  }

  private get rows(): number {
    return Math.min(ROWS, this.intervals.methods.length);
  }
  private get byCalls(): boolean {
    return this.intervals.own === null || this.context.store.state.heat === "calls";
  }
  private get span(): Span {
    return parseSpan(this.context.store.state.span, this.intervals.ends.length);
  }
  private get length(): number {
    return this.intervals.ends.at(-1)! - this.intervals.begin;
  }

  private choose(method: number): void {
    this.context.store.set({ method, row: -1 });
  }
  private setSpan(one: number, other: number): void {
    const span = { first: Math.min(one, other), last: Math.max(one, other) };
    const isAll = span.first === 0 && span.last === this.intervals.ends.length - 1;
    this.context.store.set({ span: isAll ? "" : spanText(span) });
  }

  private timeAt(x: number): number {
    const width = this.canvas.clientWidth - LEFT - MARGIN;
    return this.intervals.begin + (x - LEFT) / width * this.length;
  }
  private xOf(time: number): number {
    const width = this.canvas.clientWidth - LEFT - MARGIN;
    return LEFT + (time - this.intervals.begin) / this.length * width;
  }
  private columnOf(x: number): number {
    return columnAt(this.intervals, this.timeAt(x));
  }

  private move({ offsetX, offsetY }: PointerEvent): void {
    const row = Math.floor(offsetY / HEIGHT);
    if (row >= this.rows || offsetX < LEFT) return this.tip.replaceChildren();
    const { ends, methods, own, calls, unit } = this.intervals;
    const column = this.columnOf(offsetX);
    const [begin, end] = timesOf(this.intervals, { first: column, last: column });
    const cell = row * ends.length + column;
    this.tip.replaceChildren(el("b", {}, this.context.model.names.shown(methods[row]!)), " ",
      pair("from", `${begin.toFixed(2)} s to ${end.toFixed(2)} s`), " ",
      ...own ? [pair(this.intervals.metric, formatValue(own[cell]!, unit)), " "] : [],
      pair("calls", formatValue(calls[cell]!, "", true)));
  }

  private key(event: KeyboardEvent): void {
    const last = this.intervals.ends.length - 1;
    const { span } = this;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "0") this.context.store.set({ span: "" });
    if (event.key !== "0" && step === undefined) return;
    event.preventDefault();
    if (step === undefined) return;
    if (event.shiftKey) return this.setSpan(span.first, Math.min(last, Math.max(span.first, span.last + step)));
    if (this.context.store.state.span === "") return this.setSpan(step > 0 ? 0 : last, step > 0 ? 0 : last);
    if (span.first + step >= 0 && span.last + step <= last) this.setSpan(span.first + step, span.last + step);
  }

  private describe(): void {
    const { model } = this.context;
    const { span } = this;
    const [begin, end] = timesOf(this.intervals, span);
    this.shown = sumsOf(this.intervals, span).filter(({ own, calls }) => own !== 0 || calls !== 0);
    const isAll = this.context.store.state.span === "";
    this.about.replaceChildren(isAll ? "All: " : "Selected: ",
      `${begin.toFixed(2)} s to ${end.toFixed(2)} s; `,
      el("code", {}, `--window ${begin.toFixed(2)}s..${end.toFixed(2)}s`));
    this.table.show(this.shown);
    this.table.table.select(this.shown.findIndex(({ method }) => method === model.state.method));
  }

  private columnsOf(rows: SpanSum[]): ValueColumn[] {
    const { names } = this.context.model;
    const { own, unit, metric } = this.intervals;
    const whole = rows.reduce((sum, row) => sum + (own ? row.own : row.calls), 0);
    const amount = (row: SpanSum) => (own ? row.own : row.calls);
    return [
      { ...number(rows, "own", own ? `Its own ${metric} in the selected time` : "Its calls in the selected time",
                  amount, (value) => formatValue(value, own ? unit : "", !own), 7) },
      number(rows, "%", "The same, in percent of all methods in the selected time", amount,
             (value) => formatPercent(value, whole)),
      number(rows, "of all", "How much of its own in the whole recording that is, in percent",
             (row) => amount(row) / row.all, (value) => formatPercent(value, 1)),
      number(rows, "calls", "Its calls that began in the selected time", ({ calls }) => calls,
             (value) => formatValue(value, "", true), 7),
      words(rows, "method", "The method", ({ method }) => names.shown(method)),
    ];
  }

  private draw(): void {
    const { canvas, intervals, rows } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    canvas.setAttribute("aria-label", `${this.byCalls ? "calls" : intervals.metric} of ${rows} methods over time`);
    this.drawCells(context);
    this.drawNames(context);
    this.drawAxis(context, width);
    this.drawSpan(context);
  }

  private drawCells(context: CanvasRenderingContext2D): void {
    const { intervals, rows } = this;
    const values = this.byCalls ? intervals.calls : intervals.own!;
    const rates = Array.from({ length: rows }, (_, row) => ratesOf(intervals, values, row));
    const most = Math.max(...rates.map((row) => Math.max(...row)), Number.MIN_VALUE);
    context.fillStyle = ownColour("--accent");
    rates.forEach((row, y) => row.forEach((rate, column) => {
      if (rate === 0) return;
      const [begin, end] = timesOf(intervals, { first: column, last: column });
      const [x, right] = [Math.floor(this.xOf(begin)), Math.floor(this.xOf(end))];
      context.globalAlpha = 0.06 + 0.94 * Math.sqrt(rate / most);
      context.fillRect(x, y * HEIGHT + 1, Math.max(1, right - x), HEIGHT - 2);
    }));
    context.globalAlpha = 1;
  }

  private drawNames(context: CanvasRenderingContext2D): void {
    const { names, state } = this.context.model;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let row = 0; row < this.rows; ++row) {
      const method = this.intervals.methods[row]!;
      context.fillStyle = ownColour(method === state.method ? "--accent" : "--text");
      let text = names.short(method);
      while (text.length > 4 && context.measureText(text).width > LEFT - 16) text = `…${text.slice(2)}`;
      context.fillText(text, LEFT - 8, (row + 0.5) * HEIGHT);
    }
  }

  private drawAxis(context: CanvasRenderingContext2D, width: number): void {
    const y = this.rows * HEIGHT;
    context.strokeStyle = ownColour("--line");
    context.fillStyle = ownColour("--text");
    context.textAlign = "center";
    context.strokeRect(LEFT - 0.5, 0.5, width - LEFT - MARGIN, y);
    const least = this.length / Math.max(1, (width - LEFT) / 90);
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least)!;
    for (let time = Math.ceil(this.intervals.begin / step) * step; time <= this.intervals.ends.at(-1)!; time += step) {
      context.fillText(`${Number(time.toPrecision(6))} s`, Math.min(width - 18, Math.max(LEFT + 8, this.xOf(time))), y + AXIS / 2);
    }
  }

  private drawSpan(context: CanvasRenderingContext2D): void {
    if (this.context.store.state.span === "") return;
    const [begin, end] = timesOf(this.intervals, this.span);
    const [x, right] = [this.xOf(begin), this.xOf(end)];
    context.strokeStyle = ownColour("--match");
    context.lineWidth = 2;
    context.strokeRect(x, 1, Math.max(2, right - x), this.rows * HEIGHT - 2);
    context.lineWidth = 1;
  }
}
