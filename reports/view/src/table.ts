// Shows a table of which only the visible rows are elements. It scrolls over millions of rows:
// beyond the height that browsers allow, positions are scaled.

import { el, methodName, oncePerFrame } from "./dom.js";
import type { Parts } from "./model/names.js";

export interface Column {
  key: string;
  title: string;
  help: string;
  width: string;               // of CSS grid, in em: "6em", "minmax(20em, 1fr)"
  text(id: number): string;
  name?: boolean;              // aligned left; numbers are aligned right
  parts?(id: number): Parts;   // of the text, if it is the name of a method
  bar?(id: number): number;    // part of the cell's width that is filled, 0 to 1
  mark?(id: number): string;   // class of the cell
}

export interface TableEvents {
  sort(key: string): void;
  select(id: number): void;
  open?(id: number): void;                            // Enter, double click
  key?(key: string, id: number): boolean;             // returns true if handled
  describe?(id: number, row: HTMLElement, name: HTMLElement): void;  // level, folding
  click?(id: number, target: Element): boolean;       // returns true if handled
  menu?(id: number, event: MouseEvent): void;
}

const ROW = 22;                // height in CSS pixels, as in style.css
const HIGHEST = 8_000_000;     // of the scrolled content, in CSS pixels

let rowsMade = 0;              // for ids of elements

export class Table {
  readonly element: HTMLElement;
  private readonly head: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly content: HTMLElement;
  private readonly window: HTMLElement;
  private columns: Column[] = [];
  private ids: ArrayLike<number> = [];
  private sorted = { key: "", down: true };
  private pool: HTMLElement[] = [];
  private readonly request = oncePerFrame(() => this.draw());
  private first = 0;           // index of the first row of the pool
  private stale = true;        // texts or the order of rows have changed
  private selected = -1;

  constructor(role: "grid" | "treegrid", label: string, private readonly events: TableEvents) {
    this.head = el("div", { class: "thead", role: "row" });
    this.window = el("div", { class: "twindow", role: "presentation" });
    this.content = el("div", { class: "tcontent", role: "presentation" }, this.window);
    this.scroller = el("div", { class: "tbody", role: "rowgroup" }, this.content);
    this.element = el("div", { class: "table", role, "aria-label": label, tabindex: 0 },
                      el("div", { class: "theadbox", role: "rowgroup" }, this.head), this.scroller);
    this.scroller.addEventListener("scroll", () => {
      this.head.parentElement!.scrollLeft = this.scroller.scrollLeft;
      this.request();
    });
    this.scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.window.addEventListener("click", (event) => this.click(event));
    this.window.addEventListener("dblclick", (event) => {
      const id = this.idOf(event.target as Element);
      if (id >= 0) this.events.open?.(id);
    });
    this.element.addEventListener("contextmenu", (event) => {
      const id = this.idOf(event.target as Element);
      const shown = id >= 0 ? id : this.selected;
      if (shown >= 0) this.events.menu?.(shown, event);
    });
    new ResizeObserver(() => this.request()).observe(this.scroller);
  }

  setColumns(columns: Column[]): void {
    this.columns = columns;
    const widths = columns.map((one) => one.width);
    const sum = widths.reduce((all, width) => all + Number(/[\d.]+/.exec(width)![0]), 0);
    this.element.style.setProperty("--columns", widths.join(" "));
    this.element.style.setProperty("--least", `${sum + 1.2}em`);
    this.pool = [];
    this.window.replaceChildren();
    this.drawHead();
    this.redraw();
  }
  setSorted(key: string, down: boolean): void {
    this.sorted = { key, down };
    this.drawHead();
  }
  setRows(ids: ArrayLike<number>): void {
    this.ids = ids;
    this.element.setAttribute("aria-rowcount", String(ids.length + 1));
    this.content.style.height = `${Math.min(HIGHEST, ids.length * ROW)}px`;
    this.redraw();
  }
  /** Returns what the columns mean, for the tab's legend. */
  get meanings(): [title: string, meaning: string][] {
    return this.columns.map(({ title, help }) => [title, help]);
  }

  /** Selects a row, or none for -1. If `reveal`, scrolls to it. */
  select(id: number, reveal = true): void {
    this.selected = id;
    if (reveal && id >= 0) this.reveal(this.indexOf(id));
    this.request();
  }

  private indexOf(id: number): number {
    return Array.prototype.indexOf.call(this.ids, id);
  }

  /** Returns the height of all rows in CSS pixels, relative to the height that is scrolled. */
  private get scale(): number {
    const { clientHeight } = this.scroller;
    const all = this.ids.length * ROW - clientHeight;
    const scrolled = Math.min(HIGHEST, this.ids.length * ROW) - clientHeight;
    return scrolled > 0 ? all / scrolled : 1;
  }

  private reveal(index: number): void {
    if (index < 0) return;
    const { scroller, scale } = this;
    const top = scroller.scrollTop * scale;
    const height = scroller.clientHeight - ROW;
    if (index * ROW < top) scroller.scrollTop = (index * ROW) / scale;
    else if (index * ROW > top + height) scroller.scrollTop = (index * ROW - height) / scale;
  }

