// Shows the source lines of a method: what was sampled at each, and what is called there.

import { button, el } from "./dom.js";
import { formatError, formatPercent, formatValue } from "./model/format.js";
import type { CallAtLine, Lines, SourceLine } from "./model/lines.js";
import { isWhole, shownUnit } from "./model/metrics.js";
import { TYPE_NAMES } from "./model/names.js";
import type { Context } from "./view.js";

export const LINE_MEANINGS: [title: string, meaning: string][] = [
  ["line", "Of the source file, whatever the filters; -: not known. Below it are the methods that "
    + "are called there, a row for each bytecode"],
  ["calls of a line", "Made there, exact"],
  ["samples of a line", "Taken at the line itself, without what is called there"],
  ["cumulative of a line", "With all that is called there; a line that is reached from itself by "
    + "recursion counts once. Its +- is by the number of samples alone"],
];

/** A column of numbers: its title, and its text for a line and for a call. */
interface NumberColumn {
  title: string;
  line(one: SourceLine): string;
  call(one: CallAtLine): string;
}

function columnsOf({ metric, whole: sum, hasCalls }: Lines): NumberColumn[] {
  const columns: NumberColumn[] = [];
  const count = ({ calls }: { calls: number }) => (calls > 0 ? formatValue(calls, "", true) : "");
  if (hasCalls) columns.push({ title: "calls", line: count, call: count });
  if (!metric) return columns;
  const [unit, whole] = [shownUnit(metric), isWhole(metric)];
  const amount = (value: number) => (value === 0 ? "" : formatValue(value, unit, whole));
  const both = (title: string, text: (value: number) => string): NumberColumn => ({
    title, line: ({ all }) => text(all), call: ({ all }) => text(all),
  });
  const isSampled = metric.kind === "samples";
  if (isSampled || metric.kind === "weighted") {
    columns.push({ title: isSampled ? "samples" : "self", line: ({ own }) => amount(own),
                   call: () => "" });
  }
  columns.push(both("cumulative", amount));
  if (isSampled) {
    columns.push(both("+-", (value) =>
      formatError(value, Math.sqrt(value), { unit, whole, independent: true })));
  }
  columns.push(both("%", (value) => (value === 0 ? "" : formatPercent(value, sum))));
  return columns;
}

/** Returns the table, or a sentence if the page has no lines of the method. */
export function linesTable(context: Context, lines: Lines, method: number): HTMLElement {
  const found = lines.of(method);
  if (!found) return el("p", { class: "soft" }, "Source lines: none with 0.1 % of the whole");
  const columns = columnsOf(lines);
  const head = (title: string, isName = false) =>
    el("th", { scope: "col", class: isName ? "name" : undefined }, title);
  const rows = found.lines.flatMap((line) =>
    [lineRow(line, columns), ...line.called.map((call) => callRow(context, call, columns))]);
  const leftOut = found.left_out === 0 ? ""
    : `; without ${formatValue(found.left_out, "", true)} below 0.1 %`;
  return el("table", { class: "edges lines" },
    el("caption", {}, `Source lines${found.file ? ` of ${found.file}` : ""}`,
       el("span", { class: "soft" }, ` (of the whole profile${leftOut})`)),
    el("thead", {}, el("tr", {}, head("line"), ...columns.map(({ title }) => head(title)),
                       head("source", true))),
    el("tbody", {}, ...rows));
}

function lineRow(one: SourceLine, columns: NumberColumn[]): HTMLElement {
  return el("tr", {}, el("td", { class: "soft" }, one.line > 0 ? String(one.line) : "-"),
            ...columns.map(({ line }) => el("td", {}, line(one))),
            el("td", { class: "name", title: one.text }, one.text));
}

function callRow({ model, store }: Context, one: CallAtLine, columns: NumberColumn[]): HTMLElement {
  const title = `${model.names.shown(one.method)}, called at bytecode ${one.bytecode}`;
  const kind = TYPE_NAMES[one.type];
  return el("tr", { class: "call" }, el("td"),
            ...columns.map(({ call }) => el("td", {}, call(one))),
            el("td", { class: "name" }, "→ ",
               el("span", { class: `letter t${one.type}`, title: kind }, one.type),
               button(model.names.short(one.method), title,
                      () => store.set({ method: one.method, row: -1 }))));
}
