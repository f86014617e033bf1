// Keeps the rectangles that a flame graph has drawn, to find the one at a place.

export class Hits {
  count = 0;
  private left = new Float32Array(4096);
  private right = new Float32Array(4096);
  private level = new Uint16Array(4096);
  private row = new Int32Array(4096);

  add(left: number, right: number, level: number, row: number): void {
    if (this.count === this.row.length) this.grow();
    this.left[this.count] = left;
    this.right[this.count] = right;
    this.level[this.count] = level;
    this.row[this.count++] = row;
  }
  find(x: number, level: number): number {
    for (let i = 0; i < this.count; ++i) {
      if (this.level[i] === level && x >= this.left[i]! && x < this.right[i]!) return this.row[i]!;
    }
    return -1;
  }
  private grow(): void {
    const size = 2 * this.row.length;
    const copy = <T extends Float32Array | Uint16Array | Int32Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.left = copy(new Float32Array(size), this.left);
    this.right = copy(new Float32Array(size), this.right);
    this.level = copy(new Uint16Array(size), this.level);
    this.row = copy(new Int32Array(size), this.row);
  }
}
