// Handles mouse, wheel and keys of a flame graph, and remembers what was zoomed before.

import type { Flame } from "./flame.js";
import { LEVEL, PanZoom, type Viewport } from "./pan_zoom.js";
import { NO_ROW } from "./model/tree.js";

export interface FlameEvents {
  hover(row: number): void;                // -1 for none
  select(row: number): void;
  zoomed(row: number): void;               // NO_ROW for all
  open(row: number): void;                 // for Enter on the zoomed row: show its method
}

export class FlameInput extends PanZoom<Flame> {
  private readonly history: { view: Viewport; row: number }[] = [];
  private zoomRow = NO_ROW;

  constructor(flame: Flame, private readonly events: FlameEvents) {
    super(flame);
  }

  /** Shows a row, or everything, without a movement. Must be called after another tree was set. */
  reset(row = NO_ROW): void {
    this.history.length = 0;
    this.zoomRow = row;
    this.jumpTo(this.shown.viewOf(row));
  }

  zoom(row: number): void {
    if (row === this.zoomRow && row !== NO_ROW && this.isAt(row)) return;
    this.history.push({ view: this.shown.view, row: this.zoomRow });
    this.zoomRow = row;
    this.moveTo(this.shown.viewOf(row));
    this.events.zoomed(row);
  }
  private isAt(row: number): boolean {
    const view = this.shown.viewOf(row);
    return Math.abs(view.left - this.shown.view.left) < 1e-12 &&
        Math.abs(view.right - this.shown.view.right) < 1e-12;
  }
  showAll(): void {
    this.zoom(NO_ROW);
  }

  back(): boolean {
    const last = this.history.pop();
    if (!last) return false;
    this.zoomRow = last.row;
    this.moveTo(last.view);
    this.events.zoomed(last.row);
    return true;
  }

  protected hover(x: number, y: number): void {
    this.events.hover(x < 0 ? -1 : this.shown.itemAt(x, y));
  }
  protected click(x: number, y: number): void {
    const { scene } = this.shown;
    const row = scene ? this.shown.itemAt(x, y) : -1;
    if (row < 0) return;
    if (row === scene!.tree.length) {
      this.showAll();
      return;
    }
    this.events.select(row);
    this.zoom(row);
  }

  protected override act(key: string): boolean {
    const { growsUp } = this.shown;
    switch (key) {
      case "Escape": return this.back();
      case "ArrowDown": return this.step(growsUp ? "out" : "in");
      case "ArrowUp": return this.step(growsUp ? "in" : "out");
      case "ArrowLeft": return this.step("before");
      case "ArrowRight": return this.step("after");
      case "Enter": return this.enter();
      default: return super.act(key);
    }
  }

  private step(where: "in" | "out" | "before" | "after"): boolean {
    const { scene } = this.shown;
    if (!scene) return false;
    const { selectedRow: row, order, tree } = scene;
    let next: number;
    if (row < 0 || row >= tree.length) next = order.firstChild(tree.length);
    else if (where === "in") next = order.firstChild(row);
    else if (where === "out") next = tree.parent[row]!;
    else next = order.sibling(row, where === "before" ? -1 : 1);
    if (next !== NO_ROW) {
      this.events.select(next);
      this.reveal(next);
    }
    return true;
  }

  /** Scrolls to the level of a row. */
  private reveal(row: number): void {
    const { view, canvas } = this.shown;
    const y = this.shown.levelOf(row) * LEVEL;
    if (y < view.top) this.panBy(0, (y - view.top) / LEVEL);
    const beyond = y + LEVEL - (view.top + canvas.clientHeight);
    if (beyond > 0) this.panBy(0, beyond / LEVEL);
  }

  private enter(): boolean {
    const row = this.shown.scene?.selectedRow ?? -1;
    if (row < 0) return false;
    if (row === this.zoomRow) this.events.open(row);
    else this.zoom(row);
    return true;
  }
}
