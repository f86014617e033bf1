// Makes flat lists: a tree summed by method. In cumulative values the outermost call of a recursion
// counts.

import { NO_METHOD, NO_ROW, type Amounts, type Tree } from "./tree.js";

export class MethodTable implements Amounts {
  readonly length: number;
  readonly ids: Uint32Array;        // the method of each entry
  readonly type: Uint8Array;        // that of the row with the highest self amount
  private readonly index: Int32Array;
  private readonly rowStart: Uint32Array;
  private readonly rowList: Uint32Array;
  private readonly made = new Map<string, Float64Array>();

  constructor(readonly tree: Tree, methods: number) {
    const { code } = tree;
    const counts = new Uint32Array(methods);
    const counted = (row: number) =>
      code[row] !== NO_METHOD && (!tree.kept || tree.kept[row] === 1);
    for (let row = 0; row < code.length; ++row) if (counted(row)) ++counts[code[row]!]!;
    this.index = new Int32Array(methods).fill(-1);
    const ids: number[] = [];
    for (let method = 0; method < methods; ++method) {
      if (counts[method]) this.index[method] = ids.push(method) - 1;
    }
    this.ids = Uint32Array.from(ids);
    this.length = ids.length;
    this.rowStart = new Uint32Array(this.length + 1);
    ids.forEach((method, i) => { this.rowStart[i + 1] = this.rowStart[i]! + counts[method]!; });
    this.rowList = new Uint32Array(this.rowStart[this.length]!);
    const next = this.rowStart.slice();
    this.type = new Uint8Array(this.length);
    const best = new Float64Array(this.length).fill(-Infinity);
    const weight = tree.self(tree.columns.selfs.length - 1);
    for (let row = 0; row < code.length; ++row) {
      if (!counted(row)) continue;
      const entry = this.index[code[row]!]!;
      this.rowList[next[entry]!++] = row;
      if (weight[row]! > best[entry]! && tree.method[row] === code[row]) {
        best[entry] = weight[row]!;
        this.type[entry] = tree.type[row]!;
      }
    }
  }

  /** Returns -1 if the method has no rows. */
  entryOf(method: number): number {
    return this.index[method] ?? -1;
  }
  /** Returns the rows of an entry, ascending. */
  rows(entry: number): Uint32Array {
    return this.rowList.subarray(this.rowStart[entry]!, this.rowStart[entry + 1]!);
  }
  outermostRows(entry: number): Uint32Array {
    const { outermost } = this.tree;
    return this.rows(entry).filter((row) => outermost[row] === 1);
  }

  self(quantity: number): Float64Array {
    const column = this.tree.self(quantity);
    return this.sums(`self ${quantity}`, (row) => column[row]!);
  }
  cum(quantity: number): Float64Array {
    const column = this.tree.cum(quantity);
    const { outermost } = this.tree;
    return this.sums(`cum ${quantity}`, (row) => (outermost[row] ? column[row]! : 0));
  }
  error(quantity: number): Float64Array | null {
    const column = this.tree.error(quantity);
    if (!column) return null;
    if (!this.tree.independent[quantity]) {
      return this.sums(`error ${quantity}`, (row) => column[row]!);
    }
    return this.sums(`error ${quantity}`, (row) => column[row]! ** 2, Math.sqrt);
  }
  /** Returns the error of the outermost calls. */
  cumError(quantity: number): Float64Array | null {
    const column = this.tree.cumError(quantity);
    if (!column) return null;
    const { outermost } = this.tree;
    if (!this.tree.independent[quantity]) {
      return this.sums(`cum error ${quantity}`, (row) => (outermost[row] ? column[row]! : 0));
    }
    return this.sums(`cum error ${quantity}`, (row) => (outermost[row] ? column[row]! ** 2 : 0),
                     Math.sqrt);
  }
  contexts(): Float64Array {
    return this.sums("contexts", () => 1);
  }

