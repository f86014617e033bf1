// Provides the calls, marks and counters of each thread over time, by the levels in which they are
// drawn.

import type { DataFile, TimelineInfo } from "./data.js";
import { regroupedSlices, type Mapping, type Slices } from "./regroup.js";

/** Calls of one thread and depth. They do not overlap, so their ends are in order, too. */
export interface Lane {
  kind: "calls";
  track: number;
  first: number;     // in the columns of the timeline
  end: number;       // behind the last
}
export interface Title {
  kind: "title";
  track: number;
  marks: number[];   // in the timeline's marks
}
interface Strip {
  kind: "counter";
  track: number;
  counter: number;
}
export type Level = Lane | Title | Strip;

export interface Counter {
  name: string;
  track: number;
  at: Float64Array;
  value: Float64Array;      // grows
}

export interface Mark {
  track: number;
  at: number;
  text: number;             // the number of its name
}

export class Timeline {
  readonly info: TimelineInfo;
  readonly method: Uint32Array;
  readonly type: Uint8Array;
  readonly begin: Float64Array;
  readonly length: Float64Array;
  readonly counters: Counter[];
  readonly marks: Mark[];
  private readonly byTrack: Level[][];

  constructor(file: DataFile, info: TimelineInfo, mapping: Mapping | null = null) {
    this.info = info;
    const recorded = slicesOf(file, info);
    const slices = mapping ? regroupedSlices(recorded, mapping) : recorded;
    ({ begin: this.begin, length: this.length, method: this.method, type: this.type } = slices);
    this.counters = info.counters.map(({ name, track, at, value }) =>
      ({ name, track, at: file.f64(at), value: file.f64(value) }));
    this.marks = marksOf(file, info);
    this.byTrack = this.levelsOfTracks(slices.track, slices.depth);
  }

  /** Returns the levels of the tracks that pass, from top to bottom. */
  levels(passes: (track: string) => boolean): Level[] {
    return this.info.tracks.flatMap((name, track) => (passes(name) ? this.byTrack[track]! : []));
  }

  private levelsOfTracks(track: Uint32Array, depth: Uint32Array): Level[][] {
    const titles = this.info.tracks.map((_, i): Title => ({ kind: "title", track: i, marks: [] }));
    const levels = titles.map((title): Level[] => [title]);
    this.marks.forEach((mark, i) => titles[mark.track]!.marks.push(i));
    this.counters.forEach((one, counter) =>
      levels[one.track]!.push({ kind: "counter", track: one.track, counter }));
    let lane: Lane = { kind: "calls", track: 0, first: 0, end: 0 };
    for (let i = 0; i < track.length; ++i) {
      if (i === 0 || track[i] !== track[i - 1] || depth[i] !== depth[i - 1]) {
        lane = { kind: "calls", track: track[i]!, first: i, end: i };
        levels[lane.track]!.push(lane);
      }
      lane.end = i + 1;
    }
    return levels;
  }

  /** Returns the first call of a lane that ends after a time, or the lane's end. */
  firstAfter({ first, end }: Lane, time: number): number {
    let [low, high] = [first, end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.begin[middle]! + this.length[middle]! > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function slicesOf(file: DataFile, { slices }: TimelineInfo): Slices {
  return {
    track: file.u32(slices.track), depth: file.u32(slices.depth), method: file.u32(slices.method),
    type: file.u8(slices.type), begin: file.f64(slices.begin), length: file.f64(slices.length),
  };
}

function marksOf(file: DataFile, { marks }: TimelineInfo): Mark[] {
  const [track, at, text] = [file.u32(marks.track), file.f64(marks.at), file.u32(marks.text)];
  return Array.from(track, (one, i) => ({ track: one, at: at[i]!, text: text[i]! }));
}

/** Returns what a counter had reached at a time, between two of its values by their slope. */
export function valueAt({ at, value }: Counter, time: number): number {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  const [from, to] = [low - 1, Math.min(low, at.length - 1)];
  const span = at[to]! - at[from]!;
  const part = span > 0 ? (time - at[from]!) / span : 0;
  return value[from]! + part * (value[to]! - value[from]!);
}
