// Draws rectangles in levels on a canvas, with names in them, and finds the one at a place.

import type { Theme } from "./colours.js";
import { oncePerFrame } from "./dom.js";
import { LEVEL, type Movable, type Viewport } from "./pan_zoom.js";
import { Glyphs, Raster } from "./raster.js";

export const SMALLEST = 0.5;        // width of the narrowest rectangle in device pixels

declare global {
  interface Window { jprofDraws?: number[] }
}

/** A rectangle as drawn, in device pixels. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export abstract class LevelCanvas implements Movable {
  view: Viewport = { left: 0, right: 1, top: 0 };
  levels = 0;                          // drawn
  readonly request = oncePerFrame(() => this.draw());
  protected readonly raster = new Raster();
  protected readonly hits = new Hits();
  protected ratio = 1;                 // device pixels in a CSS pixel
  private readonly context: CanvasRenderingContext2D;
  private glyphs: Glyphs | null = null;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { willReadFrequently: true, alpha: false })!;
  }

  abstract get growsUp(): boolean;
  /** Is null if there is nothing to draw yet. */
  protected abstract get theme(): Theme | null;
  protected abstract drawLevels(): void;

  draw(): void {
    const { canvas, theme } = this;
    if (!theme || canvas.clientWidth === 0) return;
    const begin = performance.now();
    this.fit();
    this.raster.clear(theme.background);
    this.hits.count = 0;
    this.levels = 0;
    this.drawLevels();
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

  protected get height(): number {
    return this.glyphs!.height;
  }
  protected topOf(level: number): number {
    const { clientHeight } = this.canvas;
    const y = this.growsUp ? clientHeight - (level + 1) * LEVEL + this.view.top
                           : level * LEVEL - this.view.top;
    return Math.round(y * this.ratio);
  }

  /** Fills a rectangle, with a gap to the next one where there is space, and remembers it as
   * `item`. Returns null if its level is not visible. */
  protected box(from: number, to: number, level: number, item: number,
                colour: number): Box | null {
    const top = this.topOf(level);
    const bottom = top + this.height;
    this.levels = Math.max(this.levels, level + 1);
    if (bottom <= 0 || top >= this.raster.height) return null;
    this.hits.add(from, to, level, item);
    const left = Math.max(0, Math.round(from));
    let right = Math.min(this.raster.width, Math.round(to));
    if (right - left > 2) --right;
    else if (right === left) ++right;
    this.raster.fill(left, top, right, bottom, colour);
    return { left, right, top, bottom };
  }

  protected frame({ left, right, top, bottom }: Box, size: number, colour: number): void {
    this.raster.frame(left, top, right, bottom, Math.round(size * this.ratio), colour);
  }

  /** Writes the full name, or the short one unless it is empty, as far as it fits. */
  protected label(full: string, short: string, { left, right, top }: Box, colour: number): void {
    const padding = Math.round(4 * this.ratio);
    const letters = Math.floor((right - left - 2 * padding) / this.glyphs!.width);
    if (letters < 3) return;
    let text = full.length <= letters || short === "" ? full : short;
    if (text.length > letters) text = `${text.slice(0, letters - 1)}…`;
    this.raster.text(this.glyphs!, text, left + padding, top, colour);
  }

  /** Returns what was drawn at a place in CSS pixels, or -1. */
  itemAt(x: number, y: number): number {
    const { clientHeight } = this.canvas;
    const level = Math.floor(((this.growsUp ? clientHeight - y : y) + this.view.top) / LEVEL);
    return this.hits.find(x * this.ratio, level);
  }
}

/** Keeps the rectangles that were drawn, to find the one at a place. */
class Hits {
  count = 0;
  private left = new Float32Array(4096);
  private right = new Float32Array(4096);
  private level = new Uint32Array(4096);
  private item = new Int32Array(4096);

  add(left: number, right: number, level: number, item: number): void {
    if (this.count === this.item.length) this.grow();
    this.left[this.count] = left;
    this.right[this.count] = right;
    this.level[this.count] = level;
    this.item[this.count++] = item;
  }
  find(x: number, level: number): number {
    for (let i = 0; i < this.count; ++i) {
      if (this.level[i] === level && x >= this.left[i]! && x < this.right[i]!) return this.item[i]!;
    }
    return -1;
  }
  private grow(): void {
    const size = 2 * this.item.length;
    const copy = <T extends Float32Array | Uint32Array | Int32Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.left = copy(new Float32Array(size), this.left);
    this.right = copy(new Float32Array(size), this.right);
    this.level = copy(new Uint32Array(size), this.level);
    this.item = copy(new Int32Array(size), this.item);
  }
}
