// Divides a rectangle into parts with given areas that are close to squares (Bruls, Huizing and
// van Wijk, "Squarified treemaps", 2000).

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Returns the worse of the ratios of length to breadth of the largest and the smallest of several
 * rectangles with this whole area, laid side by side along a line. */
function worstRatio(largest: number, smallest: number, area: number, line: number): number {
  const breadth = area / line;
  return Math.max(largest / breadth ** 2, breadth ** 2 / smallest);
}

/** Returns a part of the box for each size, with the same share of its area. Sizes are above 0, the
 * largest first. */
export function squarify(sizes: readonly number[], box: Rect): Rect[] {
  const parts: Rect[] = [];
  const sum = sizes.reduce((all, one) => all + one, 0);
  const scale = sum > 0 ? (box.width * box.height) / sum : 0;
  let rest = box;
  while (parts.length < sizes.length) {
    const line = Math.max(Math.min(rest.width, rest.height), 1e-9);
    let area = 0;
    let worst = Infinity;
    let end = parts.length;
    for (; end < sizes.length; ++end) {
      const own = sizes[end]! * scale;
      const next = worstRatio(sizes[parts.length]! * scale, own, area + own, line);
      if (next > worst) break;
      worst = next;
      area += own;
    }
    if (end === parts.length) ++end;   // an area of 0
    rest = addRow(parts, sizes.slice(parts.length, end).map((one) => one * scale), area, rest);
  }
  return parts;
}

/** Adds rectangles side by side along the shorter side of the box. Returns what remains of it. */
function addRow(parts: Rect[], areas: number[], area: number, box: Rect): Rect {
  const { x, y, width, height } = box;
  const isColumn = width >= height;
  const breadth = area / Math.max(isColumn ? height : width, 1e-9);
  let at = isColumn ? y : x;
  for (const own of areas) {
    const length = area > 0 ? own / breadth : 0;
    parts.push(isColumn ? { x, y: at, width: breadth, height: length }
                        : { x: at, y, width: length, height: breadth });
    at += length;
  }
  return isColumn ? { x: x + breadth, y, width: Math.max(0, width - breadth), height }
                  : { x, y: y + breadth, width, height: Math.max(0, height - breadth) };
}
