// Provides a tree of rows in columns. A row's parent is before it, so one pass from the last row to
// the first computes cumulative values. Columns are typed arrays: there is no object per row.

export const NO_ROW = 0xffffffff;
export const NO_METHOD = 0xffffffff;

/** Columns of amounts by quantity: of the rows of a tree, or of methods. */
export interface Amounts {
  readonly length: number;
  self(quantity: number): Float64Array;
  cum(quantity: number): Float64Array;
}

/** A parent's children are list[start[row]] to list[start[row + 1]] (exclusive); those of the row
 * `rows` are the roots. */
export interface Children {
  start: Uint32Array;
  list: Uint32Array;
}

export function accumulate(parent: Uint32Array, self: ArrayLike<number>): Float64Array {
  const sums = Float64Array.from(self);
  for (let row = sums.length - 1; row >= 0; --row) {
    const above = parent[row]!;
    if (above !== NO_ROW) sums[above]! += sums[row]!;
  }
  return sums;
}

/** Returns whether the letter is of rows that are not code: threads, processes, modules. */
export function isContainer(type: number): boolean {
  return type === 84 || type === 80 || type === 77;  // T P M
}
/** Returns whether an L is a line of tprof, below a symbol. Elsewhere it is an inlined method. */
function isLine(type: number, above: number): boolean {
  return type === 76 && above === 83;  // L below S
}

export interface TreeColumns {
  parent: Uint32Array;
  method: Uint32Array;
  type: Uint8Array;
  thread: Uint32Array | null;
  selfs: Float64Array[];
  errors: (Float32Array | null)[];
  labels?: string[];       // of a heap dump: model/heap.ts
  joined?: Float64Array;
}

export class Tree implements Amounts {
  readonly length: number;
  readonly parent: Uint32Array;
  readonly method: Uint32Array;
  readonly type: Uint8Array;
  private cums: Float64Array[] = [];
  private cumErrors: Float64Array[] = [];
  private childrenMade: Children | null = null;
  private depthMade: Uint32Array | null = null;
  private codeMade: Uint32Array | null = null;
  private outermostMade: Uint8Array | null = null;

  /** `independent` states by quantity whether errors of rows add up as squares, not linearly.
   * `kept` marks rows that a filter left, and the rows above them. `cut` marks rows whose children
   * were not computed. */
  constructor(readonly columns: TreeColumns, readonly independent: boolean[],
              readonly kept: Uint8Array | null = null, readonly cut: Uint8Array | null = null) {
    this.parent = columns.parent;
    this.method = columns.method;
    this.type = columns.type;
    this.length = columns.parent.length;
  }

  self(quantity: number): Float64Array {
    return this.columns.selfs[quantity]!;
  }
  cum(quantity: number): Float64Array {
    return this.cums[quantity] ??= accumulate(this.parent, this.self(quantity));
  }
  error(quantity: number): Float32Array | null {
    return this.columns.errors[quantity] ?? null;
  }

  cumError(quantity: number): Float64Array | null {
    const errors = this.error(quantity);
    if (!errors) return null;
    return this.cumErrors[quantity] ??= this.independent[quantity]
      ? accumulate(this.parent, Float64Array.from(errors, (e) => e * e)).map(Math.sqrt)
      : accumulate(this.parent, errors);
  }

  total(quantity: number): number {
    return this.sumOfRoots(this.cum(quantity));
  }
  sumOfRoots(column: Float64Array): number {
    const { start, list } = this.children;
    let sum = 0;
    for (let i = start[this.length]!; i < start[this.length + 1]!; ++i) sum += column[list[i]!]!;
    return sum;
  }
  totalError(quantity: number): number {
    const errors = this.cumError(quantity);
    if (!errors) return 0;
    if (!this.independent[quantity]) return this.sumOfRoots(errors);
    return Math.sqrt(this.sumOfRoots(errors.map((e) => e * e)));
  }

  get children(): Children {
    return this.childrenMade ??= this.makeChildren();
  }

  private makeChildren(): Children {
    const { parent, length, kept } = this;
    const start = new Uint32Array(length + 2);
    const above = (row: number) => (parent[row] === NO_ROW ? length : parent[row]!);
    let count = 0;
    for (let row = 0; row < length; ++row) {
      if (kept && !kept[row]) continue;
      ++start[above(row) + 1]!;
      ++count;
    }
    for (let row = 0; row <= length; ++row) start[row + 1]! += start[row]!;
    const next = start.slice(0, length + 1);
    const list = new Uint32Array(count);
    for (let row = 0; row < length; ++row) {
      if (!kept || kept[row]) list[next[above(row)]!++] = row;
    }
    return { start, list };
  }

  /** Returns the levels of rows, which are 0 for roots. */
  get depth(): Uint32Array {
    if (this.depthMade) return this.depthMade;
    const depth = new Uint32Array(this.length);
    for (let row = 0; row < this.length; ++row) {
      const above = this.parent[row]!;
      if (above !== NO_ROW) depth[row] = depth[above]! + 1;
    }
    return this.depthMade = depth;
  }

  /** Returns by row the method that its amounts count for in flat lists. Threads, processes and
   * modules have none, and a line has that of its symbol. */
  get code(): Uint32Array {
    if (this.codeMade) return this.codeMade;
    const code = new Uint32Array(this.length);
    for (let row = 0; row < this.length; ++row) {
      const type = this.type[row]!;
      const above = this.parent[row]!;
      if (isContainer(type)) code[row] = NO_METHOD;
      else code[row] = isLine(type, this.type[above]!) ? code[above]! : this.method[row]!;
    }
    return this.codeMade = code;
  }

  /** Is 1 where no row above is of the same method: there, cumulative values count for it. */
  get outermost(): Uint8Array {
    if (this.outermostMade) return this.outermostMade;
    const { code, length } = this;
    const { start, list } = this.children;
    const outermost = new Uint8Array(length);
    let methods = 0;
    for (let row = 0; row < length; ++row) {
      if (code[row] !== NO_METHOD && code[row]! >= methods) methods = code[row]! + 1;
    }
    const open = new Uint32Array(methods);  // rows of the method on the path
    const next = start.slice();             // the next child to visit, by row
    let row = length;                       // the root above all roots
    for (;;) {
      if (next[row]! < start[row + 1]!) {
        row = list[next[row]!++]!;
        const method = code[row]!;
        if (method !== NO_METHOD && open[method]!++ === 0) outermost[row] = 1;
        continue;
      }
      if (row === length) break;
      if (code[row] !== NO_METHOD) --open[code[row]!]!;
      row = this.parent[row] === NO_ROW ? length : this.parent[row]!;
    }
    return this.outermostMade = outermost;
  }

  /** Returns the rows from the root to this one. */
  path(row: number): number[] {
    const rows: number[] = [];
    for (; row !== NO_ROW; row = this.parent[row]!) rows.push(row);
    return rows.reverse();
  }
}
