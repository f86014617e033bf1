// Shows allocated objects by class, and the contexts that allocate the selected class.

import { sortAfterClick, sortIds, widthOf, type ValueColumn } from "../columns.js";
import { button, el } from "../dom.js";
import { formatPercent, formatValue } from "../model/format.js";
import type { MethodTable } from "../model/methods.js";
import type { ProfileQuantity } from "../model/metrics.js";
import { CLASS } from "../model/names.js";
import type { Changed } from "../model/state.js";
import { Table } from "../table.js";
import { DATA_KEYS, hasAny, selectRow, type Context, type Legend, type View } from "../view.js";

const CONTEXTS_SHOWN = 200;
const FRAMES = 12;            // of a context

export class ClassesView implements View {
  private readonly table: Table;
  private readonly side = el("div", { class: "side wide", "aria-live": "polite" });
  private readonly note = el("span", { class: "soft" });
  private methods!: MethodTable;
  private columns: ValueColumn[] = [];
  private sort = { key: "share", down: true };

  constructor(private readonly context: Context, host: HTMLElement) {
    this.table = new Table("grid", "Classes of allocated objects", {
      sort: (key) => {
        this.sort = sortAfterClick(this.sort, key, key === "name");
        this.list();
      },
      select: (entry) => context.store.set({ method: this.methods.ids[entry]!, row: -1 }),
      open: () => context.store.set({ view: "contexts" }),
    });
    host.append(el("div", { class: "tools" }, this.note),
                el("div", { class: "split" }, this.table.element, this.side));
  }

  focus(): void {
    this.table.element.focus();
  }

  legend(): Legend {
    return {
      about: ["Each row is a class with its objects in all calling contexts. On the right are the " +
        "contexts that allocate the selected class, those with most first."],
      columns: this.table.meanings, colours: [],
    };
  }

  update(changed: Changed | null): void {
    if (hasAny(changed, [...DATA_KEYS, "min", "search"])) this.build();
    const { method } = this.context.store.state;
    const entry = method < 0 ? -1 : this.methods.entryOf(method);
    this.table.select(entry);
    this.drawSide(entry >= 0 && this.methods.type[entry] === CLASS ? entry : -1);
  }

  /** Returns the numbers of the metrics that are shown, the chosen one first. */
  private get shown(): number[] {
    const { model } = this.context;
    return [model.quantity, ...model.beside];
  }

  private build(): void {
    const { model } = this.context;
    const { names, quantity, matches } = model;
    this.methods = model.methods;
    const { methods } = this;
    const counted = methods.contexts();
    const value = methods.self(quantity);
    const total = model.unfiltered.total(quantity);
    this.columns = [
      ...this.shown.map((q) => this.amount(q, model.quantities[q]!)),
      { key: "share", title: "%", width: widthOf("%"), value,
        help: `${model.quantities[quantity]!.name} in percent of the whole`,
        text: (id) => formatPercent(value[id]!, total),
        bar: (id) => Math.max(0, Math.min(1, value[id]! / total)) },
      { key: "contexts", title: "contexts", help: "Calling contexts that allocate it",
        width: widthOf("contexts"), value: counted, text: (id) => formatValue(counted[id]!, "", true) },
      { key: "name", title: "class", help: "Class", width: "minmax(16em, 1fr)", name: true,
        value: null, text: (id) => names.shown(methods.ids[id]!),
        parts: (id) => names.parts(methods.ids[id]!),
        mark: (id) => (matches?.methods[methods.ids[id]!] ? "match" : "") },
    ];
    this.table.setColumns(this.columns);
    this.list();
  }

  private amount(q: number, { name, unit, whole }: ProfileQuantity): ValueColumn {
    const value = this.methods.self(q);
    return { key: `of.${name}`, title: name, help: `${name} of the class`,
             width: widthOf(name, 7.5), value, text: (id) => formatValue(value[id]!, unit, whole) };
  }

  private list(): void {
    const { model, store } = this.context;
    const { methods } = this;
    const all = Uint32Array.from(methods.ids.keys()).filter((id) => methods.type[id] === CLASS);
    const value = methods.self(model.quantity);
    const least = (store.state.min / 100) * model.unfiltered.total(model.quantity);
    const { matches } = model;
    const ids = all.filter((id) => value[id]! >= least &&
      (!matches || matches.methods[methods.ids[id]!] === 1));
    if (!this.columns.some((one) => one.key === this.sort.key)) this.sort.key = "share";
    const column = this.columns.find((one) => one.key === this.sort.key)!;
    this.table.setSorted(this.sort.key, this.sort.down);
    this.table.setRows(sortIds(ids, column, this.sort.down));
    this.note.textContent = ids.length === all.length ? `${formatValue(all.length, "", true)} classes`
      : `${formatValue(ids.length, "", true)} of ${formatValue(all.length, "", true)} classes`;
  }

  private drawSide(entry: number): void {
    if (entry < 0) {
      this.side.replaceChildren(el("p", { class: "soft" },
        "Select a class to see where its objects are allocated."));
      return;
    }
    const { model, model: { tree, names, quantity } } = this.context;
    const value = tree.self(quantity);
    const rows = Array.from(this.methods.rows(entry)).sort((a, b) => value[b]! - value[a]!);
    const shown = rows.slice(0, CONTEXTS_SHOWN);
    const quantities = this.shown.map((q) => ({ of: tree.self(q), ...model.quantities[q]! }));
    const head = [...quantities.map(({ name }) => name), "%"].map((text) =>
      el("th", { scope: "col" }, text));
    const whole = this.methods.self(quantity)[entry]!;
    this.side.replaceChildren(
      el("h2", {}, names.shown(this.methods.ids[entry]!)),
      el("table", { class: "edges" },
        el("caption", {}, `Allocated in ${formatValue(rows.length, "", true)} contexts` +
           `${rows.length > shown.length ? `, first ${shown.length}` : ""}`),
        el("thead", {}, el("tr", {}, ...head, el("th", { scope: "col", class: "name" }, "context"))),
        el("tbody", {}, ...shown.map((row) => el("tr", {},
          ...quantities.map((one) => el("td", {}, formatValue(one.of[row]!, one.unit, one.whole))),
          el("td", {}, formatPercent(value[row]!, whole)),
          el("td", { class: "name" }, this.contextLink(row)))))));
  }

  private contextLink(row: number): HTMLElement {
    const { model: { tree, names } } = this.context;
    const path = tree.path(row).reverse().slice(1).map((above) => tree.method[above]!);
    const text = (list: number[]) => list.map((name) => names.short(name)).join(" < ");
    return button(text(path.slice(0, FRAMES)), text(path), () => {
      selectRow(this.context, row);
      this.context.store.set({ view: "tree" });
    });
  }
}
