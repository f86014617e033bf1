// Shows how calls and times of `jprof scale` grow with the size of the input.

import type { ValueColumn } from "../columns.js";
import { el, pair, select } from "../dom.js";
import { ItemTable, number, words } from "../item_table.js";
import { formatPercent, formatValue } from "../model/format.js";
import {
  callsSeries, plottedRows, timeSeries, timeText, type Scaled, type ScaledRow, type Series,
} from "../model/scaled.js";
import type { Changed } from "../model/state.js";
import { ownColour, shapeEntry } from "../optimize/marks.js";
import { Scatter } from "../scatter.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

const PLOTTED = 6;           // methods
const COLOURS = ["--accent", "--more", "--good", "--match", "--warn", "--soft", "--text"];
const MEASURES: Record<string, { unit: string; series(row: ScaledRow): Series }> = {
  calls: { unit: "", series: callsSeries },
  "own time": { unit: "ns", series: timeSeries },
};

export class GrowthView implements View {
  private readonly scaled: Scaled;
  private readonly tools = el("div", { class: "tools" });
  private readonly plot = new Scatter();
  private readonly tip = el("p", { class: "soft", role: "status" });
  private readonly lines = el("div", { class: "legend wraps" });
  private readonly details = el("div", { class: "details", role: "status" });
  private readonly table = new ItemTable<ScaledRow>("Growth", { select: (i) => this.choose(i) },
    (rows) => this.columnsOf(rows), { key: "%10n", down: true });
  private plotted: number[] = [];

  constructor(private readonly context: Context, host: HTMLElement) {
    this.scaled = context.model.scaled!;
    const { canvas } = this.plot;
    canvas.setAttribute("role", "img");
    canvas.addEventListener("pointermove", ({ offsetX, offsetY }) =>
      this.showTip(this.plot.nearest(offsetX, offsetY)));
    canvas.addEventListener("click", ({ offsetX, offsetY }) => {
      const found = this.plot.nearest(offsetX, offsetY);
      if (found >= 0) this.choose(this.rowAt(found));
    });
    new ResizeObserver(() => this.plot.draw()).observe(canvas);
    host.append(this.tools,
                el("div", { class: "split growth" }, el("div", { class: "plot" }, canvas)), this.tip,
                el("div", { class: "split lower" }, this.table.table.element), this.details);
  }

  focus(): void {
    this.table.table.element.focus();
  }

  legend(): Legend {
    return {
      about: ["Both axes are logarithmic, so that a power n^k is a straight line of slope k. The "
        + `plot shows the first ${PLOTTED} methods of the table as it is at first, and the row that is `
        + "selected. Calls are exact; times have their 95 % intervals.",
        "%10n is the part of the whole at ten times the largest size if all grows on like this."],
      columns: this.table.table.meanings, colours: [],
    };
  }

  update(changed: Changed | null): void {
    const { state } = this.context.store;
    if (hasAny(changed, ["names"])) this.table.show(this.scaled.rows);
    if (hasAny(changed, ["names", "theme", "measure", "row"])) {
      this.drawPlot();
      this.describe(this.scaled.rows[state.row]);
    }
    this.table.table.select(state.row);
  }

  private choose(row: number): void {
    this.context.store.set({ row });
  }
  private get measure(): string {
    const { measure } = this.context.store.state;
    return measure in MEASURES && this.scaled.hasTimes ? measure : "calls";
  }
  private rowAt(point: number): number {
    return this.plotted[Math.floor(point / this.scaled.sizes.length)]!;
  }

