// Shows the flat list of methods, with the callers and callees of the selected one.

import { sortAfterClick, sortIds, valueColumns, widthOf, type ValueColumn } from "../columns.js";
import { distributionPlot, DISTRIBUTION_MEANINGS } from "../distribution_plot.js";
import { button, el } from "../dom.js";
import { formatPercent, formatValue } from "../model/format.js";
import { LINE_MEANINGS, linesTable } from "../lines_table.js";
import { edges, type Edge, type MethodTable } from "../model/methods.js";
import { menuButton, openMenu } from "../menu.js";
import { Table } from "../table.js";
import type { Changed } from "../model/state.js";
import { NO_METHOD } from "../model/tree.js";
import { DATA_KEYS, hasAny, type Context, type Legend, type View } from "../view.js";

export class MethodsView implements View {
  private readonly table: Table;
  private readonly side = el("div", { class: "side", "aria-live": "polite" });
  private readonly note = el("span", { class: "soft" });
  private methods!: MethodTable;
  private columns: ValueColumn[] = [];
  private sort = { key: "self", down: true };

  constructor(private readonly context: Context, host: HTMLElement) {
    this.table = new Table("grid", "Methods", {
      sort: (key) => this.sortBy(key),
      select: (entry) => context.store.set({ method: this.methods.ids[entry]!, row: -1 }),
      open: () => context.store.set({ view: "contexts" }),
      menu: (entry, event) => openMenu(context, event, this.methods.ids[entry]!),
    });
    const { lines, distributions } = context.model;
    this.side.classList.toggle("lined", lines !== null || distributions !== null);
    host.append(el("div", { class: "tools" }, this.note),
                el("div", { class: "split" }, this.table.element, this.side));
  }

  focus(): void {
    this.table.element.focus();
  }

  legend(): Legend {
    const { lines, distributions } = this.context.model;
    return {
      about: ["Each row is a method, summed over its calling contexts. In cumulative values, the "
        + "outermost call of a recursion counts. On the right are the callers and callees of the "
        + "selected method; Enter or a double click shows its contexts."],
      columns: [...this.table.meanings, ...(lines ? LINE_MEANINGS : []),
                ...(distributions ? DISTRIBUTION_MEANINGS : [])],
      colours: [],
    };
  }

  update(changed: Changed | null): void {
    const { model, store } = this.context;
    const { method } = store.state;
    if (hasAny(changed, [...DATA_KEYS, "min", "search"])) {
      this.methods = model.methods;
      this.makeColumns();
      this.list();
    }
    const entry = method < 0 ? -1 : this.methods.entryOf(method);
    this.table.select(entry);
    this.drawSide(entry);
  }

  private makeColumns(): void {
    const { model } = this.context;
    const { methods } = this;
    const { calls, quantity } = model;
    const counted = methods.contexts();
    const marked = new Set(this.context.store.state.marked);
    this.columns = [
      ...valueColumns(model, { amounts: methods, error: (q) => methods.error(q),
                               cumError: (q) => methods.cumError(q), unfiltered: model.unfiltered }),
      { key: "contexts", title: "contexts", help: "In how many calling contexts it was",
        width: widthOf("contexts"), value: counted, text: (id) => formatValue(counted[id]!, "", true) },
    ];
    if (calls >= 0 && model.quantities[quantity]!.metric) {
      const spread = methods.spread(calls, quantity);
      this.columns.push({
        key: "spread", title: "spread", width: widthOf("spread"), value: spread,
        help: "How much self/call differs between contexts: standard deviation / mean",
        text: (id) => (Number.isFinite(spread[id]) ? spread[id]!.toFixed(2) : ""),
        mark: (id) => (spread[id]! > 1 ? "strong" : ""),
      });
    }
    this.columns.push({
      key: "name", title: "name", help: "Method", width: "minmax(16em, 1fr)", name: true,
      value: null,
      text: (id) => model.names.shown(methods.ids[id]!),
      parts: (id) => model.names.parts(methods.ids[id]!),
      mark: (id) => [model.matches?.methods[methods.ids[id]!] ? "match" : "",
                     marked.has(methods.ids[id]!) ? "marked" : ""].join(" "),
    });
    if (!this.columns.some((one) => one.key === this.sort.key)) this.sort.key = "share";
    this.table.setColumns(this.columns);
    this.table.setSorted(this.sort.key, this.sort.down);
  }

