// Handles mouse, wheel and keys of a flame graph, and moves it between two viewports.

import { LEVEL, type Flame, type Viewport } from "./flame.js";
import { NO_ROW } from "./tree.js";

export interface FlameEvents {
  hover(row: number): void;                // -1 for none
  select(row: number): void;
  zoomed(row: number): void;               // NO_ROW for all
  open(row: number): void;                 // for Enter on the zoomed row: show its method
}

const MOVEMENT_MS = 140;
const NARROWEST = 1e-9;

export class FlameInput {
  private readonly history: { view: Viewport; row: number }[] = [];
  private zoomRow = NO_ROW;
  private pressed: { x: number; y: number; view: Viewport; moved: boolean } | null = null;
  private movement = 0;

  constructor(private readonly flame: Flame, private readonly events: FlameEvents) {
    const { canvas } = flame;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => { this.pressed = null; });
    canvas.addEventListener("pointerleave", () => events.hover(-1));
    canvas.addEventListener("dblclick", () => this.zoom(NO_ROW));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Shows a row, or everything, without a movement. Must be called after another tree was set. */
  reset(row = NO_ROW): void {
    this.history.length = 0;
    this.zoomRow = row;
    cancelAnimationFrame(this.movement);
    this.flame.view = this.flame.viewOf(row);
    this.flame.request();
  }

  zoom(row: number): void {
    if (row === this.zoomRow && row !== NO_ROW && this.isAt(row)) return;
    this.history.push({ view: this.flame.view, row: this.zoomRow });
    this.zoomRow = row;
    this.moveTo(this.flame.viewOf(row));
    this.events.zoomed(row);
  }
  private isAt(row: number): boolean {
    const view = this.flame.viewOf(row);
    return Math.abs(view.left - this.flame.view.left) < 1e-12 &&
        Math.abs(view.right - this.flame.view.right) < 1e-12;
  }

  back(): boolean {
    const last = this.history.pop();
    if (!last) return false;
    this.zoomRow = last.row;
    this.moveTo(last.view);
    this.events.zoomed(last.row);
    return true;
  }

  private moveTo(to: Viewport): void {
    cancelAnimationFrame(this.movement);
    const { flame } = this;
    const from = flame.view;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      flame.view = to;
      flame.request();
      return;
    }
    const begin = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, Math.max(0, (now - begin) / MOVEMENT_MS));
      const eased = 1 - (1 - part) ** 3;
      const between = (a: number, b: number) => (part === 1 ? b : a + (b - a) * eased);
      flame.view = { left: between(from.left, to.left), right: between(from.right, to.right),
                     top: between(from.top, to.top) };
      flame.draw();
      if (part < 1) this.movement = requestAnimationFrame(step);
    };
    this.movement = requestAnimationFrame(step);
  }

  /** Zooms by a factor. `at` is the part of the width that stays in place. */
  zoomBy(factor: number, at = 0.5): void {
    const { left, right, top } = this.flame.view;
    const size = Math.min(1, Math.max(NARROWEST, (right - left) * factor));
    this.show(left + (right - left - size) * at, size, top);
  }
  panBy(part: number, levels: number): void {
    const { left, right, top } = this.flame.view;
    this.show(left + part * (right - left), right - left, top + levels * LEVEL);
  }
  private show(left: number, size: number, top: number): void {
    cancelAnimationFrame(this.movement);
    const from = Math.max(0, Math.min(1 - size, left));
    const lowest = (this.flame.levels + 2) * LEVEL - this.flame.canvas.clientHeight;
    const limit = Math.max(0, lowest, Math.min(top, this.flame.view.top));
    this.flame.view = { left: from, right: from + size, top: Math.max(0, Math.min(limit, top)) };
    this.flame.request();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.flame.canvas.setPointerCapture(event.pointerId);
    this.pressed = { x: event.offsetX, y: event.offsetY, view: this.flame.view, moved: false };
  }
  private move(event: PointerEvent): void {
    const { pressed, flame } = this;
    if (!pressed) {
      this.events.hover(flame.rowAt(event.offsetX, event.offsetY));
      return;
    }
    const [x, y] = [event.offsetX - pressed.x, event.offsetY - pressed.y];
    pressed.moved ||= Math.hypot(x, y) > 4;
    if (!pressed.moved) return;
    const { left, right, top } = pressed.view;
    const size = right - left;
    this.show(left - (x / flame.canvas.clientWidth) * size, size, top + (flame.scene?.up ? y : -y));
  }
  private up(event: PointerEvent): void {
    const { pressed, flame } = this;
    this.pressed = null;
    if (!pressed || pressed.moved || !flame.scene) return;
    const row = flame.rowAt(event.offsetX, event.offsetY);
    if (row < 0) return;
    if (row === flame.scene.tree.length) {
      this.zoom(NO_ROW);
      return;
    }
    this.events.select(row);
    this.zoom(row);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LEVEL : 1;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    const width = this.flame.canvas.clientWidth;
    if (event.shiftKey) this.panBy(0, (this.flame.scene?.up ? -1 : 1) * (y || x) / LEVEL);
    else if (Math.abs(x) > Math.abs(y)) this.panBy(x / width, 0);
    else this.zoomBy(Math.exp(Math.max(-200, Math.min(200, y)) * 0.002), event.offsetX / width);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.act(event.key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  private act(key: string): boolean {
    const { scene } = this.flame;
    const page = Math.floor(this.flame.canvas.clientHeight / LEVEL) - 1;
    switch (key) {
      case "w": case "+": this.zoomBy(0.7); return true;
      case "s": case "-": this.zoomBy(1 / 0.7); return true;
      case "a": this.panBy(-0.15, 0); return true;
      case "d": this.panBy(0.15, 0); return true;
      case "PageDown": this.panBy(0, scene?.up ? -page : page); return true;
      case "PageUp": this.panBy(0, scene?.up ? page : -page); return true;
      case "Home": case "0": this.zoom(NO_ROW); return true;
      case "Escape": return this.back();
      case "ArrowDown": return this.step(scene?.up ? "out" : "in");
      case "ArrowUp": return this.step(scene?.up ? "in" : "out");
      case "ArrowLeft": return this.step("before");
      case "ArrowRight": return this.step("after");
      case "Enter": return this.enter();
      default: return false;
    }
  }

  private step(where: "in" | "out" | "before" | "after"): boolean {
    const { scene } = this.flame;
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
    const { view, canvas } = this.flame;
    const y = this.flame.levelOf(row) * LEVEL;
    if (y < view.top) this.panBy(0, (y - view.top) / LEVEL);
    const beyond = y + LEVEL - (view.top + canvas.clientHeight);
    if (beyond > 0) this.panBy(0, beyond / LEVEL);
  }

  private enter(): boolean {
    const row = this.flame.scene?.selectedRow ?? -1;
    if (row < 0) return false;
    if (row === this.zoomRow) this.events.open(row);
    else this.zoom(row);
    return true;
  }
}
