// Makes the columns that tables of rows and of methods share.

import {
  formatError, formatPercent, formatUncertain, formatValue, isWithinError, ofAlone, signed, type Kind,
} from "./model/format.js";
import type { ProfileQuantity } from "./model/metrics.js";
import type { Model } from "./model/model.js";
import type { Amounts, Tree } from "./model/tree.js";
import { titlesOf } from "./model/words.js";
import type { Column } from "./table.js";

/** A column with the values by which it sorts, by id. */
export interface ValueColumn extends Column {
  value: ArrayLike<number> | null;   // null to sort by name
}

export interface ColumnSource {
  amounts: Amounts;
  error(quantity: number): ArrayLike<number> | null;
  cumError(quantity: number): ArrayLike<number> | null;
  unfiltered: Tree;                  // the whole that shares refer to
}

/** What a table is sorted by. */
export interface Sort {
  key: string;
  down: boolean;
}

/** Returns how a table is sorted after a click on the head of a column: names begin with the first,
 *  values with the largest, and a second click reverses the order. */
export function sortAfterClick(sort: Sort, key: string, isText: boolean): Sort {
  return { key, down: key === sort.key ? !sort.down : !isText };
}

function numeric(key: string, title: string, help: string, value: ArrayLike<number>,
                 text: (id: number) => string, least = 5.5): ValueColumn {
  return { key, title, help, width: widthOf(title, least), value, text };
}

/** Returns the width of a column whose title fits with an arrow behind it. */
export function widthOf(title: string, least = 5.5): string {
  return `${Math.max(least, 0.62 * title.length + 2.1).toFixed(2)}em`;
}

/** Returns calls, self, +-, cumulative, +-, per call, share, and the computed metrics. */
export function valueColumns(model: Model, source: ColumnSource): ValueColumn[] {
  const { quantity, calls, oldQuantity } = model;
  const info = model.quantities[quantity]!;
  const { name } = info;
  const { amounts } = source;
  const columns: ValueColumn[] = [];
  const self = amounts.self(quantity);
  const cum = amounts.cum(quantity);
  const total = source.unfiltered.total(quantity);
  if (calls >= 0) {
    const n = amounts.self(calls);
    columns.push(numeric("calls", "calls", "Entries, exact", n,
                         (id) => (n[id] ? formatValue(n[id]!, "", true) : ""), 7.5));
  }
  const { words } = model;
  if (info.metric) {
    const [own, below] = titlesOf(info.metric);
    columns.push(...uncertain("self", own, `${name} of it alone, ${words.alone}`, self,
                              source.error(quantity), ofAlone(info)));
    if (oldQuantity >= 0) columns.push(...differences(model, source));
    columns.push(...uncertain("cum", below, `${name} ${words.below}`, cum,
                              source.cumError(quantity), info));
  }
  if (calls >= 0 && info.metric) {
    columns.push(perCallColumn(model, source, calls));
  }
  columns.push({
    ...numeric("share", "%", `${name} ${words.below}, in percent of the whole`, cum,
               (id) => formatPercent(cum[id]!, total)),
    bar: (id) => Math.max(0, Math.min(1, cum[id]! / total)),
  });
  for (const q of model.beside) {
    const other = model.quantities[q]!;
    const value = amounts.cum(q);
    columns.push(numeric(`beside.${other.name}`, titleBeside(other), `${other.name} ${words.below}`,
                         value, (id) => formatValue(value[id]!, other.unit, other.whole)));
  }
  for (const one of model.computed) {
    const value = model.measures.find((measure) => measure.node === one.node)!.cum(amounts);
    columns.push(numeric(`m.${one.name}`, one.name, one.text, value,
                         (id) => formatValue(value[id]!, one.unit)));
  }
  return columns;
}

/** Returns what values of a metric with all below the row are called beside those of another one. */
function titleBeside({ name, metric }: ProfileQuantity): string {
  return metric?.with_below ?? name;
}

/** Makes the column per call. For a combined profile, it includes all that a call calls, as its
 * report does. */