  private sortBy(key: string): void {
    this.sort = sortAfterClick(this.sort, key, key === "name");
    this.table.setSorted(this.sort.key, this.sort.down);
    this.list();
  }

  private list(): void {
    const { model, store } = this.context;
    const { methods } = this;
    let ids = Uint32Array.from({ length: methods.length }, (_, id) => id);
    const { min } = store.state;
    if (min > 0) {
      const cum = methods.cum(model.quantity);
      const smallest = (min / 100) * model.unfiltered.total(model.quantity);
      ids = ids.filter((id) => cum[id]! >= smallest);
    }
    const { matches } = model;
    if (matches) ids = ids.filter((id) => matches.methods[methods.ids[id]!] === 1);
    const column = this.columns.find((one) => one.key === this.sort.key)!;
    this.table.setRows(sortIds(ids, column, this.sort.down));
    this.note.textContent = ids.length === methods.length
      ? `${formatValue(methods.length, "", true)} methods`
      : `${formatValue(ids.length, "", true)} of ${formatValue(methods.length, "", true)} methods`;
  }

  private drawSide(entry: number): void {
    if (entry < 0) {
      this.side.replaceChildren(el("p", { class: "soft" },
        "Select a method to see its callers and callees."));
      return;
    }
    const { model, store } = this.context;
    const method = this.methods.ids[entry]!;
    const edgesOf = (which: "callers" | "callees") =>
      edges(this.methods, entry, which, model.calls, model.quantity);
    const distribution = model.distributions?.ofMethod(method);
    const show = (layout: "sandwich") => store.set({ view: "flame", layout, zoom: -1 });
    this.side.replaceChildren(
      el("h2", {}, model.names.shown(method)),
      el("div", { class: "tools" },
         button("Flame graph", "Callers above, callees below", () => show("sandwich")),
         button("Contexts", "Its calling contexts", () => store.set({ view: "contexts" })),
         menuButton(this.context, method)),
      ...(distribution ? [distributionPlot(distribution, "Calls one by one")] : []),
      ...(model.lines ? [linesTable(this.context, model.lines, method)] : []),
      this.edgeTable("Callers", edgesOf("callers")), this.edgeTable("Callees", edgesOf("callees")));
  }

  private edgeTable(title: string, list: Edge[]): HTMLElement {
    if (list.length === 0) return el("p", { class: "soft" }, `${title}: none`);
    const { model, store } = this.context;
    const { unit, whole } = model.quantities[model.quantity]!;
    const total = model.unfiltered.total(model.quantity);
    const SHOWN = 40;
    const rows = list.slice(0, SHOWN).map((edge) => {
      const isThread = edge.method === NO_METHOD;
      const name = isThread ? "(thread)" : model.names.shown(edge.method);
      const link = button(isThread ? name : model.names.short(edge.method), name,
                          () => store.set({ method: edge.method, row: -1 }));
      link.disabled = isThread;
      return el("tr", {}, ...(model.calls >= 0
        ? [el("td", {}, edge.calls > 0 ? formatValue(edge.calls, "", true) : "")] : []),
        el("td", {}, formatValue(edge.cum, unit, whole)),
        el("td", {}, formatPercent(edge.cum, total)), el("td", { class: "name" }, link));
    });
    const head = [...(model.calls >= 0 ? ["calls"] : []), "cumulative", "%"].map((text) =>
      el("th", { scope: "col" }, text));
    return el("table", { class: "edges" },
      el("caption", {},
         `${title} (${list.length}${list.length > SHOWN ? `, first ${SHOWN}` : ""})`),
      el("thead", {}, el("tr", {}, ...head, el("th", { scope: "col", class: "name" }, "name"))),
      el("tbody", {}, ...rows));
  }
}