  private wheel(event: WheelEvent): void {
    if (this.scale <= 1.001 || event.shiftKey || event.deltaX !== 0) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * ROW : event.deltaY;
    this.scroller.scrollTop += Math.sign(pixels) * Math.max(1, Math.abs(pixels) / this.scale);
  }

  private redraw(): void {
    this.stale = true;
    this.request();
  }
  draw(): void {
    const { scroller, scale } = this;
    const height = scroller.clientHeight;
    if (height === 0) return;
    const top = scroller.scrollTop * scale;
    const first = Math.max(0, Math.floor(top / ROW));
    const count = Math.max(0, Math.min(this.ids.length - first, Math.ceil(height / ROW) + 1));
    this.window.style.transform = `translateY(${scroller.scrollTop - (top - first * ROW)}px)`;
    while (this.pool.length < count) this.addRow();
    this.rotate(first);
    for (let i = 0; i < this.pool.length; ++i) {
      const row = this.pool[i]!;
      row.hidden = i >= count;
      if (i < count) this.show(row, first + i);
    }
    this.stale = false;
    if (this.selected < 0) this.element.removeAttribute("aria-activedescendant");
  }

  /** Moves elements so that rows that stay visible keep theirs. */
  private rotate(first: number): void {
    const step = first - this.first;
    this.first = first;
    if (step === 0 || Math.abs(step) >= this.pool.length) return;
    if (step > 0) {
      const moved = this.pool.splice(0, step);
      this.pool.push(...moved);
      this.window.append(...moved);
    } else {
      const moved = this.pool.splice(step);
      this.pool.unshift(...moved);
      this.window.prepend(...moved);
    }
  }

  private addRow(): void {
    const row = el("div", { class: "trow", role: "row", id: `row-${++rowsMade}` });
    for (const column of this.columns) {
      row.append(el("div", { role: "gridcell", class: column.name ? "name" : "number" }));
    }
    this.pool.push(row);
    this.window.append(row);
  }

  private show(row: HTMLElement, index: number): void {
    const id = this.ids[index]!;
    const selected = id === this.selected;
    row.setAttribute("aria-selected", String(selected));
    if (selected) this.element.setAttribute("aria-activedescendant", row.id);
    if (!this.stale && row.dataset.id === String(id)) return;
    row.dataset.id = String(id);
    row.setAttribute("aria-rowindex", String(index + 2));
    this.fill(row, id);
  }

  private fill(row: HTMLElement, id: number): void {
    this.columns.forEach((column, i) => {
      const cell = row.children[i] as HTMLElement;
      const text = column.text(id);
      if (column.name) {
        cell.replaceChildren(column.parts ? methodName(column.parts(id)) : text);
        this.events.describe?.(id, row, cell);
      } else if (cell.textContent !== text) cell.textContent = text;
      if (column.name) cell.title = text;
      if (column.bar) cell.style.setProperty("--part", `${(100 * column.bar(id)).toFixed(1)}%`);
      const mark = column.mark?.(id) ?? "";
      const kind = column.parts ? "name parts" : column.name ? "name" : "number";
      cell.className = `${kind}${column.bar ? " bar" : ""} ${mark}`;
    });
  }

  private drawHead(): void {
    this.head.replaceChildren(...this.columns.map((column) => {
      const sorted = column.key === this.sorted.key;
      const arrow = sorted ? (this.sorted.down ? " ▾" : " ▴") : "";
      const sort = el("button", { type: "button", title: column.help, tabindex: -1,
                                  "data-key": column.key }, column.title + arrow);
      sort.addEventListener("click", () => this.events.sort(column.key));
      return el("div", {
        role: "columnheader", class: column.name ? "name" : "number",
        "aria-sort": sorted ? (this.sorted.down ? "descending" : "ascending") : "none",
      }, sort);
    }));
  }

  private idOf(target: Element): number {
    const row = target.closest<HTMLElement>(".trow");
    return row?.dataset.id === undefined ? -1 : Number(row.dataset.id);
  }

  private click(event: MouseEvent): void {
    const target = event.target as Element;
    const id = this.idOf(target);
    if (id < 0) return;
    if (!this.events.click?.(id, target)) this.choose(id);
  }
  private choose(id: number): void {
    this.select(id);
    this.events.select(id);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.selected < 0 ? -1 : this.indexOf(this.selected);
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 1);
    const moves: Record<string, number> = {
      ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0,
      End: this.ids.length - 1,
    };
    const to = moves[event.key];
    let handled = true;
    if (to !== undefined && this.ids.length > 0) {
      this.choose(this.ids[Math.max(0, Math.min(this.ids.length - 1, to))]!);
    } else if (event.key === "Enter" && this.selected >= 0) this.events.open?.(this.selected);
    else handled = this.selected >= 0 && (this.events.key?.(event.key, this.selected) ?? false);
    if (handled) {
      event.preventDefault();
      event.stopPropagation();
    }
  }
}
