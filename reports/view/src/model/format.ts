// Formats numbers as text: three significant digits, units that fit, thousands separators.

const FORMATS = [0, 1, 2].map((digits) => new Intl.NumberFormat("en-US", {
  minimumFractionDigits: digits, maximumFractionDigits: digits,
}));

export function withSeparators(value: number, digits: 0 | 1 | 2 = 0): string {
  return FORMATS[digits]!.format(value);
}

/** Rounds to three significant digits, at most to a whole number. */
function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
function significant(value: number): string {
  const size = Math.abs(rounded(value));
  if (size >= 100 || value === 0) return withSeparators(value);
  if (size < 1) return String(Number(value.toPrecision(3)));
  return withSeparators(value, size >= 10 ? 1 : 2);
}

const TIMES: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
const BYTES: [number, string][] = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

function scaled(value: number, units: [number, string][], base: string): string {
  for (const [size, name] of units) {
    if (Math.abs(rounded(value / size)) >= 1) return `${significant(value / size)} ${name}`;
  }
  return `${significant(value)} ${base}`;
}

/** Formats a value. If `whole`, values are counts, which print without a fraction. */
export function formatValue(value: number, unit: string, whole = false): string {
  if (!Number.isFinite(value)) return "";
  if (unit === "ns") return scaled(value, TIMES, "ns");
  if (unit === "bytes" || unit === "B") return scaled(value, BYTES, "B");
  if (whole) return withSeparators(value);
  if (value !== 0 && Math.abs(value) < 0.01) return value.toPrecision(2);
  return significant(value);
}

/** Half of a 95 % interval of a normal distribution, in standard deviations. */
export const INTERVAL = 1.959964;

/** How a quantity's values are printed, and what their errors mean. */
export interface Kind {
  unit: string;
  whole: boolean;
  independent: boolean;  // values are sums of samples, so errors of rows add up as squares
  /** The amount that one sample represents in a row without samples. */
  oneSample?: number;
  /** What several runs add to the interval: half of that of their difference, relative to the
   * value, and the factor of the variance of that many samples. */
  runArm?: (value: number) => number;
  dispersion?: (value: number, samples: number) => number;
  /** The same for values of a context alone, where these differ. */
  alone?: Kind;
}

/** Returns how values of a context alone are printed. */
export function ofAlone(kind: Kind): Kind {
  return kind.alone ?? kind;
}

/** The distances from a value to the ends of its 95 % interval. */
interface Arms {
  below: number;
  above: number;
}

interface Uncertainty {
  half: number;     // of the 95 % interval
  upper: number;    // its upper end
  isVague: boolean; // too wide for a number, so `<X` is printed
}

/** Computes the interval as the text reports do (docs/REPORTS.md). For samples it combines the
 * score interval of their number, which is right for few, too, and the difference between runs. */
function armsOf(value: number, error: number, kind: Kind, oneSample: number): Arms {
  const perSample = !kind.independent ? 0 : value > 0 ? error * error / value : oneSample;
  const dispersion = kind.dispersion && value > 0 ? kind.dispersion(value, value / perSample) : 1;
  const shift = dispersion * perSample * INTERVAL * INTERVAL / 2;
  const arm = kind.runArm && value > 0 ? kind.runArm(value) * value : 0;
  const counting = Math.hypot(INTERVAL * error * Math.sqrt(dispersion), shift);
  return { below: Math.hypot(counting - shift, arm), above: Math.hypot(counting + shift, arm) };
}

export interface Uncertain {
  value: number;
  error: number;
  kind: Kind;
}

/** Returns whether the 95 % interval of the change contains 0. The interval is computed from those
 * of both values, as in `jprof compare` (model/values/statistics.h). */
export function isWithinError(before: Uncertain, after: Uncertain): boolean {
  const [was, is] = [before, after].map(({ value, error, kind }) =>
    armsOf(value, error, kind, kind.oneSample ?? 0)) as [Arms, Arms];
  const change = after.value - before.value;
  return !(change > Math.hypot(is.below, was.above) || -change > Math.hypot(is.above, was.below));
}

export function uncertaintyOf(value: number, error: number, kind: Kind): Uncertainty {
  const { below, above } = armsOf(value, error, kind, 0);
  const half = (above + (kind.independent ? Math.min(below, value) : below)) / 2;
  const isVague = half > 0 && (kind.independent ? half > value : 2 * half > value);
  return { half, upper: Math.max(value, 0) + above, isVague };
}

/** Returns whether the value is a number of samples. Such a value is known, however little it shows
 * of the whole. */
function isNumberOfSamples(kind: Kind): boolean {
  return kind.independent && (kind.unit === "" || kind.unit === "samples");
}

/** Formats a value with its error, as `<X` where the interval is too wide for a number. Both are
 * divided by `per`. */
export function formatUncertain(value: number, error: number, kind: Kind, per = 1): string {
  const { upper, isVague } = uncertaintyOf(value, error, kind);
  const whole = kind.whole && per === 1;
  if (isVague && !isNumberOfSamples(kind)) return `<${formatValue(upper / per, kind.unit, whole)}`;
  return formatValue(value / per, kind.unit, whole);
}

export function formatError(value: number, error: number, kind: Kind): string {
  const { half, isVague } = uncertaintyOf(value, error, kind);
  return half > 0 && (!isVague || isNumberOfSamples(kind)) ? formatValue(half, kind.unit) : "";
}

export function formatPercent(part: number, whole: number): string {
  if (!(whole !== 0) || !Number.isFinite(part / whole)) return "";
  const percent = (100 * part) / whole;
  return percent.toFixed(Math.abs(percent) >= 99.95 ? 0 : Math.abs(percent) >= 10 ? 1 : 2)
    .replace(/^-0\.00$/, "0.00");
}

export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}
