// Collapses packages and libraries into one frame each, and removes methods. One mapping of frames
// makes another tree, which all tabs show, and other calls over time.

import { globOf, groupTest, type Names } from "./names.js";
import { NO_METHOD, NO_ROW, Tree } from "./tree.js";

export const GROUP = 71;           // the letter of a collapsed frame, G
const HIDDEN = 0xffffffff;

/** States by method what becomes of its frames: the method itself, the name of a group, or
 * HIDDEN. */
export interface Mapping {
  to: Uint32Array;
  counts: Map<string, number>;     // by pattern: the methods that it matches
}

export function mappingOf(names: Names, collapse: string[], hide: string[]): Mapping {
  const groups = collapse.map((pattern) => ({
    pattern, id: names.group(pattern), matches: groupTest(pattern),
  }));
  const hidden = hide.map((pattern) => ({ pattern, glob: globOf(pattern) }));
  const to = Uint32Array.from({ length: names.length }, (_, method) => method);
  const counts = new Map([...collapse, ...hide].map((pattern) => [pattern, 0]));
  const map = (method: number, pattern: string, target: number) => {
    to[method] = target;
    counts.set(pattern, counts.get(pattern)! + 1);
  };
  for (let method = 0; method < names.given; ++method) {
    const forms = hidden.length > 0 ? names.forms(method) : [];
    const gone = hidden.find(({ glob }) => forms.some((form) => glob.test(form)));
    const group = gone ? undefined : groups.find((one) => one.matches(names.packageOf(method)));
    if (gone) map(method, gone.pattern, HIDDEN);
    else if (group) map(method, group.pattern, group.id);
  }
  return { to, counts };
}

/** Makes the rows of the new tree, and maps those of the old one to them. */
class Rows {
  readonly parent: Uint32Array;
  readonly method: Uint32Array;
  readonly type: Uint8Array;
  readonly origin: Uint32Array;          // by new row: the first old one
  readonly place: Uint32Array;           // by old row: the new one
  readonly enters: Uint8Array;           // by old row: not inside of a group, not hidden
  length = 0;
  private readonly slots: Uint32Array;   // a hash table of rows; each row + 1, or 0
  private readonly mask: number;

  constructor(private readonly tree: Tree, private readonly to: Uint32Array) {
    const { length } = tree;
    const column = () => new Uint32Array(length);
    [this.parent, this.method, this.origin, this.place] = [column(), column(), column(), column()];
    [this.type, this.enters] = [new Uint8Array(length), new Uint8Array(length)];
    this.mask = 2 ** Math.ceil(Math.log2(2 * length + 2)) - 1;
    this.slots = new Uint32Array(this.mask + 1);
    for (let row = 0; row < length; ++row) this.place[row] = this.placeOf(row);
  }

  private placeOf(row: number): number {
    const { code, method, parent, type } = this.tree;
    const above = parent[row] === NO_ROW ? NO_ROW : this.place[parent[row]!]!;
    const own = code[row]!;              // a line's is that of its symbol
    const target = own === NO_METHOD ? own : this.to[own]!;
    const isKept = target === own || (target === HIDDEN && above === NO_ROW);
    if (!isKept && above !== NO_ROW && (target === HIDDEN || this.isIn(above, target))) {
      return above;
    }
    this.enters[row] = 1;
    if (own === NO_METHOD) return this.add(row, above, method[row]!, type[row]!);
    return isKept ? this.findOrAdd(row, above, method[row]!, type[row]!)
                  : this.findOrAdd(row, above, target, GROUP);
  }
  private isIn(row: number, group: number): boolean {
    return this.type[row] === GROUP && this.method[row] === group;
  }

  private add(origin: number, parent: number, method: number, type: number): number {
    this.origin[this.length] = origin;
    this.parent[this.length] = parent;
    this.method[this.length] = method;
    this.type[this.length] = type;
    return this.length++;
  }
  private findOrAdd(origin: number, parent: number, method: number, type: number): number {
    const hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(method, 0x85ebca6b) ^ type;
    let slot = (hash ^ (hash >>> 15)) & this.mask;
    for (; this.slots[slot] !== 0; slot = (slot + 1) & this.mask) {
      const row = this.slots[slot]! - 1;
      if (this.parent[row] === parent && this.method[row] === method && this.type[row] === type) {
        return row;
      }
    }
    this.slots[slot] = this.length + 1;
    return this.add(origin, parent, method, type);
  }

