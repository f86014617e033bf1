// Lists what strips can show, and computes them for the visible times.

import { formatValue } from "../model/format.js";
import { spread, type Range, type StripMetric } from "../model/stretch_pixels.js";
import type { StretchSelection } from "../model/stretch_selection.js";
import type { Mask } from "../model/stretch_filter.js";
import type { StretchMetric } from "../model/stretches.js";

export interface Strip extends StripMetric {
  name: string;
  /** Describes a value that is `amount` in a time. */
  text(amount: number, time: number): string;
}

const FINE = 1 << 16;      // intervals of the whole recording that are kept
const WHOLE = 1 / 16;      // of the recording: from this part on they are fine enough

export function stripsOf({ metrics, stretches: { info } }: StretchSelection): Strip[] {
  const { processors } = info;
  const percent = (amount: number, time: number) =>
    `${(100 * amount / time / processors).toFixed(1)} % of ${processors} processors`;
  const rate = ({ unit }: StretchMetric) => (amount: number, time: number) =>
    `${formatValue(amount / time * 1e6, unit)} per ms`;
  const threads = (amount: number, time: number) => `${(amount / time).toFixed(2)} threads`;
  const known: Record<string, Omit<Strip, "name" | "values">> = {
    duration: { over: "run", text: percent }, waited: { over: "wait", text: threads },
    ready: { over: "ready", text: threads }, interrupts: { over: "run", text: percent },
    kernel: { over: "run", text: percent },
  };
  return [
    { name: "dispatches", values: null, over: "run",
      text: (amount, time) => `${formatValue(amount / time * 1e6, "")} per ms` },
    ...metrics.map((one): Strip => ({ name: one.name === "duration" ? "utilisation" : one.name,
      values: one.values, ...known[one.name] ?? { over: "run" as const, text: rate(one) } })),
  ];
}

/** Keeps the amounts of the whole recording, by strip and selection. */
export class StripValues {
  private kept = new Map<string, { mask: Mask | null; values: Float64Array | null; sums: Float64Array }>();

  constructor(private readonly selection: StretchSelection) {}

  /** Returns how much of a strip's metric is in each pixel. */
  of(strip: Strip, mask: Mask | null, range: Range): Float64Array {
    const { stretches } = this.selection;
    const { end } = stretches.info;
    if (range.to - range.from < WHOLE * end) return spread(stretches, strip, mask, range);
    const sums = this.whole(strip, mask);
    const step = FINE / end;
    let before = amountBefore(sums, range.from * step);
    return Float64Array.from({ length: range.width }, (_, x) => {
      const time = range.from + (x + 1) / range.width * (range.to - range.from);
      const after = amountBefore(sums, time * step);
      const amount = after - before;
      before = after;
      return amount;
    });
  }

  /** Returns the amounts before each interval of the whole recording. */
  private whole(strip: Strip, mask: Mask | null): Float64Array {
    const key = `${strip.name} ${mask === this.selection.scope ? "all" : "selected"}`;
    const found = this.kept.get(key);
    if (found?.mask === mask && found.values === strip.values) return found.sums;
    const { stretches } = this.selection;
    const parts = spread(stretches, strip, mask, { from: 0, to: stretches.info.end, width: FINE });
    const sums = new Float64Array(FINE + 1);
    for (let i = 0; i < FINE; ++i) sums[i + 1] = sums[i]! + parts[i]!;
    this.kept.set(key, { mask, values: strip.values, sums });
    return sums;
  }
}

/** Returns the amount before a place between two intervals, as if it were spread equally in these. */
function amountBefore(sums: Float64Array, place: number): number {
  const at = Math.max(0, Math.min(sums.length - 1, place));
  const low = Math.min(sums.length - 2, Math.floor(at));
  return sums[low]! + (sums[low + 1]! - sums[low]!) * (at - low);
}
