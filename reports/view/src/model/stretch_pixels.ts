// Finds what a lane of the timeline shows: whole pixels of one state, and pixels that several states
// share. Rows of which many are in one pixel are added up in blocks, so that the time that it takes
// depends on the pixels more than on the rows.

import type { Mask } from "./stretch_filter.js";
import { PREEMPTED, type ProcessorOrder, type Stretches } from "./stretches.js";

export const RUNS = 0;               // slots of states; those of waits follow
export const READY = 1;
const BLOCK = 8;                     // rows of threads
const PROCESSOR_BLOCK = 16;

/** Gets what is in a lane, from left to right. Pixels are those of the whole lane. */
export interface Pixels {
  /** The pixels from `left` to `right` (exclusive) are of one slot. */
  solid(left: number, right: number, slot: number): void;
  /** A pixel in which each slot has a part; `parts` is only valid during the call. */
  mixed(x: number, parts: Float64Array): void;
}

/** The visible times, and how many pixels they have. */
export interface Range {
  from: number;
  to: number;
  width: number;
}

/** Gathers the parts of pixels. */
class Gathering {
  readonly parts: Float64Array;
  private pixel = -1;                // whose parts these are
  readonly scale: number;
  begin = 0;                         // of the pixel, as a time
  end = -1;

  constructor(readonly range: Range, slots: number, private readonly pixels: Pixels) {
    this.parts = new Float64Array(slots);
    this.scale = range.width / (range.to - range.from);
  }

  at(time: number): number {
    return (time - this.range.from) * this.scale;
  }

  add(begin: number, end: number, slot: number): void {
    const { width } = this.range;
    const left = Math.max(0, this.at(begin));
    const right = Math.min(width, this.at(end));
    if (right <= left) return;
    let pixel = Math.floor(left);
    const last = Math.floor(right);
    if (pixel === last) {
      this.to(pixel);
      this.parts[slot]! += right - left;
      return;
    }
    if (left > pixel) {
      this.to(pixel);
      this.parts[slot]! += ++pixel - left;
    }
    if (pixel < last) {
      this.finish();
      this.pixels.solid(pixel, last, slot);
    }
    if (right > last) {
      this.to(last);
      this.parts[slot]! += right - last;
    }
  }

  /** Goes on to a pixel. */
  to(pixel: number): void {
    if (pixel === this.pixel) return;
    this.finish();
    this.pixel = pixel;
    this.begin = this.range.from + pixel / this.scale;
    this.end = this.range.from + (pixel + 1) / this.scale;
  }
  finish(): void {
    if (this.pixel >= 0) this.pixels.mixed(this.pixel, this.parts);
    if (this.pixel >= 0) this.parts.fill(0);
    this.pixel = this.end = -1;
  }
}

/** The states of threads. Selected rows have the slots below `states`, others those from there on. */
export class StatePixels {
  private readonly sums: Float32Array;       // by block and slot, in ns
  readonly slots: number;

  /** `slotOf`: the slot of waits, by reason. */
  constructor(private readonly stretches: Stretches, private readonly slotOf: Uint8Array,
              readonly states: number, private readonly mask: Mask | null) {
    this.slots = 2 * states;
    this.sums = new Float32Array(Math.ceil(stretches.length / BLOCK) * this.slots);
    const { duration, waited, ready, reason, length } = stretches;
    for (let row = 0; row < length; ++row) {
      const first = Math.floor(row / BLOCK) * this.slots + this.shift(row);
      this.sums[first + RUNS]! += duration[row]!;
      this.sums[first + slotOf[reason[row]!]!]! += waited[row]!;
      this.sums[first + READY]! += ready[row]!;
    }
  }

  private shift(row: number): number {
    return this.mask && this.mask[row] === 0 ? this.states : 0;
  }

  visit(thread: number, range: Range, pixels: Pixels): void {
    const { stretches, slotOf } = this;
    const { begin, duration, waited, ready, reason } = stretches;
    const gathering = new Gathering(range, this.slots, pixels);
    const { parts, scale } = gathering;
    const used = this.mask ? this.slots : this.states;
    const last = stretches.first[thread + 1]!;
    for (let row = stretches.firstAt(thread, range.from); row < last;) {
      const at = begin[row]!;
      if (at >= range.to) break;
      if (row % BLOCK === 0 && row + BLOCK < last && begin[row + BLOCK]! < gathering.end
          && at >= gathering.begin) {
        const sums = (row / BLOCK) * this.slots;
        for (let slot = 0; slot < used; ++slot) parts[slot]! += this.sums[sums + slot]! * scale;
        row += BLOCK;
        continue;
      }
      const shift = this.shift(row);
      const end = at + duration[row]!;
      const woken = end + waited[row]!;
      if (woken + ready[row]! < gathering.end && at >= gathering.begin) {   // most often
        parts[RUNS + shift]! += duration[row]! * scale;
        parts[slotOf[reason[row]!]! + shift]! += waited[row]! * scale;
        parts[READY + shift]! += ready[row]! * scale;
        ++row;
        continue;
      }
      gathering.add(at, end, RUNS + shift);
      if (woken > end) gathering.add(end, woken, slotOf[reason[row]!]! + shift);
      if (ready[row]! > 0) gathering.add(woken, woken + ready[row]!, READY + shift);
      ++row;
    }
    gathering.finish();
  }
}

