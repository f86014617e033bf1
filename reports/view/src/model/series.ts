// Provides what each method called and used in each interval of the recording (docs/SERIES.md).

import type { DataFile, Section } from "./data.js";

/** The member `series` of the header. Times are in seconds from the beginning of the recording. */
export interface SeriesInfo {
  begin: number;
  ends: Section;          // of the columns
  metric: string;         // "" if calls were counted only
  unit: string;
  methods: Section;       // indices of names, those with the most first
  own: Section | null;    // [method][column], in the unit
  calls: Section;         // the same
}

export interface Intervals {
  begin: number;
  ends: Float64Array;
  metric: string;
  unit: string;
  methods: Uint32Array;
  own: Float64Array | null;
  calls: Float64Array;
}

/** Columns from `first` to `last`, both included. */
export interface Span {
  first: number;
  last: number;
}

export interface SpanSum {
  method: number;   // of the names
  own: number;
  calls: number;
  all: number;      // own, or calls, in all columns
}

export function readIntervals(file: DataFile): Intervals | null {
  const { series } = file.header;
  if (!series) return null;
  return {
    begin: series.begin, ends: file.f64(series.ends), metric: series.metric, unit: series.unit,
    methods: file.u32(series.methods), own: series.own ? file.f64(series.own) : null,
    calls: file.f64(series.calls),
  };
}

/** Returns the span that a link has as "3-7", cut to the columns. Anything else is the whole. */
export function parseSpan(text: string, columns: number): Span {
  const found = /^(\d+)-(\d+)$/.exec(text);
  const [first, last] = found ? [Number(found[1]), Number(found[2])] : [0, columns - 1];
  return first <= last && last < columns ? { first, last } : { first: 0, last: columns - 1 };
}

export function spanText({ first, last }: Span): string {
  return `${first}-${last}`;
}

/** Returns the times at which a span begins and ends. */
export function timesOf({ begin, ends }: Pick<Intervals, "begin" | "ends">, { first, last }: Span):
    [number, number] {
  return [first === 0 ? begin : ends[first - 1]!, ends[last]!];
}

/** Returns the column at a time; times before and after have the first and the last one. */
export function columnAt({ ends }: Pick<Intervals, "ends">, time: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the sums of each method over the span, in the order of the methods. */
export function sumsOf(intervals: Intervals, { first, last }: Span): SpanSum[] {
  const { methods, own, calls, ends } = intervals;
  const sum = (values: Float64Array | null, row: number, from: number, to: number) => {
    let total = 0;
    for (let i = from; values && i <= to; ++i) total += values[row * ends.length + i]!;
    return total;
  };
  return Array.from(methods, (method, row) => ({
    method, own: sum(own, row, first, last), calls: sum(calls, row, first, last),
    all: sum(own ?? calls, row, 0, ends.length - 1),
  }));
}

/** Returns the amount per second in each cell of a row, and 0 for an interval without length. */
export function ratesOf(intervals: Intervals, values: Float64Array, row: number): Float64Array {
  const { begin, ends } = intervals;
  return Float64Array.from(ends, (end, i) => {
    const length = end - (i === 0 ? begin : ends[i - 1]!);
    return length > 0 ? Math.max(0, values[row * ends.length + i]!) / length : 0;
  });
}
