// Shows what holds the memory of a heap as nested rectangles: the tree of dominators.

import { byClass, byPackage, paintByGroup, themeOf, type Paint } from "../colours.js";
import { describeRow } from "../details.js";
import { button, el, select } from "../dom.js";
import { formatValue } from "../model/format.js";
import { Order } from "../model/order.js";
import type { Changed } from "../model/state.js";
import { NO_ROW, type Tree } from "../model/tree.js";
import { Treemap } from "../treemap.js";
import { DATA_KEYS, hasAny, selectRow, type Context, type Legend, type View } from "../view.js";

const HINT = "Click an object to see what it holds, Escape to go back, ? for help.";

export class TreemapView implements View {
  private readonly canvas = el("canvas", { tabindex: 0, role: "img" });
  private readonly map = new Treemap(this.canvas);
  private readonly crumbs = el("nav", { class: "crumbs", "aria-label": "Objects around this one" });
  private readonly details = el("div", { class: "details", role: "status" });
  private readonly colourKey = el("div", { class: "legend", "aria-label": "Colours" });
  private order: Order | null = null;
  private paint!: Paint;

  constructor(private readonly context: Context, host: HTMLElement) {
    host.append(el("div", { class: "tools" },
      select("colour", [["class", "class"], ["package", "package"]], this.colour,
             (colour) => context.store.set({ colour: colour as "class" | "package" })),
      button("Show all", "The whole heap (0)", () => this.zoom(NO_ROW)),
      button("Back", "To the object that holds this one (Escape)", () => { this.back(); }),
      el("span", { class: "soft" }, context.model.leastText), this.colourKey),
      this.crumbs, el("div", { class: "canvases" }, this.canvas), this.details);
    const { canvas, map } = this;
    canvas.addEventListener("pointermove", (event) => this.hover(map.rowAt(event.offsetX, event.offsetY)));
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("click", (event) => this.open(map.rowAt(event.offsetX, event.offsetY)));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  focus(): void {
    this.canvas.focus();
  }
  back(): boolean {
    const { zoom } = this.context.store.state;
    if (zoom < 0 || zoom >= this.tree.length) return false;
    this.zoom(this.tree.parent[zoom]!);
    return true;
  }

  legend(): Legend {
    return {
      about: [`Each rectangle is an object, or several of one class with their number. Its area is ` +
        `its ${this.context.model.measure.label} with all that only it holds: all of that would be ` +
        "garbage without it. What is in a rectangle is what the object holds, and what stays free " +
        "in it is the object itself. " + this.context.model.leastText + " The rest is in \"others\", " +
        `as is what is below level ${this.context.model.header.heap!.levels}.`],
      columns: [], colours: this.paint.legend,
    };
  }

  private get colour(): "class" | "package" {
    return this.context.store.state.colour === "package" ? "package" : "class";
  }
  private get tree(): Tree {
    return this.context.model.tree;
  }
  /** Returns the row that fills the map, or the number of rows for all of them. */
  private get root(): number {
    const { zoom } = this.context.store.state;
    return zoom >= 0 && zoom < this.tree.length ? zoom : this.tree.length;
  }

  update(changed: Changed | null): void {
    const { model } = this.context;
    if (hasAny(changed, [...DATA_KEYS, "theme", "colour"])) {
      const width = model.measure.width(this.tree);
      if (this.order?.tree !== this.tree || this.order.width !== width) {
        this.order = new Order(this.tree, width, true);
      }
      const groups = this.colour === "class" ? byClass : byPackage;
      this.paint = paintByGroup(this.tree, groups(this.tree, model.names),
                                model.measure.self(this.tree), this.context.isDark());
      this.colourKey.replaceChildren(...this.paint.legend.map((one) =>
        el("span", {}, el("i", { style: `background:${one.colour}` }), one.text)));
    }
    this.setScene();
    this.drawCrumbs();
    this.describe(this.context.store.state.row);
  }

  private setScene(): void {
    const { model, store } = this.context;
    const { measure } = model;
    const width = measure.width(this.tree);
    this.map.scene = {
      tree: this.tree, order: this.order!, root: this.root, paint: this.paint,
      theme: themeOf(this.context.isDark()), matches: model.matches?.methods ?? null,
      selected: store.state.row,
      titleOf: (row) => [this.nameOf(row), formatValue(width[row]!, measure.unit, measure.whole)],
    };
    this.canvas.setAttribute("aria-label",
      `Map of ${measure.label}: ${this.root < this.tree.length ? this.nameOf(this.root) : "all"}`);
    this.map.request();
  }

  /** Returns the name of a row without its package. */
  private nameOf(row: number): string {
    const [before, main, after] = this.context.model.rowParts(this.tree, row);
    return `${before.startsWith("class ") ? "class " : ""}${main}${after}`;
  }

  private drawCrumbs(): void {
    const { root, tree } = this;
    const path = root < tree.length ? tree.path(root) : [];
    const shown = path.slice(-8);
    this.crumbs.hidden = path.length === 0;
    this.crumbs.replaceChildren(
      button(path.length > shown.length ? `all … (${path.length - shown.length})` : "all",
             "The whole heap", () => this.zoom(NO_ROW)),
      ...shown.map((row) => button(this.nameOf(row), this.context.model.rowParts(tree, row).join(""),
                                   () => this.zoom(row))));
  }

  private describe(row: number): void {
    const isRow = row >= 0 && row < this.tree.length;
    this.details.replaceChildren(...isRow ? describeRow(this.context.model, this.tree, row)
                                          : [el("span", { class: "soft" }, HINT)]);
  }

  private hover(row: number): void {
    this.map.hover = row;
    this.canvas.style.cursor = row >= 0 ? "pointer" : "default";
    this.canvas.title = row >= 0 ? this.context.model.rowParts(this.tree, row).join("") : "";
    this.describe(row >= 0 ? row : this.context.store.state.row);
  }

  private zoom(row: number): void {
    this.context.store.set({ zoom: row === NO_ROW ? -1 : row });
  }
  /** Selects a row, and fills the map with it or, if it holds nothing, with what holds it. */
  private open(row: number): void {
    if (row < 0) return;
    const { start } = this.tree.children;
    selectRow(this.context, row);
    this.zoom(start[row + 1]! > start[row]! ? row : this.tree.parent[row]!);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row } = this.context.store.state;
    const selected = row >= 0 && row < this.tree.length ? row : -1;
    const first = () => this.order!.firstChild(this.root);
    const next: Record<string, () => number> = {
      ArrowRight: () => (selected < 0 ? first() : this.order!.sibling(selected, 1)),
      ArrowLeft: () => (selected < 0 ? first() : this.order!.sibling(selected, -1)),
      ArrowDown: () => (selected < 0 ? first() : this.order!.firstChild(selected)),
      ArrowUp: () => (selected < 0 ? first() : this.tree.parent[selected]!),
    };
    const move = next[event.key];
    if (move) this.selectAndShow(move());
    else if (event.key === "Enter") this.open(selected);
    else if (event.key === "0" || event.key === "Home") this.zoom(NO_ROW);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Selects a row. If it is outside of the map, fills the map with the row above it. */
  private selectAndShow(row: number): void {
    if (row === NO_ROW) return;
    selectRow(this.context, row);
    const path = this.tree.path(row);
    if (this.root < this.tree.length && !path.slice(0, -1).includes(this.root)) {
      this.zoom(this.tree.parent[row]!);
    }
  }
}
