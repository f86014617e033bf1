// Makes trees from a tree: with the amounts of some rows only, with rows of one method merged
// (callees), and turned around (callers).

import type { Rows } from "./filter.js";
import { NO_ROW, Tree } from "./tree.js";

/** Returns the tree in which only these rows' own amounts count. Rows keep their numbers. */
export function masked(tree: Tree, rows: Rows): Tree {
  const kept = rows.slice();
  for (let row = tree.length - 1; row >= 0; --row) {
    const above = tree.parent[row]!;
    if (kept[row] && above !== NO_ROW) kept[above] = 1;
  }
  const keep = <T extends Float64Array | Float32Array>(column: T): T =>
    column.map((value, row) => (rows[row] ? value : 0)) as T;
  return new Tree({
    ...tree.columns,
    selfs: tree.columns.selfs.map(keep),
    errors: tree.columns.errors.map((error) => error && keep(error)),
  }, tree.independent, kept);
}

/** Collects the rows of a new tree, whose columns grow. */
class Builder {
  length = 0;
  private readonly parent: number[] = [];
  private readonly method: number[] = [];
  private readonly type: number[] = [];
  private readonly weight: number[] = [];  // of the row that gave the type
  private readonly cut: number[] = [];
  private readonly selfs: number[][];
  private readonly errors: (number[] | null)[];

  constructor(private readonly from: Tree, private readonly amounts: Float64Array[],
              private readonly spreads: (ArrayLike<number> | null)[]) {
    this.selfs = amounts.map(() => []);
    this.errors = spreads.map((spread) => spread && []);
  }

  row(parent: number, method: number): number {
    this.parent.push(parent);
    this.method.push(method);
    this.type.push(79);
    this.weight.push(-1);
    this.cut.push(0);
    for (const self of this.selfs) self.push(0);
    for (const error of this.errors) error?.push(0);
    return this.length++;
  }

  /** Sets a row's type, which is that of the heaviest row in it. */
  describe(row: number, origin: number, weight: number): void {
    if (weight <= this.weight[row]!) return;
    this.weight[row] = weight;
    this.type[row] = this.from.type[origin]!;
  }

  /** Adds the amounts of a row of the old tree to the own amounts of a row of this one. */
  add(row: number, origin: number): void {
    for (let q = 0; q < this.selfs.length; ++q) {
      this.selfs[q]![row]! += this.amounts[q]![origin]!;
      const spread = this.spreads[q];
      if (!spread) continue;
      const error = spread[origin]!;
      this.errors[q]![row]! += this.from.independent[q] ? error * error : error;
    }
  }

  markCut(row: number): void {
    this.cut[row] = 1;
  }

  finish(): Tree {
    return new Tree({
      parent: Uint32Array.from(this.parent), method: Uint32Array.from(this.method),
      type: Uint8Array.from(this.type), thread: null,
      selfs: this.selfs.map((self) => Float64Array.from(self)),
      errors: this.errors.map((error, q) => error && Float32Array.from(
        error, (e) => (this.from.independent[q] ? Math.sqrt(e) : e))),
    }, this.from.independent, null, Uint8Array.from(this.cut));
  }
}

/** Sorts candidates into rows by method; each new row gets a slice of `rows`. */
class Groups {
  readonly begin: number[] = [];
  readonly end: number[] = [];
  private readonly stamp: Uint32Array;
  private readonly slot: Uint32Array;
  private mark = 0;

  constructor(methods: number, private readonly builder: Builder) {
    this.stamp = new Uint32Array(methods);
    this.slot = new Uint32Array(methods);
  }

  /** Calls `place(i, at)` for each candidate. Returns the place behind the last one. */
  split(count: number, parent: number, used: number, methodOf: (i: number) => number,
        place: (i: number, at: number) => void): number {
    const { stamp, slot, begin, end } = this;
    ++this.mark;
    const first = this.builder.length;
    for (let i = 0; i < count; ++i) {
      const method = methodOf(i);
      if (stamp[method] !== this.mark) {
        stamp[method] = this.mark;
        slot[method] = this.builder.row(parent, method);
        end.push(0);
      }
      ++end[slot[method]!]!;  // the number, until the next loop
    }
    for (let row = first; row < this.builder.length; ++row) {
      const size = end[row]!;
      begin[row] = end[row] = used;
      used += size;
    }
    for (let i = 0; i < count; ++i) place(i, end[slot[methodOf(i)]!]!++);
    return used;
  }
}

