// Shows the call tree as a table: rows open and close, siblings sort by any column.

import { sortAfterClick, sortIds, valueColumns, type ValueColumn } from "../columns.js";
import { button, el } from "../dom.js";
import { openMenu } from "../menu.js";
import { Table } from "../table.js";
import type { Changed } from "../model/state.js";
import { NO_ROW, type Tree } from "../model/tree.js";
import { DATA_KEYS, hasAny, selectRow, type Context, type Legend, type View } from "../view.js";

const HOT = 0.25;   // the hot path continues while a child has this part of its parent

const ABOUT_HEAP = ["Each row is an object; rows below it are what only it holds: all of that would be "
  + "garbage without it. Objects that are too small for rows of their own are joined by class, and "
  + "the rest is in rows \"others\". What a row retains is the sum of its own size and of what the "
  + "rows below it retain."];

/** Returns the indentation of a level, in em: less for deep levels, whose names would not fit. */
function indent(depth: number): number {
  return 0.9 * Math.min(depth, 12) + 0.15 * Math.min(Math.max(0, depth - 12), 80);
}

export class TreeView implements View {
  private readonly table: Table;
  private readonly note = el("span", { class: "soft" });
  private readonly listing = el("pre", { class: "listing", tabindex: 0, hidden: true,
                                         "aria-label": "Disassembly" });
  private tree: Tree;
  private open = new Uint8Array(0);
  private columns: ValueColumn[] = [];
  private sort = { key: "cum", down: true };
  private order = new Uint32Array(0);       // children as in Tree.children, sorted where `sorted`
  private sorted = new Uint8Array(0);

  constructor(private readonly context: Context, host: HTMLElement) {
    this.tree = context.model.tree;
    this.table = new Table("treegrid", "Call tree", {
      sort: (key) => this.sortBy(key),
      select: (row) => selectRow(context, row),
      open: (row) => this.toggle(row),
      key: (key, row) => this.key(key, row),
      menu: (row, event) => openMenu(context, event, this.tree.method[row]!),
      describe: (row, element, name) => this.describe(row, element, name),
      click: (row, target) => {
        if (!target.classList.contains("fold")) return false;
        this.toggle(row);
        return true;
      },
    });
    host.append(el("div", { class: "tools" },
      button("Expand hot path", "Opens the most expensive path below the selected row (h)",
             () => this.expandHot()),
      button("Expand all", "Opens everything below the selected row (*)", () => this.expandAll()),
      button("Collapse all", "Closes all rows (c)", () => this.collapse()), this.note),
      el("div", { class: "split" }, this.table.element, this.listing));
  }

  focus(): void {
    this.table.element.focus();
  }

  legend(): Legend {
    return {
      about: this.context.model.header.heap ? ABOUT_HEAP
        : ["Each row is a method in one calling context; rows below it are what it called there. " +
           "The letter before a name states how the code ran."],
      columns: this.table.meanings, colours: [],
    };
  }

  update(changed: Changed | null): void {
    const { model, store } = this.context;
    const { row, min } = store.state;
    if (hasAny(changed, [...DATA_KEYS, "min"])) {
      const isFirst = changed === null || this.tree.length !== model.tree.length;
      this.tree = model.tree;
      if (isFirst) this.open = new Uint8Array(this.tree.length);
      this.makeColumns();
      if (isFirst && row < 0) this.openHot(this.tree.length);
      this.note.textContent = min > 0 ? `rows below ${min} % are hidden` : model.leastText;
    }
    if (row >= 0 && row < this.tree.length && hasAny(changed, ["row"])) this.openPath(row);
    if (hasAny(changed, [...DATA_KEYS, "min", "row"])) this.list();
    this.table.select(row);
    this.annotate(row);
  }

  private makeColumns(): void {
    const { model } = this.context;
    const { tree } = this;
    const { depth } = tree;
    this.columns = [
      { key: "level", title: "lv",
        help: model.header.heap ? "Level: 0 is held by no other object" : "Level: 0 the thread", width: "3.5em", value: depth,
        text: (row) => String(depth[row]) },
      ...valueColumns(model, { amounts: tree, error: (q) => tree.error(q),
                               cumError: (q) => tree.cumError(q), unfiltered: model.unfiltered }),
      { key: "name", title: "name", value: null,
        help: model.header.heap ? "The object" : "Method, in its calling context",
        width: "minmax(20em, 1fr)", name: true,
        text: (row) => model.rowParts(tree, row).join(""),
        parts: (row) => model.rowParts(tree, row),
        mark: (row) => (model.matches?.methods[tree.method[row]!] ? "match" : "") },
    ];
    if (!this.columns.some((one) => one.key === this.sort.key)) this.sort.key = "share";
    this.table.setColumns(this.columns);
    this.table.setSorted(this.sort.key, this.sort.down);
    this.unsort();
  }
  private unsort(): void {
    this.order = this.tree.children.list.slice();
    this.sorted = new Uint8Array(this.tree.length + 1);
  }

  private sortBy(key: string): void {
    this.sort = sortAfterClick(this.sort, key, key === "name");
    this.table.setSorted(this.sort.key, this.sort.down);
    this.unsort();
    this.list();
  }

