// Draws the flame graph: a tree as rectangles on a canvas. Only rows are visited that are at least
// half a pixel wide and not above or below what is visible.

import { oncePerFrame } from "./dom.js";
import type { Paint, Theme } from "./colours.js";
import { Hits } from "./hits.js";
import type { Names } from "./names.js";
import type { Order } from "./order.js";
import { Glyphs, Raster } from "./raster.js";
import { NO_ROW, type Tree } from "./tree.js";

export const LEVEL = 18;     // height of a level in CSS pixels
const SMALLEST = 0.5;        // width of the narrowest rectangle in device pixels

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

/** The visible part of the total, and the first level's offset in CSS pixels. */
export interface Viewport {
  left: number;
  right: number;
  top: number;
}

declare global {
  interface Window { jprofDraws?: number[] }
}

export class Flame {
  view: Viewport = { left: 0, right: 1, top: 0 };
  scene: Scene | null = null;
  levels = 0;                          // drawn, for the limit of scrolling
  private readonly raster = new Raster();
  private readonly context: CanvasRenderingContext2D;
  private readonly hits = new Hits();
  private glyphs: Glyphs | null = null;
  private ratio = 1;
  readonly request = oncePerFrame(() => this.draw());
  private stackRow = new Uint32Array(1024);
  private stackLeft = new Float64Array(1024);
  private stackLevel = new Int32Array(1024);
  private stacked = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { willReadFrequently: true, alpha: false })!;
  }

  get firstLevel(): number {
    if (this.scene?.hidesRoots) return -1;
    return this.scene?.title ? 1 : 0;
  }

  draw(): void {
    const { canvas, scene } = this;
    if (!scene || canvas.clientWidth === 0) return;
    const begin = performance.now();
    this.fit();
    this.raster.clear(scene.theme.background);
    this.hits.count = 0;
    this.levels = 0;
    this.drawRows(scene);
    this.raster.show(this.context);
    window.jprofDraws?.push(performance.now() - begin);
  }

  private fit(): void {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.canvas.clientWidth * ratio),
                             Math.round(this.canvas.clientHeight * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.raster.resize(width, height);
    if (!this.glyphs || ratio !== this.ratio) {
      this.ratio = ratio;
      this.glyphs = new Glyphs(Math.round(11 * ratio), Math.round(LEVEL * ratio) - 1);
    }
  }

  private drawRows(scene: Scene): void {
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

  private topOf(level: number): number {
    const { clientHeight } = this.canvas;
    const y = this.scene!.up ? clientHeight - (level + 1) * LEVEL + this.view.top
                             : level * LEVEL - this.view.top;
    return Math.round(y * this.ratio);
  }

  private drawRest(scene: Scene, from: number, to: number, origin: number, scale: number,
                   level: number): void {
    const [left, right] = [(from - origin) * scale, (to - origin) * scale];
    if (right - left < SMALLEST || right <= 0 || left >= this.raster.width) return;
    const top = this.topOf(level);
    this.raster.fill(Math.round(left), top, Math.round(right), top + this.glyphs!.height,
                     scene.theme.rest);
  }

  private drawRow(scene: Scene, row: number, from: number, to: number, level: number): void {
    const { raster, glyphs } = this;
    const top = this.topOf(level);
    const height = glyphs!.height;
    this.levels = Math.max(this.levels, level + 1);
    if (top + height <= 0 || top >= raster.height) return;
    this.hits.add(from, to, level, row);
    const left = Math.max(0, Math.round(from));
    let right = Math.min(raster.width, Math.round(to));
    if (right - left > 2) --right;  // the gap to the next one
    else if (right === left) ++right;
    const { theme, paint, tree, names } = scene;
    const isTop = row === tree.length;
    const method = isTop ? -1 : tree.method[row]!;
    const matches = !isTop && scene.matches !== null && scene.matches[method] === 1;
    let colour = theme.rest;
    if (matches) colour = theme.match;
    else if (!isTop) colour = (scene.matches ? paint.dim : paint.fill)[paint.slot(row)]!;
    raster.fill(left, top, right, top + height, colour);
    this.label(glyphs!, isTop ? scene.title : names.of(method), isTop ? "" : names.short(method),
               left, right, top);
    if (isTop) return;
    if (row === scene.selectedRow) {
      raster.frame(left, top, right, top + height, Math.round(2 * this.ratio), theme.selected);
    } else if (method === scene.selectedMethod && right - left > 3) {
      raster.frame(left, top, right, top + height, Math.round(this.ratio), theme.selected);
    }
  }

  private label(glyphs: Glyphs, full: string, short: string, left: number, right: number,
                top: number): void {
    const padding = Math.round(4 * this.ratio);
    const letters = Math.floor((right - left - 2 * padding) / glyphs.width);
    if (letters < 3) return;
    let text = full.length <= letters || short === "" ? full : short;
    if (text.length > letters) text = `${text.slice(0, letters - 1)}…`;
    this.raster.text(glyphs, text, left + padding, top, this.scene!.theme.text);
  }

  /** Returns the row at a place of the canvas, in CSS pixels. It is -1 if there is none, and the
   * number of rows for the level above the roots. */
  rowAt(x: number, y: number): number {
    const up = this.scene?.up ?? false;
    const { clientHeight } = this.canvas;
    const level = Math.floor(((up ? clientHeight - y : y) + this.view.top) / LEVEL);
    return this.hits.find(x * this.ratio, level);
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