/** Returns the trees below these rows, merged by method path. None of the rows may be below another
 * one. If threads are to be merged, all become the method `threads`. */
export function mergedCallees(tree: Tree, tops: ArrayLike<number>, methods: number,
                              threads = -1): Tree {
  const builder = new Builder(tree, tree.columns.selfs, tree.columns.errors);
  const groups = new Groups(methods, builder);
  const rows = new Uint32Array(tree.length);
  const methodOf = (row: number) =>
    (threads >= 0 && tree.type[row] === 84 ? threads : tree.method[row]!);
  const { start, list } = tree.children;
  const weight = tree.columns.selfs[0]!;
  let candidates = Uint32Array.from(tops);
  let used = 0;
  const split = (count: number, parent: number) => {
    used = groups.split(count, parent, used, (i) => methodOf(candidates[i]!),
                        (i, at) => { rows[at] = candidates[i]!; });
  };
  split(candidates.length, NO_ROW);
  for (let row = 0; row < builder.length; ++row) {
    let count = 0;
    for (let i = groups.begin[row]!; i < groups.end[row]!; ++i) {
      const origin = rows[i]!;
      builder.add(row, origin);
      builder.describe(row, origin, weight[origin]!);
      count += start[origin + 1]! - start[origin]!;
    }
    if (count > candidates.length) candidates = new Uint32Array(2 * count);
    count = 0;
    for (let i = groups.begin[row]!; i < groups.end[row]!; ++i) {
      for (let c = start[rows[i]!]!; c < start[rows[i]! + 1]!; ++c) candidates[count++] = list[c]!;
    }
    split(count, row);
  }
  return builder.finish();
}

export interface Callers {
  items: Uint32Array;          // rows of the tree whose callers are wanted
  cumulative: boolean;         // with all that they called, or their own amounts
  weight: Float64Array;        // by row; a caller below `smallest` in sum is not divided further
  smallest: number;
}

/** Returns the tree turned around: roots are the items' methods, below each are its callers. A
 * row's own amounts are those of items whose path ends there. */
export function callers(tree: Tree, methods: number, wanted: Callers): Tree {
  const { items, cumulative, weight, smallest } = wanted;
  const quantities = tree.columns.selfs.map((_, q) => q);
  const builder = new Builder(tree,
    quantities.map((q) => (cumulative ? tree.cum(q) : tree.self(q))),
    quantities.map((q) => (cumulative ? tree.cumError(q) : tree.error(q))));
  const groups = new Groups(methods, builder);
  // For each item of the level that is divided, and of the one that this makes: where its path is.
  let [item, at] = [items, items];
  let [nextItem, nextAt] = [new Uint32Array(items.length), new Uint32Array(items.length)];
  const from = { item, at };
  const place = (i: number, to: number) => {
    nextItem[to] = from.item[i]!;
    nextAt[to] = from.at[i]!;
  };
  groups.split(items.length, NO_ROW, 0, (i) => tree.method[items[i]!]!, place);
  const moving = { item: new Uint32Array(items.length), at: new Uint32Array(items.length) };
  for (let row = 0; row < builder.length;) {
    const end = builder.length;
    [item, at] = [nextItem, nextAt];
    [nextItem, nextAt] = [new Uint32Array(items.length), new Uint32Array(items.length)];
    let used = 0;
    for (; row < end; ++row) {
      let sum = 0;
      for (let i = groups.begin[row]!; i < groups.end[row]!; ++i) {
        sum += Math.max(0, weight[item[i]!]!);
        builder.describe(row, at[i]!, weight[item[i]!]!);
      }
      const ends = sum < smallest;
      let count = 0;
      for (let i = groups.begin[row]!; i < groups.end[row]!; ++i) {
        const above = tree.parent[at[i]!]!;
        if (above === NO_ROW || ends) {
          builder.add(row, item[i]!);
          if (above !== NO_ROW) builder.markCut(row);
        } else {
          moving.item[count] = item[i]!;
          moving.at[count++] = above;
        }
      }
      [from.item, from.at] = [moving.item, moving.at];
      used = groups.split(count, row, used, (i) => tree.method[from.at[i]!]!, place);
    }
  }
  return builder.finish();
}