  /** Returns how much the cost per call differs between contexts: the standard deviation of the
   * contexts' means, weighted by calls, in parts of the method's mean. */
  spread(calls: number, quantity: number): Float64Array {
    const key = `spread ${calls} ${quantity}`;
    const made = this.made.get(key);
    if (made) return made;
    const [n, x] = [this.tree.self(calls), this.tree.self(quantity)];
    const squares = this.sums(`${key} squares`, (row) =>
      (n[row]! > 0 ? x[row]! ** 2 / n[row]! : 0));
    const [allCalls, all] = [this.self(calls), this.self(quantity)];
    const spread = squares.map((square, i) => {
      const mean = all[i]! / allCalls[i]!;
      return Math.sqrt(Math.max(0, square / allCalls[i]! - mean * mean)) / Math.abs(mean);
    });
    this.made.set(key, spread);
    return spread;
  }

  private sums(key: string, value: (row: number) => number,
               finish?: (sum: number) => number): Float64Array {
    const made = this.made.get(key);
    if (made) return made;
    const sums = new Float64Array(this.length);
    for (let entry = 0; entry < this.length; ++entry) {
      let sum = 0;
      for (let i = this.rowStart[entry]!; i < this.rowStart[entry + 1]!; ++i) {
        sum += value(this.rowList[i]!);
      }
      sums[entry] = finish ? finish(sum) : sum;
    }
    this.made.set(key, sums);
    return sums;
  }
}

/** The amounts of a pair of caller and callee. */
export interface Edge {
  method: number;   // the other one, or NO_METHOD for a thread
  calls: number;
  cum: number;
}

/** Returns the callers or callees of a method, the largest first. A pair that is on the path more
 * than once counts where it is outermost; its calls are all of them. */
export function edges(table: MethodTable, entry: number, which: "callers" | "callees",
                      calls: number, quantity: number): Edge[] {
  const { tree } = table;
  const { code, parent } = tree;
  const [callsOf, cumOf] = [calls >= 0 ? tree.self(calls) : null, tree.cum(quantity)];
  const found = new Map<number, Edge>();
  const codeAbove = (row: number) => (parent[row] === NO_ROW ? NO_METHOD : code[parent[row]!]!);
  const add = (row: number, method: number) => {
    const edge = found.get(method) ?? { method, calls: 0, cum: 0 };
    found.set(method, edge);
    edge.calls += callsOf ? callsOf[row]! : 0;
    if (!hasPairAbove(row)) edge.cum += cumOf[row]!;
  };
  const hasPairAbove = (row: number): boolean => {
    const [caller, callee] = [codeAbove(row), code[row]!];
    if (tree.outermost[row]) return false;
    for (let at = parent[row]!; at !== NO_ROW; at = parent[at]!) {
      if (code[at] === callee && codeAbove(at) === caller) return true;
    }
    return false;
  };
  const { start, list } = tree.children;
  for (const row of table.rows(entry)) {
    if (which === "callers") {
      add(row, codeAbove(row));
      continue;
    }
    for (let i = start[row]!; i < start[row + 1]!; ++i) {
      const child = list[i]!;
      if (code[child] !== code[row] || tree.method[child] === code[child]) add(child, code[child]!);
    }
  }
  return [...found.values()].sort((a, b) => b.cum - a.cum || b.calls - a.calls);
}

export interface ContextRow {
  row: number;
  calls: number;
  value: number;     // own amount
  error: number;
  expected: number;  // calls at the method's mean
}

/** Returns the contexts of a method. Those that differ most from the method's mean are first. */
export function contexts(table: MethodTable, entry: number, calls: number,
                         quantity: number): ContextRow[] {
  const { tree } = table;
  const [x, e] = [tree.self(quantity), tree.error(quantity)];
  const n = calls >= 0 ? tree.self(calls) : null;
  const mean = n ? table.self(quantity)[entry]! / table.self(calls)[entry]! : NaN;
  const rows = Array.from(table.rows(entry), (row) => ({
    row, calls: n ? n[row]! : 0, value: x[row]!, error: e ? e[row]! : 0,
    expected: n && Number.isFinite(mean) ? n[row]! * mean : NaN,
  }));
  const size = (one: ContextRow) =>
    (Number.isNaN(one.expected) ? one.value : Math.abs(one.value - one.expected));
  return rows.sort((a, b) => size(b) - size(a));
}