  private drawPlot(): void {
    const { store } = this.context;
    const { sizes, rows, hasTimes } = this.scaled;
    const { unit, series } = MEASURES[this.measure]!;
    this.plotted = plottedRows(rows, PLOTTED, store.state.row);
    const shown = this.plotted.map((row) => series(rows[row]!));
    const all = (of: keyof Series) => Float64Array.from(shown.flatMap((one) => one[of]));
    const colourOf = (place: number) => COLOURS[place % COLOURS.length]!;
    this.plot.scene = {
      x: { name: "size n", unit: "", whole: true,
           values: Float64Array.from(shown.flatMap(() => Array.from(sizes))) },
      y: { name: this.measure, unit, whole: unit === "", values: all("values"),
           ...unit === "" ? {} : { low: all("low"), high: all("high") } },
      scale: "logarithmic", run: sizes.length, selected: -1, marked: new Set(),
      colourOf: (i) => ownColour(colourOf(Math.floor(i / sizes.length))), shapeOf: () => "disc",
      text: ownColour("--text"), line: ownColour("--line"), accent: ownColour("--accent"),
    };
    this.plot.canvas.setAttribute("aria-label", `${this.measure} by size`);
    this.plot.draw();
    this.lines.replaceChildren(...this.plotted.map((row, place) =>
      shapeEntry("disc", colourOf(place), `${this.titleOf(rows[row]!)} ${rows[row]!.calls_grow ?? ""}`)));
    this.tools.replaceChildren(this.lines, ...hasTimes ? [select("measure",
      Object.keys(MEASURES).map((one): [string, string] => [one, one]), this.measure,
      (measure) => store.set({ measure }))] : []);
  }

  private titleOf({ name, callers, level }: ScaledRow): string {
    const { names } = this.context.model;
    const short = (of: number) => names.short(of);
    return [short(name), ...level > 0 ? callers.slice(0, 1).map(short) : []].join(" < ");
  }

  private showTip(point: number): void {
    const row = this.scaled.rows[this.rowAt(point)];
    if (point < 0 || !row) return this.tip.replaceChildren();
    const { unit, series } = MEASURES[this.measure]!;
    const size = point % this.scaled.sizes.length;
    this.tip.replaceChildren(pair(this.titleOf(row), formatValue(series(row).values[size]!, unit, unit === "")),
      " ", pair("n", formatValue(this.scaled.sizes[size]!, "", true)));
  }

  private describe(row: ScaledRow | undefined): void {
    if (!row) {
      this.details.replaceChildren(el("span", { class: "soft" }, "Select a row to see all of it."));
      return;
    }
    const { names } = this.context.model;
    const { sizes } = this.scaled;
    const texts = [["calls ~", row.calls_grow ?? "called at one size only"], ["time ~", timeText(row)],
      ...Array.from(sizes, (size, i) => [`n = ${size}`, formatValue(row.calls[i]!, "", true)]),
      ["called by", row.callers.map((one) => names.short(one)).join(" < ")]];
    this.details.replaceChildren(el("b", {}, names.shown(row.name)), " ",
      ...texts.flatMap(([name, value]) => (value === "" ? [] : [pair(name!, value!), " "])));
  }

  private columnsOf(rows: ScaledRow[]): ValueColumn[] {
    const { names } = this.context.model;
    const percent = (title: string, help: string, of: (row: ScaledRow) => number) =>
      number(rows, title, help, of, (value) => formatPercent(value, 1));
    return [
      percent("%10n", "Its part of the whole at ten times the largest size, if all grows on like this",
              (row) => row.share_at_10n),
      percent("%", "Its part of the whole at the largest size", (row) => row.share),
      { ...number(rows, "calls ~", "How its exact calls grow", (row) => row.exponent ?? NaN, String, 6.5),
        text: (i: number) => rows[i]!.calls_grow ?? "" },
      ...this.scaled.hasTimes ? [{
        ...number(rows, "time ~", "How its own time grows, with its 95 % interval",
                  (row) => row.time_exponent ?? NaN, String, 8.5),
        text: (i: number) => timeText(rows[i]!),
      }] : [],
      number(rows, "calls", "Calls at the largest size", (row) => row.calls.at(-1)!,
             (value) => formatValue(value, "", true), 7),
      { ...words(rows, "method", "The method", (row) => names.shown(row.name)),
        parts: (i) => names.parts(rows[i]!.name) },
      words(rows, "called by", "Its callers, if the row is one context", ({ callers, contexts, level }) =>
        (contexts > 1 && level === 0 ? `${contexts} contexts`
          : callers.slice(0, 4).map((one) => names.short(one)).join(" < "))),
    ];
  }
}
