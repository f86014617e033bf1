// Provides the children of rows in the order in which they are drawn. By width, they are sorted
// when a row is first drawn: most rows of a large tree are never seen.

import { NO_ROW, type Tree } from "./tree.js";

export class Order {
  readonly start: Uint32Array;
  readonly list: Uint32Array;
  readonly inner: Float64Array;   // by row: the sum of its children's widths
  private readonly sorted: Uint8Array | null;

  constructor(readonly tree: Tree, readonly width: Float64Array, readonly heavy: boolean) {
    const { start, list } = tree.children;
    this.start = start;
    this.list = heavy ? list.slice() : list;
    this.inner = new Float64Array(tree.length + 1);
    for (let row = 0; row < tree.length; ++row) {
      const above = tree.parent[row]!;
      this.inner[above === NO_ROW ? tree.length : above]! += width[row]!;
    }
    this.sorted = heavy ? new Uint8Array(tree.length + 1) : null;
  }

  /** Must be called before the list is read between start[row] and start[row + 1]. */
  prepare(row: number): void {
    if (!this.sorted || this.sorted[row]) return;
    this.sorted[row] = 1;
    const part = this.list.subarray(this.start[row]!, this.start[row + 1]!);
    if (part.length > 1) part.sort((a, b) => this.width[b]! - this.width[a]! || a - b);
  }

  /** Returns where a row begins, in the unit of the widths. */
  left(row: number): number {
    let x = 0;
    const path = this.tree.path(row);
    path.forEach((at, i) => {
      const above = i === 0 ? this.tree.length : path[i - 1]!;
      this.prepare(above);
      for (let c = this.start[above]!; this.list[c] !== at && c < this.start[above + 1]!; ++c) {
        x += this.width[this.list[c]!]!;
      }
    });
    return x;
  }

  /** firstChild and sibling return NO_ROW where there is none that has a width. */
  firstChild(row: number): number {
    this.prepare(row);
    const child = this.list[this.start[row]!]!;
    return this.start[row]! < this.start[row + 1]! && this.width[child]! > 0 ? child : NO_ROW;
  }
  sibling(row: number, step: number): number {
    const above = this.tree.parent[row] === NO_ROW ? this.tree.length : this.tree.parent[row]!;
    this.prepare(above);
    const at = this.list.subarray(this.start[above]!, this.start[above + 1]!).indexOf(row) + step;
    const count = this.start[above + 1]! - this.start[above]!;
    if (at < 0 || at >= count) return NO_ROW;
    const found = this.list[this.start[above]! + at]!;
    return this.width[found]! > 0 ? found : NO_ROW;
  }
}
