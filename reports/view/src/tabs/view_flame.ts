// Shows the flame graph: calls, callers, or one method between its callers and callees.

import {
  byModule, byPackage, hasOneColour, paintByDifference, paintByGroup, paintByType, themeOf, type Paint,
} from "../colours.js";
import { describeRow } from "../details.js";
import { button, el, select } from "../dom.js";
import { Flame, type Scene } from "../flame.js";
import { FlameInput } from "../flame_input.js";
import { formatValue } from "../model/format.js";
import { menuButton, openMenu } from "../menu.js";
import { oldOf } from "../model/metrics.js";
import { Order } from "../model/order.js";
import type { Changed, State } from "../model/state.js";
import { NO_ROW, type Tree } from "../model/tree.js";
import { DATA_KEYS, hasAny, selectRow, type Context, type Legend, type View } from "../view.js";

class Pane {
  readonly canvas = el("canvas", { tabindex: 0, role: "img" });
  readonly flame = new Flame(this.canvas);
  readonly input: FlameInput;
  private order: Order | null = null;

  constructor(owner: FlameView, readonly isMain: boolean) {
    this.input = new FlameInput(this.flame, {
      hover: (row) => owner.hover(this, row),
      select: (row) => owner.select(this, row),
      zoomed: (row) => owner.zoomed(this, row),
      open: (row) => owner.open(this, row),
    });
    this.canvas.addEventListener("contextmenu", (event) => owner.menu(this, event));
    new ResizeObserver(() => this.flame.request()).observe(this.canvas);
  }

  orderOf(tree: Tree, width: Float64Array, heavy: boolean): Order {
    const same = this.order?.tree === tree && this.order.width === width &&
        this.order.heavy === heavy;
    return same ? this.order! : this.order = new Order(tree, width, heavy);
  }
}

export class FlameView implements View {
  private readonly main: Pane;
  private readonly upper: Pane;
  private readonly details = el("div", { class: "details", role: "status" });
  private readonly crumbs = el("nav", { class: "crumbs", "aria-label": "Zoomed path" });
  private readonly colourKey = el("div", { class: "legend", "aria-label": "Colours" });
  private readonly tools = el("div", { class: "tools" });
  private readonly hint = el("p", { class: "hint" });

  constructor(private readonly context: Context, private readonly host: HTMLElement) {
    this.main = new Pane(this, true);
    this.upper = new Pane(this, false);
    this.upper.canvas.classList.add("upper");
    host.append(this.tools, this.crumbs, this.hint,
                el("div", { class: "canvases" }, this.upper.canvas, this.main.canvas),
                this.details);
  }

  focus(): void {
    this.main.canvas.focus();
  }
  back(): boolean {
    return this.main.input.back();
  }

  legend(): Legend {
    const { model } = this.context;
    return {
      about: [`Each rectangle is a method in one calling context. Its width is its ${
        model.measure.label} with all that it called; what it called is ${
        this.context.store.state.grow === "up" ? "above" : "below"} it. Grey rectangles without ` +
        "a name are several that are too narrow. A value below 0 has no width.",
        "show: calls, or callers (the methods by their own cost, below each its callers), or one " +
        "method between its callers and what it calls.",
        "A right click opens a menu: collapse a package or module into one frame, hide a method."],
      columns: [], colours: this.paintOf(this.mainTree()).legend,
    };
  }

  update(changed: Changed | null): void {
    const keys = [...DATA_KEYS, "layout", "order", "grow", "colour", "theme"];
    const layoutKeys = [...DATA_KEYS, "layout", "order"];
    const { state } = this.context.store;
    const isSandwich = state.layout === "sandwich";
    const rebuilt = hasAny(changed, layoutKeys) || (isSandwich && hasAny(changed, ["method"]));
    if (hasAny(changed, keys)) this.drawTools();
    this.host.classList.toggle("sandwich", isSandwich);
    this.hint.hidden = !(isSandwich && state.method < 0);
    this.hint.textContent = "Select a method: its callers are above it, its callees below.";
    this.setScene(this.main, this.mainTree(), state, rebuilt);
    if (isSandwich && state.method >= 0) {
      this.setScene(this.upper, this.context.model.callersOf(state.method), state, rebuilt);
    }
    if (!rebuilt && changed?.has("zoom") && state.zoom !== this.zoomShown) {
      this.main.input.zoom(state.zoom < 0 ? NO_ROW : state.zoom);
    }
    this.drawCrumbs();
    this.showDetails(this.main, this.mainSelection());
  }
  private zoomShown = -1;