  /** Adds up a column of the old tree. */
  sums(column: ArrayLike<number>, part: (value: number, row: number) => number): Float64Array {
    const sums = new Float64Array(this.length);
    for (let row = 0; row < this.place.length; ++row) {
      sums[this.place[row]!]! += part(column[row]!, row);
    }
    return sums;
  }
}

/** Holds the tree after a mapping. */
export interface Regrouped {
  tree: Tree;
  origin: Uint32Array;   // by row: the first row of the old tree that is in it
}

/** Maps each frame. Consecutive frames of a group are one row; a hidden frame's amounts are its
 * caller's; rows of the same method and type below one row are one. All amounts add up as before,
 * except calls: of these, entries into a row count. `isCalls` states by quantity what calls are. */
export function regrouped(tree: Tree, { to }: Mapping, isCalls: boolean[]): Regrouped {
  const rows = new Rows(tree, to);
  const { thread, selfs, errors } = tree.columns;
  const origin = rows.origin.slice(0, rows.length);
  const all = (value: number) => value;
  const entries = (value: number, row: number) => (rows.enters[row] ? value : 0);
  return {
    origin,
    tree: new Tree({
      parent: rows.parent.slice(0, rows.length), method: rows.method.slice(0, rows.length),
      type: rows.type.slice(0, rows.length),
      thread: thread && origin.map((row) => thread[row]!),
      selfs: selfs.map((self, q) => rows.sums(self, isCalls[q] ? entries : all)),
      errors: errors.map((error, q) => error && Float32Array.from(tree.independent[q]
        ? rows.sums(error, (value) => value * value).map(Math.sqrt) : rows.sums(error, all))),
    }, tree.independent),
  };
}

/** Holds columns of calls over time, ordered by track, depth and begin. */
export interface Slices {
  track: Uint32Array;
  depth: Uint32Array;
  method: Uint32Array;
  type: Uint8Array;
  begin: Float64Array;
  length: Float64Array;
}

/** Maps each call over time, as `regrouped` maps rows. Calls of a group that follow one another
 * stay apart. */
export function regroupedSlices(slices: Slices, { to }: Mapping): Slices {
  const { track, depth, method, type, begin, length } = slices;
  const above = callsAbove(slices);
  const level = new Uint32Array(depth);                       // of a hidden call, one less
  const group = new Uint32Array(track.length).fill(HIDDEN);   // that the call is in
  const kept = Uint32Array.from(track.keys()).filter((i) => {
    const target = to[method[i]!]!;
    const outer = above[i]! === NO_ROW ? HIDDEN : group[above[i]!]!;
    const isKept = target === method[i] || (target !== HIDDEN && target !== outer);
    if (target !== method[i]) group[i] = target === HIDDEN ? outer : target;
    if (above[i] !== NO_ROW) level[i] = level[above[i]!]! + 1;
    if (!isKept) --level[i]!;
    return isKept;
  }).sort((a, b) => track[a]! - track[b]! || level[a]! - level[b]! || begin[a]! - begin[b]! ||
      length[a]! - length[b]! || a - b);
  return {
    track: kept.map((i) => track[i]!), depth: kept.map((i) => level[i]!),
    method: kept.map((i) => to[method[i]!]!),
    type: Uint8Array.from(kept, (i) => (to[method[i]!] === method[i] ? type[i]! : GROUP)),
    begin: Float64Array.from(kept, (i) => begin[i]!),
    length: Float64Array.from(kept, (i) => length[i]!),
  };
}

/** Returns the caller of each call, or NO_ROW where the page does not contain it. */
function callsAbove({ track, depth, begin, length }: Slices): Uint32Array {
  const above = new Uint32Array(track.length).fill(NO_ROW);
  let [first, at, end] = [0, 0, 0];   // of this level; of the level above, what remains
  for (let i = 0; i < track.length; ++i) {
    if (i > 0 && (track[i] !== track[i - 1] || depth[i] !== depth[i - 1])) {
      at = track[i] === track[i - 1] && depth[i] === depth[i - 1]! + 1 ? first : i;
      first = end = i;
    }
    while (at < end && begin[at]! + length[at]! < begin[i]! + length[i]!) ++at;
    if (at < end && begin[at]! <= begin[i]!) above[i] = at;
  }
  return above;
}
