// Adds up selected stretches: by metric, and by what tables list.

import type { Mask } from "./stretch_filter.js";
import type { Stretches } from "./stretches.js";

/** Moments of the finite values of some rows. */
export interface Moments {
  count: number;
  sum: number;
  min: number;
  max: number;
  squares: number;    // sum of the squares of the differences to the mean
}

export const meanOf = ({ sum, count }: Moments) => (count > 0 ? sum / count : NaN);
/** Returns the standard deviation, of the rows as a sample of what the program does. */
export const deviationOf = ({ squares, count }: Moments) =>
  (count > 1 ? Math.sqrt(squares / (count - 1)) : NaN);

const SAMPLE = 2000;     // rows whose mean is near that of all

/** Adds up some rows, or all. `near` is a value near their mean, for example that of all rows: squares
 * of differences to it have fewer digits than those of values. */
export function momentsOf(values: Float64Array, rows: Uint32Array | null, near?: number): Moments {
  const origin = near ?? meanOf(momentsOf(values, sampleOf(rows, values.length, SAMPLE), 0));
  if (!Number.isFinite(origin)) return near === undefined ? momentsOf(values, rows, 0)
    : { count: 0, sum: 0, min: NaN, max: NaN, squares: 0 };
  let [count, sum, min, max, squares] = [0, 0, Infinity, -Infinity, 0];
  const length = rows ? rows.length : values.length;
  for (let i = 0; i < length; ++i) {
    const value = values[rows ? rows[i]! : i]!;
    const away = value - origin;
    if (away - away !== 0) continue;   // NaN, infinite
    ++count;
    sum += away;
    squares += away * away;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { count, sum: sum + count * origin, min, max,
           squares: count > 0 ? Math.max(0, squares - sum * sum / count) : 0 };
}

/** Returns the moments of what is in the whole and not in the part, without minimum and maximum. */
export function restOf(whole: Moments, part: Moments): Moments {
  const count = whole.count - part.count;
  const sum = whole.sum - part.sum;
  const between = count > 0 && part.count > 0
    ? (meanOf(part) - sum / count) ** 2 * part.count * count / whole.count : 0;
  const squares = Math.max(0, whole.squares - part.squares - between);
  return { count, sum, min: NaN, max: NaN, squares };
}

/** A difference, and half of its 95 % interval. */
export interface Difference {
  value: number;
  arm: number;
}

/** Returns by how much the mean of a part differs from that of the rest (Welch: the two need not
 * vary equally). */
export function differenceOf(part: Moments, rest: Moments): Difference {
  const variance = (one: Moments) => deviationOf(one) ** 2 / one.count;
  return { value: meanOf(part) - meanOf(rest),
           arm: 1.959964 * Math.sqrt(variance(part) + variance(rest)) };
}

/** Sums of rows that have something in common. */
export interface Groups {
  count: Uint32Array;
  duration: Float64Array;
  waited: Float64Array;
  ready: Float64Array;
  longest: Float64Array;   // wait
}

/** Adds up some rows, or all, by a column with numbers below `groups`. */
export function groupBy(stretches: Stretches, key: ArrayLike<number>, groups: number,
                        rows: Uint32Array | null): Groups {
  const { duration, waited, ready, length } = stretches;
  const column = () => new Float64Array(groups);
  const sums: Groups = { count: new Uint32Array(groups), duration: column(), waited: column(),
                         ready: column(), longest: column() };
  const count = rows ? rows.length : length;
  for (let i = 0; i < count; ++i) {
    const row = rows ? rows[i]! : i;
    const group = key[row]!;
    const wait = waited[row]!;
    ++sums.count[group]!;
    sums.duration[group]! += duration[row]!;
    sums.waited[group]! += wait;
    sums.ready[group]! += ready[row]!;
    if (wait > sums.longest[group]!) sums.longest[group] = wait;
  }
  return sums;
}

/** Returns the rows of a mask. */
export function rowsIn(mask: Mask): Uint32Array {
  let count = 0;
  for (let row = 0; row < mask.length; ++row) count += mask[row]!;
  const rows = new Uint32Array(count + 1);
  let at = 0;
  for (let row = 0; row < mask.length; ++row) {
    rows[at] = row;               // is overwritten by the next one if it is not in the mask
    at += mask[row]!;
  }
  return rows.subarray(0, count);
}

/** Returns at most `most` of some rows, or of all, at equal distances. */
export function sampleOf(rows: Uint32Array | null, length: number, most: number): Uint32Array {
  const all = rows ? rows.length : length;
  const step = Math.max(1, Math.ceil(all / most));
  return Uint32Array.from({ length: Math.ceil(all / step) }, (_, i) =>
    (rows ? rows[i * step]! : i * step));
}