  /** Returns the children of a row, sorted. */
  private childrenOf(row: number): Uint32Array {
    const { start } = this.tree.children;
    const part = this.order.subarray(start[row]!, start[row + 1]!);
    if (!this.sorted[row] && part.length > 1) {
      const column = this.columns.find((one) => one.key === this.sort.key)!;
      part.set(sortIds(part, column, this.sort.down));
    }
    this.sorted[row] = 1;
    return part;
  }

  private list(): void {
    const { quantity, unfiltered } = this.context.model;
    const { min } = this.context.store.state;
    const cum = this.tree.cum(quantity);
    const smallest = min > 0 ? (min / 100) * unfiltered.total(quantity) : -Infinity;
    let rows = new Uint32Array(1024);
    let count = 0;
    const stack: number[] = Array.from(this.childrenOf(this.tree.length)).reverse();
    while (stack.length > 0) {
      const row = stack.pop()!;
      if (cum[row]! < smallest) continue;
      if (count === rows.length) {
        const larger = new Uint32Array(2 * count);
        larger.set(rows);
        rows = larger;
      }
      rows[count++] = row;
      if (!this.open[row]) continue;
      const children = this.childrenOf(row);
      for (let i = children.length - 1; i >= 0; --i) stack.push(children[i]!);
    }
    this.table.setRows(rows.subarray(0, count));
  }

  private hasChildren(row: number): boolean {
    const { start } = this.tree.children;
    return start[row + 1]! > start[row]!;
  }

  private describe(row: number, element: HTMLElement, name: HTMLElement): void {
    const depth = this.tree.depth[row]!;
    const hasChildren = this.hasChildren(row);
    element.setAttribute("aria-level", String(depth + 1));
    if (hasChildren) element.setAttribute("aria-expanded", String(this.open[row] === 1));
    else element.removeAttribute("aria-expanded");
    name.style.paddingLeft = `${0.4 + indent(depth)}em`;
    const sign = hasChildren ? (this.open[row] ? "▾" : "▸") : " ";
    const letter = String.fromCharCode(this.tree.type[row]!);
    name.prepend(el("span", { class: "fold", "aria-hidden": "true" }, sign),
                 el("span", { class: `letter t${letter}` }, letter));
  }

  private toggle(row: number): void {
    this.open[row] = this.open[row] ? 0 : 1;
    this.list();
  }

  private key(key: string, row: number): boolean {
    switch (key) {
      case "ArrowRight":
        if (!this.open[row]) this.toggle(row);
        else if (this.hasChildren(row)) selectRow(this.context, this.childrenOf(row)[0]!);
        return true;
      case "ArrowLeft":
        if (this.open[row] && this.hasChildren(row)) this.toggle(row);
        else if (this.tree.parent[row] !== NO_ROW) selectRow(this.context, this.tree.parent[row]!);
        return true;
      case "h": this.expandHot(); return true;
      case "*": this.expandAll(); return true;
      case "c": this.collapse(); return true;
      default: return false;
    }
  }

  private openPath(row: number): void {
    const { parent } = this.tree;
    for (let at = parent[row]!; at !== NO_ROW; at = parent[at]!) this.open[at] = 1;
  }

  /** Opens the most expensive path. Returns its last row. */
  private openHot(from: number): number {
    const cum = this.tree.cum(this.context.model.quantity);
    const { start, list } = this.tree.children;
    let row = from;
    for (;;) {
      let best = -1;
      for (let i = start[row]!; i < start[row + 1]!; ++i) {
        if (best < 0 || cum[list[i]!]! > cum[best]!) best = list[i]!;
      }
      const whole = row === this.tree.length ? 0 : cum[row]!;
      if (best < 0 || cum[best]! <= 0 || cum[best]! < HOT * whole) break;
      if (row !== this.tree.length) this.open[row] = 1;
      row = best;
    }
    return row;
  }
  private expandHot(): void {
    const { row } = this.context.store.state;
    const last = this.openHot(row >= 0 && row < this.tree.length ? row : this.tree.length);
    this.list();
    if (last < this.tree.length) selectRow(this.context, last);
  }

  private expandAll(): void {
    const { row } = this.context.store.state;
    if (row < 0 || row >= this.tree.length) this.open.fill(1);
    else {
      const stack = [row];
      while (stack.length > 0) {
        const at = stack.pop()!;
        this.open[at] = 1;
        for (const child of this.childrenOf(at)) stack.push(child);
      }
    }
    this.list();
  }
  private collapse(): void {
    this.open.fill(0);
    this.list();
  }

  /** Shows the instructions of a symbol of tprof. */
  private annotate(row: number): void {
    const { model } = this.context;
    if (!model.header.annotations) return;
    const above = row >= 0 ? this.tree.parent[row]! : NO_ROW;
    const text = model.instructionsOf(row) ??
      (above !== NO_ROW ? model.instructionsOf(above) : undefined);
    this.listing.hidden = text === undefined;
    this.listing.textContent = text ?? "";
  }
}