  private mainTree(): Tree {
    const { model, store } = this.context;
    const { layout, method } = store.state;
    if (layout === "callers") return model.inverted;
    return layout === "sandwich" && method >= 0 ? model.calleesOf(method) : model.tree;
  }
  /** Returns the selected row. Rows of other trees than the profile's are selected by their method
   * only. */
  private mainSelection(): number {
    const { layout, row } = this.context.store.state;
    return layout === "calls" ? row : this.ownRow;
  }
  private ownRow = -1;

  private setScene(pane: Pane, tree: Tree, state: Readonly<State>, rebuilt: boolean): void {
    const { model } = this.context;
    const { measure } = model;
    const width = measure.width(tree);
    const total = tree.sumOfRoots(width);
    // Widths are at least 0, but the printed total is that of the tables.
    const named = measure.quantity >= 0 ? tree.sumOfRoots(tree.cum(measure.quantity)) : total;
    const value = formatValue(named, measure.unit, measure.whole);
    const title = `all: ${value}${measure.unit ? "" : ` ${measure.label}`}` +
      (model.isFiltered ? ", filtered" : "");
    const scene: Scene = {
      tree, names: model.names, total, order: pane.orderOf(tree, width, state.order === "heavy"),
      paint: this.paintOf(tree), theme: themeOf(this.context.isDark()),
      title: state.layout === "sandwich" ? "" : title,
      hidesRoots: !pane.isMain,
      up: state.layout === "sandwich" ? !pane.isMain : state.grow === "up",
      matches: model.matches?.methods ?? null,
      selectedRow: pane.isMain ? this.mainSelection() : -1,
      selectedMethod: state.method,
    };
    pane.flame.scene = scene;
    pane.canvas.setAttribute("aria-label",
      `${scene.up ? "Flame graph" : "Icicle graph"} of ${measure.label}, ${tree.length} contexts`);
    if (rebuilt) {
      const zoom = pane.isMain && state.zoom >= 0 && state.zoom < tree.length ? state.zoom : NO_ROW;
      if (state.layout !== "calls") this.ownRow = -1;
      pane.input.reset(zoom);
      this.zoomShown = zoom === NO_ROW ? -1 : zoom;
    } else pane.flame.request();
  }

  private paintOf(tree: Tree): Paint {
    const { model, store } = this.context;
    const dark = this.context.isDark();
    const { layout } = store.state;
    const { quantity } = model;
    const before = oldOf(model.quantities, quantity);
    const { colour } = this;
    if (colour === "difference" && before >= 0) {
      return paintByDifference(tree, before, quantity, model.quantities, dark);
    }
    if (colour !== "package") return paintByType(tree, dark);
    const group = model.header.kind === "tprof" && layout === "calls" ? byModule : byPackage;
    return paintByGroup(tree, group(tree, model.names), model.measure.self(tree), dark);
  }

  /** Returns the choices of colours. The first is that of a page where the user chose none. */
  private get colours(): [State["colour"], string][] {
    const { kind } = this.context.model.header;
    if (kind === "compare") return [["difference", "difference"], ["package", "package"]];
    if (kind === "tprof") return [["package", "module"]];
    const choices: [State["colour"], string][] = [["type", "type"], ["package", "package"]];
    return hasOneColour(this.context.model.base) ? choices.reverse() : choices;
  }
  private get colour(): State["colour"] {
    const { colour } = this.context.store.state;
    return this.colours.find(([one]) => one === colour)?.[0] ?? this.colours[0]![0];
  }

