// Provides how calls and times grow with the size of the input, as `jprof report scale --format
// json` prints it (docs/SCALE.md).

import type { DataFile } from "./data.js";
import type { Names } from "./names.js";

/** A row of the document: a method, or one of its contexts. */
interface ScaledData {
  level: number;
  contexts: number;
  calls_grow: string | null;
  exponent: number | null;
  time_exponent: number | null;
  time_exponent_low: number | null;
  time_exponent_high: number | null;
  share: number;
  share_at_10n: number;
  calls: number[];
  time_ns?: number[];
  time_ns_low?: number[];
  time_ns_high?: number[];
  name: string;
  callers: string | null;
}

interface ScaledDocument {
  sizes: number[];
  has_times: boolean;
  rows: ScaledData[];
}

/** A method or a context. Names are indices into those of the model. */
export interface ScaledRow extends Omit<ScaledData, "name" | "callers"> {
  name: number;
  callers: number[];   // the nearest first; empty if it is the sum of several contexts
}

export interface Scaled {
  sizes: Float64Array;
  hasTimes: boolean;
  rows: ScaledRow[];   // methods, each followed by its contexts if it has several
}

const BETWEEN = " < ";

export function readScaled(file: DataFile, names: Names): Scaled | null {
  const { scale } = file.header;
  return scale ? scaledOf(JSON.parse(file.text(scale)) as ScaledDocument, names) : null;
}

export function scaledOf(data: ScaledDocument, names: Pick<Names, "addMethod">): Scaled {
  const known = new Map<string, number>();
  const nameOf = (text: string) => {
    const found = known.get(text) ?? names.addMethod(text);
    known.set(text, found);
    return found;
  };
  return {
    sizes: Float64Array.from(data.sizes), hasTimes: data.has_times,
    rows: data.rows.map((row) => ({
      ...row, name: nameOf(row.name),
      callers: row.callers === null ? [] : row.callers.split(BETWEEN).map(nameOf),
    })),
  };
}

/** What a row has at each size: the value, and the ends of its interval if it has one. */
export interface Series {
  values: number[];
  low: number[];
  high: number[];
}

export function callsSeries({ calls }: Pick<ScaledRow, "calls">): Series {
  return { values: calls, low: calls, high: calls };
}

export function timeSeries({ time_ns: values = [], time_ns_low: low = [], time_ns_high: high = [] }:
                           Pick<ScaledRow, "time_ns" | "time_ns_low" | "time_ns_high">): Series {
  return { values, low, high };
}

/** Returns `n^1.97 ± 0.12`, or nothing if the exponent of the time is not known. */
export function timeText({ time_exponent: value, time_exponent_high: high }: ScaledRow): string {
  return value === null || high === null ? "" : `n^${value.toFixed(2)} ± ${(high - value).toFixed(2)}`;
}

/** Returns the numbers of the rows that a plot shows: the first methods, and the selected row. */
export function plottedRows(rows: Pick<ScaledRow, "level">[], most: number, selected: number): number[] {
  const first = rows.flatMap(({ level }, i) => (level === 0 ? [i] : [])).slice(0, most);
  return first.includes(selected) || !rows[selected] ? first : [...first, selected];
}
