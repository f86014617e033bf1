// Shows the contexts of the selected method. Those whose cost per call differs from the method's
// mean stand out.

import { distributionPlot, DISTRIBUTION_MEANINGS } from "../distribution_plot.js";
import { el } from "../dom.js";
import {
  formatError, formatPercent, formatUncertain, formatValue, INTERVAL, ofAlone, signed,
} from "../model/format.js";
import { sortAfterClick, sortIds, widthOf, type ValueColumn } from "../columns.js";
import { contexts, type ContextRow } from "../model/methods.js";
import { Table } from "../table.js";
import type { Changed } from "../model/state.js";
import { DATA_KEYS, hasAny, selectRow, type Context, type Legend, type View } from "../view.js";

export class ContextsView implements View {
  private readonly table: Table;
  private readonly head = el("div", { class: "lead" });
  private readonly side = el("div", { class: "side lined", "aria-live": "polite" });
  private rows: ContextRow[] = [];
  private columns: ValueColumn[] = [];
  private sort = { key: "", down: true };

  constructor(private readonly context: Context, host: HTMLElement) {
    this.table = new Table("grid", "Contexts of the selected method", {
      sort: (key) => {
        this.sort = sortAfterClick(this.sort, key, key === "path");
        this.list();
      },
      select: (i) => selectRow(context, this.rows[i]!.row),
      open: (i) => {
        selectRow(context, this.rows[i]!.row);
        context.store.set({ view: "tree" });
      },
    });
    this.side.hidden = context.model.distributions === null;
    host.append(this.head, el("div", { class: "split" }, this.table.element, this.side));
  }

  focus(): void {
    this.table.element.focus();
  }

  legend(): Legend {
    return {
      about: ["Each row is a calling context of the selected method. " +
        (this.context.model.calls >= 0
          ? "Those are first whose own cost differs most from that of as many calls at the " +
            "method's mean: red rows cost more, blue ones less, pale ones differ within the error."
          : "This profile has no calls: the contexts are sorted by what they cost.")],
      columns: [...this.table.meanings,
                ...(this.context.model.distributions ? DISTRIBUTION_MEANINGS : [])],
      colours: [],
    };
  }

  update(changed: Changed | null): void {
    if (hasAny(changed, [...DATA_KEYS, "method"])) this.build();
    const { row } = this.context.store.state;
    this.table.select(this.rows.findIndex((one) => one.row === row));
    this.drawSide(row);
  }

  /** Shows how long single calls took, in the selected context and in all of the method. */
  private drawSide(row: number): void {
    const { distributions, unfiltered, base } = this.context.model;
    if (!distributions) return;
    const { method } = this.context.store.state;
    const inContext = unfiltered === base && row >= 0 ? distributions.ofRow(row) : undefined;
    const inAll = distributions.ofMethod(method);
    this.side.replaceChildren(
      ...(inContext ? [distributionPlot(inContext, "Calls in the selected context")] : []),
      ...(inAll ? [distributionPlot(inAll, "Calls in all contexts")] : []),
      ...(inAll ? [] : [el("p", { class: "soft" }, "The calls of this method were not timed one by one.")]));
  }

  private build(): void {
    const { model, store } = this.context;
    const { methods, calls, quantity, names } = model;
    const { method } = store.state;
    const entry = method < 0 ? -1 : methods.entryOf(method);
    this.rows = entry < 0 ? [] : contexts(methods, entry, calls, quantity);
    this.table.element.hidden = entry < 0;
    if (entry < 0) {
      this.head.replaceChildren(el("p", { class: "soft" },
        "Select a method in another tab: here are its calling contexts, those first whose cost " +
        "per call differs most from the method's mean."));
      return;
    }
    const { unit, whole, name } = model.quantities[quantity]!;
    const self = methods.self(quantity)[entry]!;
    const n = calls >= 0 ? methods.self(calls)[entry]! : 0;
    this.head.replaceChildren(
      el("h2", {}, names.shown(method)),
      el("p", {}, `${formatValue(this.rows.length, "", true)} contexts, ` +
        `self ${name} ${formatValue(self, unit, whole)}` + (n > 0
        ? `, ${formatValue(n, "", true)} calls, mean ${formatValue(self / n, unit)} per call.`
        : ".")));
    this.makeColumns(self);
    this.list();
  }

  private makeColumns(self: number): void {
    const { model } = this.context;
    const { calls, quantity, names, tree, oldQuantity } = model;
    const info = model.quantities[quantity]!;
    const { unit, whole } = info;
    const { rows } = this;
    const column = (key: string, title: string, help: string, value: (one: ContextRow) => number,
                    text: (one: ContextRow) => string, width = widthOf(title),
                    mark?: (one: ContextRow) => string): ValueColumn => ({
      key, title, help, width, value: Float64Array.from(rows, value), text: (i) => text(rows[i]!),
      ...(mark ? { mark: (i: number) => mark(rows[i]!) } : {}),
    });
    const excess = (one: ContextRow) => one.value - one.expected;
    const perCall = (one: ContextRow) => one.value / one.calls;
    const stands = (one: ContextRow) =>
      (Math.abs(excess(one)) <= INTERVAL * one.error ? "pale" : excess(one) > 0 ? "more" : "less");
    this.columns = [];
    if (calls >= 0) {
      this.columns.push(column("calls", "calls", "Entries in this context", (one) => one.calls,
                               (one) => (one.calls > 0 ? formatValue(one.calls, "", true) : ""), "7.5em"));
    }
    this.columns.push(
      column("self", "self", "Of this context alone", (one) => one.value,
             (one) => formatUncertain(one.value, one.error, ofAlone(info))),
      ...(rows.some((one) => one.error > 0)
        ? [column("error", "+-", "Half of the 95 % interval of self", (one) => one.error,
                  (one) => formatError(one.value, one.error, ofAlone(info)))] : []),
      column("share", "% of it", "In percent of the method's self", (one) => one.value,
             (one) => formatPercent(one.value, self)));
    if (calls >= 0) {
      this.columns.push(
        column("percall", "self/call", "Per call, in this context", perCall,
               (one) => formatValue(perCall(one), unit)),
        column("ratio", "to mean", "self/call in parts of the method's mean",
               (one) => one.value / one.expected,
               (one) => (one.expected ? `${(one.value / one.expected).toFixed(2)} x` : "")),
        column("excess", "excess", "Self less what its calls cost at the method's mean",
               (one) => Math.abs(excess(one)),
               (one) => signed(formatValue(excess(one), unit, whole), excess(one)), "7em", stands));
    }
    if (oldQuantity >= 0) {
      const was = tree.self(oldQuantity);
      this.columns.push(column("change", "new - old", "Change of self in this context",
        (one) => one.value - was[one.row]!,
        (one) => signed(formatValue(one.value - was[one.row]!, unit, whole),
                        one.value - was[one.row]!)));
    }
    this.columns.push({
      key: "path", title: "called by (nearest first)", help: "The calling context", name: true,
      width: "minmax(24em, 1fr)", value: null,
      text: (i) => tree.path(rows[i]!.row).reverse().slice(1, 12)
        .map((row) => names.short(tree.method[row]!)).join(" < "),
    });
    this.table.setColumns(this.columns);
  }

  private list(): void {
    const first = this.context.model.calls >= 0 ? "excess" : "self";
    const found = this.columns.find((one) => one.key === this.sort.key);
    const column = found ?? this.columns.find((one) => one.key === first)!;
    this.table.setSorted(column.key, this.sort.down);
    const ids = Uint32Array.from(this.rows.keys());
    this.table.setRows(sortIds(ids, column, this.sort.down));
  }
}
