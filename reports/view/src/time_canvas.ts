// Draws calls over time: below a ruler, for each thread a title with marks, its counters, and a
// level for each depth of its stack. Calls narrower than a pixel share that pixel.

import { paintByType, type Paint, type Theme } from "./colours.js";
import { formatValue, withSeparators } from "./model/format.js";
import { LevelCanvas, SMALLEST, type Box } from "./level_canvas.js";
import type { Names } from "./model/names.js";
import { LEVEL, PanZoom } from "./pan_zoom.js";
import {
  valueAt, type Counter, type Lane, type Level, type Timeline, type Title,
} from "./model/timeline.js";

export interface TimeScene {
  timeline: Timeline;
  rows: Level[];
  names: Names;
  paint: Paint;
  theme: Theme;
  matches: Uint8Array | null;    // by method
  selectedMethod: number;
}

const RULER_GAP = 120;     // between two times of the ruler, at least, in CSS pixels

/** Returns the least of 1, 2, 5, 10, ... times a power of ten that is not below `least`. */
export function rulerStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((one) => one * power >= least)!;
}

/** Returns the value that a part of those above 0 does not exceed, or 0 if there is none. */
export function percentile(values: Float64Array, part: number): number {
  const sorted = values.filter((value) => value > 0).sort();
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}

export function paintOf({ method, type }: Timeline, dark: boolean): Paint {
  return paintByType({ method, type, length: method.length }, dark);
}

export class TimeCanvas extends LevelCanvas {
  scene: TimeScene | null = null;
  readonly growsUp = false;

  protected get theme(): Theme | null {
    return this.scene?.theme ?? null;
  }

  /** Returns what is at a place. Nothing that the ruler covers is. */
  override itemAt(x: number, y: number): number {
    return y < LEVEL ? -1 : super.itemAt(x, y);
  }

  /** Returns the visible times. */
  get range(): [from: number, to: number] {
    const end = this.scene?.timeline.info.end ?? 0;
    return [this.view.left * end, this.view.right * end];
  }
  private get scale(): number {
    const [from, to] = this.range;
    return this.raster.width / (to - from || 1);
  }

  protected drawLevels(): void {
    const { rows } = this.scene!;
    const first = Math.max(0, Math.floor(this.view.top / LEVEL) - 1);
    const last = Math.ceil((this.view.top + this.canvas.clientHeight) / LEVEL);
    rows.slice(first, last).forEach((row, i) => this.drawLevel(row, 1 + first + i));
    this.levels = 1 + rows.length;
    this.drawRuler();
  }

  private drawLevel(row: Level, level: number): void {
    if (row.kind === "title") this.drawTitle(row, level);
    else if (row.kind === "counter") this.drawCounter(row.counter, this.wholeLevel(level));
    else this.drawCalls(row, level);
  }
  private wholeLevel(level: number): Box {
    const top = this.topOf(level);
    return { left: 0, right: this.raster.width, top, bottom: top + this.height };
  }

  /** Draws the ruler at the top of the canvas, over what is scrolled there. */
  private drawRuler(): void {
    const { theme } = this.scene!;
    const [from, to] = this.range;
    const bottom = this.height;
    this.raster.fill(0, 0, this.raster.width, bottom + 1, theme.background);
    const step = rulerStep(RULER_GAP * this.ratio / this.scale);
    for (let time = Math.ceil(from / step) * step; time < to; time += step) {
      const x = Math.round((time - from) * this.scale);
      this.raster.fill(x, 0, x + 1, bottom, theme.guide);
      const right = x + RULER_GAP * this.ratio;
      this.label(formatValue(time, "ns"), "", { left: x, right, top: 0, bottom }, theme.text);
    }
  }

  private drawTitle({ track, marks }: Title, level: number): void {
    const { theme, timeline } = this.scene!;
    const box = this.wholeLevel(level);
    this.raster.fill(0, box.top, box.right, box.bottom, theme.rest);
    const [from] = this.range;
    const width = 2 * this.ratio;
    for (const i of marks) {
      const x = (timeline.marks[i]!.at - from) * this.scale;
      if (x + width < 0 || x > box.right) continue;
      this.raster.fill(Math.round(x), box.top, Math.round(x + width), box.bottom, theme.match);
      this.hits.add(x - width, x + 2 * width, level, timeline.begin.length + i);
    }
    this.label(timeline.info.tracks[track]!, "", box, theme.text);
  }

  /** Draws how fast the counter grows in each pixel. The fastest pixels fill the level's height. */
  private drawCounter(number: number, box: Box): void {
    const { theme, timeline } = this.scene!;
    const counter = timeline.counters[number]!;
    const growth = this.growth(counter);
    const full = percentile(growth, 0.99);
    const height = box.bottom - box.top;
    growth.forEach((value, x) => {
      if (full === 0) return;
      const top = box.bottom - Math.round(Math.min(1, value / full) * height);
      this.raster.fill(x, top, x + 1, box.bottom, theme.guide);
    });
    const perMs = full * this.scale * 1e6;
    this.label(`${counter.name}, full height: ${withSeparators(perMs)} per ms`, counter.name, box,
               theme.text);
  }
  private growth(counter: Counter): Float64Array {
    const [from] = this.range;
    const growth = new Float64Array(this.raster.width);
    let before = valueAt(counter, from);
    for (let x = 0; x < growth.length; ++x) {
      const after = valueAt(counter, from + (x + 1) / this.scale);
      growth[x] = after - before;
      before = after;
    }
    return growth;
  }

  private drawCalls(lane: Lane, level: number): void {
    const { timeline } = this.scene!;
    const { begin, length } = timeline;
    const [from, to] = this.range;
    const { scale } = this;
    for (let i = timeline.firstAfter(lane, from); i < lane.end && begin[i]! < to;) {
      const left = (begin[i]! - from) * scale;
      const right = left + length[i]! * scale;
      this.drawCall(i, left, right, level);
      const next = from + (Math.floor(left) + 1) / scale;   // where the next pixel begins
      i = right - left < SMALLEST ? Math.max(i + 1, timeline.firstAfter(lane, next)) : i + 1;
    }
  }

  private drawCall(i: number, left: number, right: number, level: number): void {
    const { timeline, names, paint, theme, matches, selectedMethod } = this.scene!;
    const method = timeline.method[i]!;
    const colour = matches?.[method] === 1 ? theme.match
                                           : (matches ? paint.dim : paint.fill)[paint.slot(i)]!;
    const box = this.box(left, right, level, i, colour);
    if (!box) return;
    this.label(names.shown(method), names.short(method), box, theme.text);
    if (method === selectedMethod && box.right - box.left > 3) this.frame(box, 1, theme.selected);
  }
}

export class TimeInput extends PanZoom<TimeCanvas> {
  /** Both get the number of a call, the number of all calls plus that of a mark, or -1. */
  constructor(canvas: TimeCanvas, private readonly hovered: (item: number) => void,
              private readonly selected: (item: number) => void) {
    super(canvas);
  }

  showAll(): void {
    this.moveTo({ left: 0, right: 1, top: 0 });
  }
  /** Shows the first level, at the same times. */
  toTop(): void {
    this.jumpTo({ ...this.shown.view, top: 0 });
  }
  protected hover(x: number, y: number): void {
    this.hovered(x < 0 ? -1 : this.shown.itemAt(x, y));
  }
  protected click(x: number, y: number): void {
    this.selected(this.shown.itemAt(x, y));
  }

  protected override act(key: string): boolean {
    return this.panByArrow(key) || super.act(key);
  }
}