function perCallColumn(model: Model, source: ColumnSource, calls: number): ValueColumn {
  const { quantity } = model;
  const info = model.quantities[quantity]!;
  const { name } = info;
  const isWhole = model.header.kind === "combined";
  const { amounts } = source;
  const value = isWhole ? amounts.cum(quantity) : amounts.self(quantity);
  const error = isWhole ? source.cumError(quantity) : source.error(quantity);
  const n = amounts.self(calls);
  const perCall = value.map((x, id) => (n[id]! > 0 ? x / n[id]! : NaN));
  const [title, help] = isWhole ? ["cum/entry", `${name} with all that it calls, per entry`]
                                : ["self/call", `${name} of it alone, per call`];
  const isEmpty = (id: number) => n[id] === 0 || (value[id] === 0 && !error?.[id]);
  return numeric("percall", title!, help!, perCall, (id) => (isEmpty(id)
    ? "" : formatUncertain(value[id]!, error?.[id] ?? 0, isWhole ? info : ofAlone(info), n[id]!)));
}

function uncertain(key: string, title: string, help: string, value: Float64Array,
                   error: ArrayLike<number> | null, info: Kind): ValueColumn[] {
  const main = numeric(key, title, help, value, (id) => (value[id] === 0 && !error?.[id]
    ? "" : formatUncertain(value[id]!, error?.[id] ?? 0, info)), 6);
  if (!error || !Array.prototype.some.call(error, (one: number) => one > 0)) return [main];
  return [main, numeric(`${key}-error`, "+-", `Half of the 95 % interval of ${title}`, error,
                        (id) => formatError(value[id]!, error[id]!, info))];
}

function changeText(value: number, unit: string, whole: boolean): string {
  return value === 0 ? "" : signed(formatValue(value, unit, whole), value);
}

/** Returns the old value and the change. A change within the error is pale. */
function differences(model: Model, source: ColumnSource): ValueColumn[] {
  const { quantity: now, oldQuantity: before } = model;
  const [kind, wasKind] = [model.quantities[now]!, model.quantities[before]!];
  const { unit, whole } = kind;
  const [is, was] = [source.amounts.self(now), source.amounts.self(before)];
  const [isError, wasError] = [source.error(now), source.error(before)];
  const change = is.map((value, id) => value - was[id]!);
  const [isCum, wasCum] = [source.amounts.cum(now), source.amounts.cum(before)];
  const cumChange = isCum.map((value, id) => value - wasCum[id]!);
  const [isCumError, wasCumError] = [source.cumError(now), source.cumError(before)];
  const mark = (value: number, error = 0, old: number, oldError = 0) =>
    (isWithinError({ value: old, error: oldError, kind: wasKind }, { value, error, kind })
      ? "pale" : value > old ? "more" : "less");
  return [
    numeric("old", "self, old", "Of it alone, in the old profile", was,
            (id) => formatValue(was[id]!, unit, whole)),
    { ...numeric("change", "change", "New less old, of it alone", change,
                 (id) => changeText(change[id]!, unit, whole), 6),
      mark: (id) => mark(is[id]!, isError?.[id], was[id]!, wasError?.[id]) },
    { ...numeric("cumchange", "cum change", "New less old, with all that it calls", cumChange,
                 (id) => changeText(cumChange[id]!, unit, whole)),
      mark: (id) => mark(isCum[id]!, isCumError?.[id], wasCum[id]!, wasCumError?.[id]) },
  ];
}

/** Sorts ids by a column, equal ones as they were. Values that are not numbers come last. */
export function sortIds(ids: Uint32Array, column: ValueColumn, down: boolean): Uint32Array {
  const { value } = column;
  if (!value) {
    const texts = new Map(Array.from(ids, (id) => [id, column.text(id)]));
    const sign = down ? -1 : 1;
    return ids.slice().sort((a, b) => {
      const [x, y] = [texts.get(a)!, texts.get(b)!];
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
    });
  }
  const key = (id: number) => {
    const x = value[id]!;
    return Number.isNaN(x) ? Infinity : down ? -x : x;
  };
  return ids.slice().sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return x < y ? -1 : x > y ? 1 : a - b;
  });
}