/** Which threads a processor ran. Selected rows have the slots below `colours`. */
export class ProcessorPixels {
  private readonly slot: Uint8Array;         // in the order
  private readonly sums: Float32Array;       // by block and slot, in ns
  private readonly used: number;             // slots
  readonly slots: number;

  constructor(private readonly order: ProcessorOrder, slotOf: Uint8Array, readonly colours: number,
              mask: Mask | null) {
    this.slots = 2 * colours;
    const { row, thread } = order;
    this.slot = new Uint8Array(row.length);
    for (let i = 0; i < row.length; ++i) this.slot[i] = slotOf[thread[i]!]!;
    if (mask) for (let i = 0; i < row.length; ++i) this.slot[i]! += (1 - mask[row[i]!]!) * colours;
    this.used = mask ? this.slots : colours;
    this.sums = new Float32Array(Math.ceil(row.length / PROCESSOR_BLOCK) * this.used);
    for (let i = 0; i < row.length; ++i) {
      const block = (i / PROCESSOR_BLOCK) | 0;
      this.sums[block * this.used + this.slot[i]!]! += order.end[i]! - order.begin[i]!;
    }
  }

  visit(processor: number, range: Range, pixels: Pixels): void {
    const { order: { begin, end, first }, slot } = this;
    const gathering = new Gathering(range, this.slots, pixels);
    const { parts, scale } = gathering;
    const last = first[processor + 1]!;
    for (let i = this.order.firstAt(processor, range.from); i < last; ++i) {
      const at = begin[i]!;
      if (at >= range.to) break;
      const rest = i + PROCESSOR_BLOCK - 1;   // of a block
      if (i % PROCESSOR_BLOCK === 0 && rest < last && end[rest]! < gathering.end
          && at >= gathering.begin) {
        const sums = (i / PROCESSOR_BLOCK) * this.used;
        for (let one = 0; one < this.used; ++one) parts[one]! += this.sums[sums + one]! * scale;
        i = rest;
        continue;
      }
      if (end[i]! < gathering.end && at >= gathering.begin) {   // most often
        parts[slot[i]!]! += (end[i]! - at) * scale;
      } else gathering.add(at, end[i]!, slot[i]!);
    }
    gathering.finish();
  }
}

/** What a strip shows: how much there is of something in each interval. */
export interface StripMetric {
  values: Float64Array | null;       // null: 1 for each begin
  over: "run" | "wait" | "ready";    // the part of a row over which its value is spread
}

/** Returns how much of a metric is in each of equal intervals of a range. A row's value is spread
 * equally over the time that it is about. */
export function spread(stretches: Stretches, { values, over }: StripMetric, mask: Mask | null,
                       { from, to, width }: Range): Float64Array {
  const sums = new Float64Array(width + 1);
  const steps = new Float64Array(width + 2);   // what whole intervals have more than those before
  const { begin, duration, waited, ready, first, info } = stretches;
  const scale = width / (to - from);
  const add = (left: number, right: number, value: number) => {
    if (right <= 0 || left >= width || value === 0) return;
    const a = Math.max(0, left);
    const b = Math.min(width, right);
    const one = Math.floor(a);
    const other = Math.floor(b);
    if (one === other && left >= 0) {   // most often
      sums[one]! += value;
      return;
    }
    const rate = value / (right - left);
    if (one === other) {
      sums[one]! += rate * (b - a);
      return;
    }
    sums[one]! += rate * (one + 1 - a);
    sums[other]! += rate * (b - other);
    steps[one + 1]! += rate;
    steps[other]! -= rate;
  };
  for (let thread = 0; thread < info.threads.length; ++thread) {
    const last = first[thread + 1]!;
    for (let row = stretches.firstAt(thread, from); row < last && begin[row]! < to; ++row) {
      if (mask && mask[row] === 0) continue;
      const end = begin[row]! + duration[row]!;
      if (!values) {
        const x = (begin[row]! - from) * scale;
        if (x >= 0 && x < width) ++sums[Math.floor(x)]!;
        continue;
      }
      const value = values[row]!;
      if (value - value !== 0) continue;
      if (over === "run") {
        if (end > begin[row]!) add((begin[row]! - from) * scale, (end - from) * scale, value);
        continue;
      }
      const woken = end + waited[row]!;
      const left = over === "wait" ? end : woken;
      const right = over === "wait" ? woken : woken + ready[row]!;
      if (right > left) add((left - from) * scale, (right - from) * scale, value);
    }
  }
  let level = 0;
  for (let i = 0; i < width; ++i) sums[i]! += level += steps[i]!;
  return sums.subarray(0, width);
}

/** Returns the slot of each reason, given the names of those that share one. Waits begin with slot 2;
 * reasons that are in no list share the last. */
export function waitSlots(reasons: string[], groups: string[][]): Uint8Array {
  return Uint8Array.from(reasons, (name, reason) => {
    if (reason === PREEMPTED) return READY;
    const found = groups.findIndex((group) => group.includes(name));
    return 2 + (found < 0 ? groups.length : found);
  });
}
