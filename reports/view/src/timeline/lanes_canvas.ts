// Draws the timeline: below a ruler a lane for each processor, strips of metrics, and a lane for
// each thread. Names are in a gutter on the left.

import type { Theme } from "../colours.js";
import { LevelCanvas, type Box } from "../level_canvas.js";
import type { Mask } from "../model/stretch_filter.js";
import { formatValue } from "../model/format.js";
import type { ProcessorPixels, Range, StatePixels } from "../model/stretch_pixels.js";
import type { Stretches } from "../model/stretches.js";
import { LEVEL } from "../pan_zoom.js";
import { percentile, rulerStep } from "../time_canvas.js";
import type { Palette } from "./palette.js";
import type { Strip, StripValues } from "./strips.js";

export type Lane =
  | { kind: "title"; text: string }
  | { kind: "marks" }
  | { kind: "processor"; processor: number }
  | { kind: "strip"; strip: Strip }
  | { kind: "below" }                        // the second level of a strip
  | { kind: "thread"; thread: number };

export interface LanesScene {
  stretches: Stretches;
  lanes: Lane[];
  states: StatePixels;
  processors: ProcessorPixels;
  statePalette: Palette;
  threadPalette: Palette;
  threadSlot: Uint8Array;
  strips: StripValues;
  scope: Mask | null;
  mask: Mask | null;                         // null: nothing is selected
  theme: Theme;
  accent: number;
  pinned: number;                            // a row with a frame, or -1
}

/** What is at a place. */
export interface Place {
  lane: Lane;
  time: number;
  row: number;                               // or -1
}

const RULER_GAP = 120;
const MOST_NAMED = 5000;                     // stretches of a lane among which wide ones are named

export class LanesCanvas extends LevelCanvas {
  scene: LanesScene | null = null;
  readonly growsUp = false;
  readonly gutter = 190;

  protected get theme(): Theme | null {
    return this.scene?.theme ?? null;
  }

  /** Returns the visible times, and the pixels that they have. */
  get range(): Range {
    const end = this.scene?.stretches.info.end ?? 1;
    return { from: this.view.left * end, to: this.view.right * end,
             width: Math.max(1, this.raster.width - this.left) };
  }
  /** Returns where times begin, in device pixels. */
  private get left(): number {
    return Math.round(this.gutter * this.ratio);
  }

  timeAt(x: number): number {
    const { from, to } = this.range;
    const width = Math.max(1, this.canvas.clientWidth - this.gutter);
    return from + Math.max(0, Math.min(1, (x - this.gutter) / width)) * (to - from);
  }
  laneAt(y: number): Lane | null {
    if (y < LEVEL) return null;
    return this.scene?.lanes[Math.floor((y + this.view.top) / LEVEL) - 1] ?? null;
  }
  placeAt(x: number, y: number): Place | null {
    const lane = this.laneAt(y);
    if (!lane || !this.scene) return null;
    const { stretches } = this.scene;
    const time = this.timeAt(x);
    if (x < this.gutter) return { lane, time, row: -1 };
    if (lane.kind === "thread") return { lane, time, row: stretches.rowAt(lane.thread, time) };
    if (lane.kind !== "processor") return { lane, time, row: -1 };
    const { byProcessor: order } = stretches;
    const i = order.firstAt(lane.processor, time);
    const isIn = i < order.first[lane.processor + 1]! && order.begin[i]! <= time;
    return { lane, time, row: isIn ? order.row[i]! : -1 };
  }

  protected drawLevels(): void {
    const { lanes } = this.scene!;
    const first = Math.max(0, Math.floor(this.view.top / LEVEL) - 2);   // a strip has two levels
    const last = Math.ceil((this.view.top + this.canvas.clientHeight) / LEVEL);
    lanes.slice(first, last).forEach((lane, i) => this.drawLane(lane, this.boxOf(1 + first + i)));
    this.levels = 1 + lanes.length;
    this.drawMarks();
    this.drawRuler();
  }
  private boxOf(level: number): Box {
    const top = this.topOf(level);
    return { left: this.left, right: this.raster.width, top, bottom: top + this.height };
  }

