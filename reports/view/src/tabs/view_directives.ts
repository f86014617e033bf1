// Shows what `jprof optimize` predicted of a program's directives and what its runs then showed.

import type { ValueColumn } from "../columns.js";
import { el, pair, select } from "../dom.js";
import { ItemTable, number, words } from "../item_table.js";
import { formatValue } from "../model/format.js";
import {
  benefitOf, programTitles, type Benefit, type Directive, type Program,
} from "../model/optimized.js";
import type { Changed } from "../model/state.js";
import { amountText, BenefitPlot, benefitTexts, rangeText } from "../optimize/benefit_plot.js";
import { RunPlots } from "../optimize/run_plots.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

/** A row of the table. */
interface Row {
  directive: Directive;
  benefit: Benefit | null;
}

export class DirectivesView implements View {
  private readonly programs: Program[];
  private readonly titles: string[];
  private readonly tools = el("div", { class: "tools" });
  private readonly note = el("p", { class: "lead", role: "status" });
  private readonly plot = new BenefitPlot((directive) => this.choose(directive));
  private readonly runs = new RunPlots();
  private readonly details = el("div", { class: "details", role: "status" });
  private readonly table = new ItemTable<Row>("Directives", { select: (i) => this.choose(i) },
    columnsOf, { key: "predicted", down: true });

  constructor(private readonly context: Context, host: HTMLElement) {
    this.programs = context.model.programs!;
    this.titles = programTitles(this.programs);
    host.append(this.tools, this.note,
                el("div", { class: "split benefits" }, this.plot.element, this.runs.element),
                el("div", { class: "split lower" }, this.table.table.element), this.details);
  }

  focus(): void {
    this.table.table.element.focus();
  }

  legend(): Legend {
    return {
      about: ["On the left, each mark is a directive whose benefit was observed: the x axis is the "
        + "predicted benefit, the y axis the observed one, each with its 95 % interval. On the solid "
        + "line they are the same. A directive is withdrawn when its whole interval is below the "
        + "dashed one, half of what was predicted. Directives without an observation are only "
        + "in the table.",
        "On the right are the figures of the runs, by number. Select a directive to see all of it."],
      columns: this.table.table.meanings, colours: [],
    };
  }

  update(changed: Changed | null): void {
    const { store } = this.context;
    const rows = this.program.directives.map((directive): Row =>
      ({ directive, benefit: benefitOf(directive) }));
    if (hasAny(changed, ["program"])) this.table.show(rows);
    if (hasAny(changed, ["program", "theme"])) this.runs.show(this.program);
    if (hasAny(changed, ["program", "theme", "measure", "row", "logarithmic"])) {
      this.drawPlot(rows);
      this.describe(rows[store.state.row]);
    }
    this.table.table.select(store.state.row);
  }

  private get program(): Program {
    return this.programs[Math.max(0, this.titles.indexOf(this.context.store.state.program))]!;
  }
  private choose(row: number): void {
    this.context.store.set({ row });
  }

  private drawPlot(rows: Row[]): void {
    const { state } = this.context.store;
    const { directives } = this.program;
    const figures = Array.from(new Set(rows.flatMap(({ benefit }) => (benefit ? [benefit.figure] : []))));
    const figure = figures.find((one) => one === state.measure) ?? figures[0] ?? "";
    const linear = BenefitPlot.linearPart(directives, figure);
    this.plot.show(directives, figure, state.row, state.logarithmic ? linear : 0);
    this.drawTools(figures, figure, linear > 0);
    this.note.textContent = noteOf(rows);
    this.note.hidden = this.note.textContent === "";
  }

  private drawTools(figures: string[], figure: string, hasDecades: boolean): void {
    const { store } = this.context;
    const same = (list: string[]) => list.map((one): [string, string] => [one, one]);
    const title = this.titles[this.programs.indexOf(this.program)]!;
    this.tools.replaceChildren(
      ...this.programs.length > 1 ? [select("program", same(this.titles), title, (program) =>
        store.set({ program, row: -1 }))] : [],
      ...figures.length > 1 ? [select("figure", same(figures), figure, (measure) =>
        store.set({ measure }))] : [],
      ...hasDecades ? [select("axes", [["true", "logarithmic"], ["false", "linear"]],
        String(store.state.logarithmic), (value) => store.set({ logarithmic: value === "true" }))] : [],
      this.plot.legend);
  }

  private describe(row: Row | undefined): void {
    if (!row) {
      this.details.replaceChildren(el("span", { class: "soft" },
        "Select a directive to see all of it."));
      return;
    }
    const { benefit, directive: { agent, kind, key, text, state, reason, cost } } = row;
    const texts = [["state", state], ["agent", agent], ...benefit ? benefitTexts(benefit) : [],
                   ["cost", cost], ["reason", reason]].filter(([, value]) => value !== "");
    this.details.replaceChildren(el("b", {}, `${kind} ${key}: ${text}`), " ",
      ...texts.flatMap(([name, value]) => [pair(name!, value!), " "]));
  }
}

/** Says which directives the plot does not show. */
function noteOf(rows: Row[]): string {
  if (rows.length === 0) return "No directive was proposed.";
  const left = rows.filter(({ benefit }) => !benefit?.observed).length;
  if (left === rows.length) return "No directive has been observed yet: more runs are needed.";
  return left === 0 ? "" : `Only in the table: ${formatValue(left, "", true)} ` +
    `${left === 1 ? "directive" : "directives"} without an observation.`;
}

function columnsOf(rows: Row[]): ValueColumn[] {
  const amounts = (title: string, help: string, of: (one: Benefit) => number) => ({
    ...number(rows, title, help, ({ benefit }) => (benefit ? of(benefit) : NaN), String, 6.5),
    text: (i: number) => (rows[i]!.benefit ? amountText(of(rows[i]!.benefit!), rows[i]!.benefit!.unit) : ""),
  });
  const figures = new Set(rows.map(({ benefit }) => benefit?.figure));
  return [
    words(rows, "state", "Whether later runs apply it", ({ directive }) => directive.state, "6.5em"),
    words(rows, "agent", "Who proposed it", ({ directive }) => directive.agent, "6.5em"),
    words(rows, "group", "What it is about", ({ directive: { kind, key } }) => `${kind} ${key}`,
          "minmax(11em, .6fr)"),
    words(rows, "setting", "What is done", ({ directive }) => directive.text, "minmax(16em, 1fr)"),
    ...figures.size < 2 ? [] : [words(rows, "figure", "What it is to lower", ({ benefit }) => benefit?.figure ?? "", "9em")],
    amounts("predicted", "By how much it should be lower", ({ predicted }) => predicted.value),
    amounts("observed", "By how much it was lower", ({ observed }) => observed?.value ?? NaN),
    words(rows, "interval", "95 % interval of what was observed", ({ benefit }) =>
      (benefit?.observed ? rangeText(benefit.observed, benefit.unit) : ""), "11em"),
    number(rows, "runs", "Runs that were compared", ({ benefit }) => benefit?.runs ?? 0,
           (value) => (value > 0 ? String(value) : "")),
    words(rows, "reason", "Why it is in its state", ({ directive }) => directive.reason,
          "minmax(16em, 1.4fr)"),
  ];
}