  private drawTools(): void {
    const { store } = this.context;
    const { state } = store;
    const set = (key: keyof State) => (value: string) => store.set({ [key]: value });
    this.colourKey.replaceChildren(...this.paintOf(this.mainTree()).legend.map((one) =>
      el("span", {}, el("i", { style: `background:${one.colour}` }), one.text)));
    this.tools.replaceChildren(
      select("show", [["calls", "calls"], ["callers", "callers"],
                      ["sandwich", "one method"]], state.layout, set("layout")),
      select("order", [["heavy", "widest first"], ["file", "as called"]], state.order,
             set("order")),
      select("grow", [["down", "down"], ["up", "up"]], state.grow, set("grow")),
      select("colour", this.colours, this.colour, set("colour")),
      button("Show all", "Zoom out to everything (0)", () => this.main.input.zoom(NO_ROW)),
      button("Back", "To the zoom before (Escape)", () => { this.main.input.back(); }),
      this.colourKey);
  }

  private drawCrumbs(): void {
    const { model } = this.context;
    const tree = this.mainTree();
    const { zoom } = this.context.store.state;
    const path = zoom >= 0 && zoom < tree.length ? tree.path(zoom) : [];
    this.crumbs.hidden = path.length === 0;
    const shown = path.slice(-8);
    const links = shown.map((row) => button(model.names.short(tree.method[row]!),
      model.names.shown(tree.method[row]!), () => this.main.input.zoom(row)));
    this.crumbs.replaceChildren(
      button(path.length > shown.length ? `all … (${path.length - shown.length})` : "all",
             "Everything", () => this.main.input.zoom(NO_ROW)), ...links);
  }

  private showDetails(pane: Pane, row: number): void {
    const tree = pane.flame.scene?.tree;
    if (!tree || row < 0 || row >= tree.length) {
      this.details.replaceChildren(el("span", { class: "soft" },
        "Click a row to zoom in, Escape to go back, right click for more, ? for help."));
      return;
    }
    this.details.replaceChildren(...describeRow(this.context.model, tree, row));
    if (row === this.mainSelection()) {
      this.details.append(menuButton(this.context, tree.method[row]!));
    }
  }

  hover(pane: Pane, row: number): void {
    const tree = pane.flame.scene?.tree;
    const found = tree && row >= 0 && row < tree.length ? row : -1;
    pane.canvas.style.cursor = found >= 0 ? "pointer" : "default";
    pane.canvas.title = found >= 0 ? this.context.model.names.shown(tree!.method[found]!) : "";
    if (found >= 0) this.showDetails(pane, found);
    else this.showDetails(this.main, this.mainSelection());
  }

  select(pane: Pane, row: number): void {
    const { layout } = this.context.store.state;
    if (layout === "calls") {
      selectRow(this.context, row);
      return;
    }
    const { scene } = pane.flame;
    if (!scene) return;
    // In a sandwich, a click zooms, and the method in its middle stays.
    if (pane.isMain) this.ownRow = row;
    if (layout === "callers") this.context.store.set({ method: scene.tree.method[row]! });
    scene.selectedRow = row;
    pane.flame.request();
    this.showDetails(pane, row);
  }

  /** Opens the menu of the row below the mouse or, for the menu key, of the selected one. */
  menu(pane: Pane, event: MouseEvent): void {
    const tree = pane.flame.scene?.tree;
    const row = event.button === 2 ? pane.flame.itemAt(event.offsetX, event.offsetY)
                                   : this.mainSelection();
    if (tree && row >= 0 && row < tree.length) openMenu(this.context, event, tree.method[row]!);
  }

  open(pane: Pane, row: number): void {
    const tree = pane.flame.scene!.tree;
    this.context.store.set({ layout: "sandwich", method: tree.code[row]!, zoom: -1 });
  }

  zoomed(pane: Pane, row: number): void {
    if (!pane.isMain) return;
    this.zoomShown = row === NO_ROW ? -1 : row;
    this.context.store.set({ zoom: this.zoomShown });
  }
}