  private drawLane(lane: Lane, box: Box): void {
    const { states, processors, statePalette, threadPalette, stretches } = this.scene!;
    switch (lane.kind) {
      case "title": this.drawTitle(lane.text, box); break;
      case "strip": this.drawStrip(lane.strip, box); break;
      case "processor":
        this.drawName(`processor ${lane.processor}`, box);
        processors.visit(lane.processor, this.range, this.painter(box, threadPalette));
        this.drawNames(lane.processor, box);
        break;
      case "thread": {
        const { name, tid } = stretches.info.threads[lane.thread]!;
        this.drawSwatch(lane.thread, box);
        this.drawName(`${name} ${tid}`, box, 10);
        states.visit(lane.thread, this.range, this.painter(box, statePalette));
        break;
      }
      case "marks": this.drawName("marks", box); break;
      case "below": break;
    }
    if (lane.kind === "thread" || lane.kind === "processor") this.drawPinned(lane, box);
  }

  private drawTitle(text: string, { top, bottom }: Box): void {
    const { theme } = this.scene!;
    this.raster.fill(0, top, this.raster.width, bottom, theme.rest);
    this.label(text, "", { left: 0, right: this.raster.width, top, bottom }, theme.text);
  }
  private drawName(text: string, { top, bottom }: Box, indent = 0): void {
    this.label(text, "", { left: indent * this.ratio, right: this.left, top, bottom },
               this.scene!.theme.text);
  }
  /** Shows which colour the thread has in the lanes of processors. */
  private drawSwatch(thread: number, { top, bottom }: Box): void {
    const { threadPalette, threadSlot } = this.scene!;
    const size = Math.round(4 * this.ratio);
    this.raster.fill(size, top + size, 2 * size + size, bottom - size,
                     threadPalette.fill[threadSlot[thread]!]!);
  }

  /** Returns what draws pixels of a lane. Parts of a pixel are stacked, the first slot lowest. */
  private painter({ left, top, bottom }: Box, { fill }: Palette) {
    const { raster } = this;
    const height = bottom - top;
    return {
      solid: (from: number, to: number, slot: number) => {
        const right = left + to - (to - from > 3 ? 1 : 0);
        raster.fill(left + from, top, right, bottom, fill[slot]!);
      },
      mixed: (x: number, parts: Float64Array) => {
        let [sum, low] = [0, bottom];
        for (let slot = 0; slot < parts.length; ++slot) {
          if (parts[slot] === 0) continue;
          sum += parts[slot]!;
          const high = bottom - Math.round(Math.min(1, sum) * height);
          if (high < low) raster.fill(left + x, high, left + x + 1, low, fill[slot]!);
          low = high;
        }
      },
    };
  }

  /** Writes the names of threads where a processor ran them for long. */
  private drawNames(processor: number, { left, top, bottom }: Box): void {
    const { stretches, threadPalette, threadSlot, mask } = this.scene!;
    const { byProcessor: order, info, thread } = stretches;
    const { from, to, width } = this.range;
    const scale = width / (to - from);
    const wide = 40 * this.ratio / scale;
    const end = Math.min(order.first[processor + 1]!, order.firstAt(processor, to) + 1);
    const first = order.firstAt(processor, from);
    if (end - first > MOST_NAMED) return;      // hardly any is wide enough
    for (let i = first; i < end; ++i) {
      if (order.end[i]! - order.begin[i]! < wide) continue;
      const row = order.row[i]!;
      const slot = threadSlot[thread[row]!]! + (mask && mask[row] === 0 ? threadPalette.slots : 0);
      const x = (time: number) => left + Math.max(0, Math.min(width, (time - from) * scale));
      this.label(info.threads[thread[row]!]!.name, "",
                 { left: x(order.begin[i]!), right: x(order.end[i]!), top, bottom },
                 threadPalette.text[slot]!);
    }
  }

