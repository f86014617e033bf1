// Draws the flame graph: a tree as rectangles on a canvas. Only rows are visited that are at least
// half a pixel wide and not above or below what is visible.

import type { Paint, Theme } from "./colours.js";
import { LevelCanvas, SMALLEST } from "./level_canvas.js";
import type { Names } from "./model/names.js";
import type { Order } from "./model/order.js";
import { LEVEL, type Viewport } from "./pan_zoom.js";
import { NO_ROW, type Tree } from "./model/tree.js";

export interface Scene {
  tree: Tree;
  order: Order;
  names: Names;
  paint: Paint;
  theme: Theme;
  total: number;                 // the sum of the roots' widths
  title: string;                 // of the level above the roots, or "" without such a level
  hidesRoots: boolean;           // another pane shows them
  up: boolean;
  matches: Uint8Array | null;    // by method
  selectedRow: number;
  selectedMethod: number;
}

export class Flame extends LevelCanvas {
  scene: Scene | null = null;
  private stackRow = new Uint32Array(1024);
  private stackLeft = new Float64Array(1024);
  private stackLevel = new Int32Array(1024);
  private stacked = 0;

  get growsUp(): boolean {
    return this.scene?.up ?? false;
  }
  get firstLevel(): number {
    if (this.scene?.hidesRoots) return -1;
    return this.scene?.title ? 1 : 0;
  }

  protected get theme(): Theme | null {
    return this.scene?.theme ?? null;
  }

  protected drawLevels(): void {
    const scene = this.scene!;
    const { order, tree, total } = scene;
    const { raster, view } = this;
    const scale = raster.width / ((view.right - view.left) * total || 1);
    const origin = view.left * total;
    const bottom = Math.ceil((view.top + this.canvas.clientHeight) / LEVEL);
    const { list, start, width } = order;
    this.push(tree.length, 0, this.firstLevel - 1);
    while (this.stacked > 0) {
      const row = this.stackRow[--this.stacked]!;
      const left = this.stackLeft[this.stacked]!;
      const level = this.stackLevel[this.stacked]!;
      const size = row === tree.length ? total : width[row]!;
      const x = (left - origin) * scale;
      if (level >= 0) this.drawRow(scene, row, x, x + size * scale, level);
      if (level + 1 >= bottom) continue;
      order.prepare(row);
      let at = left;
      let rest = left;   // where a run of rows that are too narrow begins
      for (let c = start[row]!; c < start[row + 1]!; ++c) {
        const child = list[c]!;
        const part = width[child]!;
        if (part * scale < SMALLEST) {
          if (order.heavy) {
            at = left + order.inner[row]!;  // the next ones are narrower still
            break;
          }
        } else {
          if (at > rest) this.drawRest(scene, rest, at, origin, scale, level + 1);
          const begin = (at - origin) * scale;
          if (begin < raster.width && begin + part * scale > 0) this.push(child, at, level + 1);
          rest = at + part;
        }
        at += part;
      }
      if (at > rest) this.drawRest(scene, rest, at, origin, scale, level + 1);
    }
  }

  private push(row: number, left: number, level: number): void {
    if (this.stacked === this.stackRow.length) {
      const grown = <T extends Uint32Array | Float64Array | Int32Array>(to: T, from: T): T => {
        to.set(from);
        return to;
      };
      const size = 2 * this.stacked;
      this.stackRow = grown(new Uint32Array(size), this.stackRow);
      this.stackLeft = grown(new Float64Array(size), this.stackLeft);
      this.stackLevel = grown(new Int32Array(size), this.stackLevel);
    }
    this.stackRow[this.stacked] = row;
    this.stackLeft[this.stacked] = left;
    this.stackLevel[this.stacked++] = level;
  }

  private drawRest(scene: Scene, from: number, to: number, origin: number, scale: number,
                   level: number): void {
    const [left, right] = [(from - origin) * scale, (to - origin) * scale];
    if (right - left < SMALLEST || right <= 0 || left >= this.raster.width) return;
    const top = this.topOf(level);
    this.raster.fill(Math.round(left), top, Math.round(right), top + this.height,
                     scene.theme.rest);
  }

  private drawRow(scene: Scene, row: number, from: number, to: number, level: number): void {
    const { theme, paint, tree, names } = scene;
    const isTop = row === tree.length;
    const method = isTop ? -1 : tree.method[row]!;
    const matches = !isTop && scene.matches !== null && scene.matches[method] === 1;
    let colour = theme.rest;
    if (matches) colour = theme.match;
    else if (!isTop) colour = (scene.matches ? paint.dim : paint.fill)[paint.slot(row)]!;
    const box = this.box(from, to, level, row, colour);
    if (!box) return;
    this.label(isTop ? scene.title : names.shown(method), isTop ? "" : names.short(method), box,
               theme.text);
    if (isTop) return;
    if (row === scene.selectedRow) this.frame(box, 2, theme.selected);
    else if (method === scene.selectedMethod && box.right - box.left > 3) {
      this.frame(box, 1, theme.selected);
    }
  }

  levelOf(row: number): number {
    return this.scene!.tree.depth[row]! + this.firstLevel;
  }

  /** Returns the viewport that a row fills, or everything for NO_ROW. */
  viewOf(row: number): Viewport {
    const { order, total } = this.scene!;
    if (row === NO_ROW || row >= order.tree.length || !(total > 0)) {
      return { left: 0, right: 1, top: 0 };
    }
    const left = order.left(row);
    const below = LEVEL * Math.max(0, this.levelOf(row) - 4);
    const fits = LEVEL * (this.levelOf(row) + 6) < this.canvas.clientHeight;
    return { left: left / total, right: (left + order.width[row]!) / total, top: fits ? 0 : below };
  }
}
