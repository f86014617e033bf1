// Maps values to places on an axis. The scale is linear, logarithmic, or symmetric: nearly linear
// near 0, logarithmic far from it, on both sides.

export type ScaleKind = "linear" | "logarithmic" | "symmetric";

export interface ScaleOptions {
  kind: ScaleKind;
  linear?: number | undefined;   // of a symmetric scale
  whole: boolean;                // values are counts
  begin: number;                 // of the axis, in pixels
  end: number;
}

/** Returns whether a value has a place on an axis. */
export function isShown(value: number, kind: ScaleKind): boolean {
  return Number.isFinite(value) && (kind !== "logarithmic" || value > 0);
}

/** Returns up to where a symmetric scale should be linear, a power of ten, or 0 if the values do not
 * span decades, so that a linear scale shows all of them. */
export function linearPart(values: ArrayLike<number>): number {
  const sizes = Array.from(values, Math.abs).filter((size) => size > 0 && Number.isFinite(size));
  const least = Math.min(...sizes);
  return Math.max(...sizes) > 50 * least ? 10 ** Math.floor(Math.log10(least)) : 0;
}

export class Scale {
  private constructor(private readonly from: number, private readonly to: number,
                      private readonly options: ScaleOptions) {}

  /** Makes a scale on which all values have a place and, unless it is logarithmic, 0. */
  static of(values: readonly number[], options: ScaleOptions): Scale {
    const { kind } = options;
    const none = new Scale(0, 1, options);
    const places = values.filter((value) => isShown(value, kind)).map((value) => none.mapped(value));
    if (kind !== "logarithmic" && places.length > 0) places.push(0);
    if (places.length === 0) places.push(0, 1);
    const [from, to] = [places.reduce((a, b) => Math.min(a, b)), places.reduce((a, b) => Math.max(a, b))];
    const edge = kind === "logarithmic" ? Math.log10(1.3) : (to - from) * 0.03 || 1;
    return new Scale(from - edge, to + edge, options);
  }

  at(value: number): number {
    const { begin, end } = this.options;
    return begin + ((this.mapped(value) - this.from) / (this.to - this.from)) * (end - begin);
  }
  /** Returns the value whose place this is. */
  valueAt(place: number): number {
    const { kind, begin, end, linear = 1 } = this.options;
    const mapped = this.from + ((place - begin) / (end - begin)) * (this.to - this.from);
    if (kind === "linear") return mapped;
    if (kind === "logarithmic") return 10 ** mapped;
    return Math.sign(mapped) * linear * (10 ** Math.abs(mapped) - 1);
  }

  ticks(): number[] {
    const { kind, begin, end } = this.options;
    const from = this.valueAt(begin);
    const to = this.valueAt(end);
    const most = Math.max(2, Math.min(7, Math.floor(Math.abs(end - begin) / 45)));
    if (kind === "linear") return this.linearTicks(from, to, most);
    if (kind === "logarithmic") return powers(from, to, most);
    const { linear = 1 } = this.options;
    const above = to > linear ? powers(linear, to, most) : [];
    const below = -from > linear ? powers(linear, -from, most) : [];
    return [...below.reverse().map((power) => -power), 0, ...above];
  }
  private linearTicks(from: number, to: number, most: number): number[] {
    const raw = (to - from) / most;
    const size = 10 ** Math.floor(Math.log10(raw));
    const fitting = [1, 2, 5, 10].map((x) => x * size).find((x) => x >= raw) ?? size;
    const step = this.options.whole ? Math.max(1, fitting) : fitting;
    const ticks: number[] = [];
    for (let i = Math.ceil(from / step); i * step <= to; ++i) ticks.push(i * step + 0);   // not -0
    return ticks;
  }

  private mapped(value: number): number {
    const { kind, linear = 1 } = this.options;
    if (kind === "linear") return value;
    if (kind === "logarithmic") return Math.log10(value);
    return Math.sign(value) * Math.log10(1 + Math.abs(value) / linear);
  }
}

/** Returns about as many powers of ten between two positive values as there may be at most. */
function powers(from: number, to: number, most: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
  const step = Math.max(1, Math.ceil((last - first) / most));
  const found: number[] = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found;
}