  private drawPinned(lane: Lane, { left, top, bottom }: Box): void {
    const { stretches: { thread, processor, begin, duration }, stretches, pinned, theme } = this.scene!;
    if (pinned < 0) return;
    const isThread = lane.kind === "thread";
    if (isThread ? thread[pinned] !== lane.thread
                 : lane.kind !== "processor" || processor[pinned] !== lane.processor) return;
    const { from, to, width } = this.range;
    const x = (time: number) => left + Math.max(0, Math.min(width, (time - from) * width / (to - from)));
    const end = isThread ? stretches.next(pinned) : begin[pinned]! + duration[pinned]!;
    if (end < from || begin[pinned]! > to) return;
    const [a, b] = [Math.floor(x(begin[pinned]!)), Math.ceil(x(end))];
    this.frame({ left: a, right: Math.max(a + 3, b), top, bottom }, 1, theme.selected);
  }

  /** Draws what all rows have in grey, and before it what the selected ones have. */
  private drawStrip(strip: Strip, { left, right, top }: Box): void {
    const { theme, strips, mask, scope, accent } = this.scene!;
    const bottom = top + Math.round(2 * LEVEL * this.ratio) - 2;
    if (bottom <= 0 || top >= this.raster.height) return;
    const { range } = this;
    const all = strips.of(strip, scope, range);
    const full = percentile(all, 0.995);
    const bars = (values: Float64Array, colour: number) => values.forEach((value, x) => {
      if (!(value > 0)) return;
      const height = Math.max(1, Math.round(Math.min(1, value / full) * (bottom - top)));
      this.raster.fill(left + x, bottom - height, left + x + 1, bottom, colour);
    });
    if (full > 0) bars(all, mask ? theme.guide : accent);
    if (full > 0 && mask) bars(strips.of(strip, mask, range), accent);
    this.raster.fill(left, bottom, right, bottom + 1, theme.guide);
    this.drawName(strip.name, { left, right, top, bottom });
    const time = (range.to - range.from) / range.width;
    this.drawName(full > 0 ? `to ${strip.text(full, time)}` : "none",
                  { left, right, top: top + Math.round(LEVEL * this.ratio) - 2, bottom });
  }

  /** Draws a line through all lanes at each mark, and its text where it has room. */
  private drawMarks(): void {
    const { stretches: { info: { marks } }, lanes, accent, theme } = this.scene!;
    const lane = lanes.findIndex(({ kind }) => kind === "marks");
    if (lane < 0) return;
    const { from, to, width } = this.range;
    const { top, bottom } = this.boxOf(1 + lane);
    const x = (time: number) => this.left + Math.round((time - from) * width / (to - from));
    let last = -1;
    marks.forEach(({ time, text }, i) => {
      if (time < from || time > to || x(time) === last) return;
      last = x(time);
      this.raster.fill(last, this.height, last + 1, this.raster.height, accent);
      const next = marks[i + 1]?.time ?? to;
      this.label(text, "", { left: last + 2, right: x(Math.min(next, to)), top, bottom }, theme.text);
    });
  }

  private drawRuler(): void {
    const { theme } = this.scene!;
    const { from, to, width } = this.range;
    const scale = width / (to - from);
    const bottom = this.height;
    this.raster.fill(0, 0, this.raster.width, bottom + 1, theme.background);
    const step = rulerStep(RULER_GAP * this.ratio / scale);
    for (let time = Math.ceil(from / step) * step; time < to; time += step) {
      const x = this.left + Math.round((time - from) * scale);
      this.raster.fill(x, 0, x + 1, bottom, theme.guide);
      this.label(formatValue(time, "ns"), "",
                 { left: x, right: x + RULER_GAP * this.ratio, top: 0, bottom }, theme.text);
    }
  }
}
