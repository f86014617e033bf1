// Numbers as text: three significant digits, units that fit, thousands separators.

const FORMATS = [0, 1, 2].map((digits) => new Intl.NumberFormat("en-US", {
  minimumFractionDigits: digits, maximumFractionDigits: digits,
}));

export function withSeparators(value: number, digits: 0 | 1 | 2 = 0): string {
  return FORMATS[digits]!.format(value);
}

function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return withSeparators(value);
  return withSeparators(value, size >= 10 ? 1 : 2);
}

const TIMES: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]];
const BYTES: [number, string][] = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];

function scaled(value: number, units: [number, string][], base: string): string {
  for (const [size, name] of units) {
    if (Math.abs(value) >= size) return `${significant(value / size)} ${name}`;
  }
  return `${significant(value)} ${base}`;
}

/** `whole`: the values are counts, which print without a fraction. */
export function formatValue(value: number, unit: string, whole = false): string {
  if (!Number.isFinite(value)) return "";
  if (unit === "ns") return scaled(value, TIMES, "ns");
  if (unit === "bytes" || unit === "B") return scaled(value, BYTES, "B");
  if (whole) return withSeparators(value);
  if (value !== 0 && Math.abs(value) < 0.01) return value.toPrecision(2);
  return significant(value);
}

/** In standard deviations: half of a 95 % interval of a normal distribution. */
export const INTERVAL = 1.96;

interface Uncertainty {
  half: number;     // of the 95 % interval
  upper: number;    // its upper end
  isVague: boolean; // too wide for a number: `<X` is printed
}

/** As the text reports compute it (docs/REPORTS.md). `counted`: the value is a sum of samples, and
 * the interval is the score interval of their number, which is right for few, too. */
export function uncertaintyOf(value: number, error: number, counted: boolean): Uncertainty {
  const perSample = counted && value > 0 ? error * error / value : 0;
  const shift = perSample * INTERVAL * INTERVAL / 2;
  const half = Math.hypot(INTERVAL * error, shift);
  const isVague = half > 0 && (counted ? half > value : 2 * half > value);
  return { half, upper: Math.max(value, 0) + shift + half, isVague };
}

/** Whether the value is a number of samples: it is known, whatever it says of the whole. */
function isNumberOfSamples(unit: string, counted: boolean): boolean {
  return counted && (unit === "" || unit === "samples");
}

/** A value with its error: `<X` where the interval is too wide for a number. */
export function formatUncertain(value: number, error: number, unit: string, whole: boolean,
                                counted: boolean): string {
  const { upper, isVague } = uncertaintyOf(value, error, counted);
  if (isVague && !isNumberOfSamples(unit, counted)) return `<${formatValue(upper, unit, whole)}`;
  return formatValue(value, unit, whole);
}

export function formatError(value: number, error: number, unit: string,
                            counted: boolean): string {
  const { half, isVague } = uncertaintyOf(value, error, counted);
  return half > 0 && (!isVague || isNumberOfSamples(unit, counted)) ? formatValue(half, unit) : "";
}

export function formatPercent(part: number, whole: number): string {
  if (!(whole !== 0) || !Number.isFinite(part / whole)) return "";
  const percent = (100 * part) / whole;
  return percent.toFixed(Math.abs(percent) >= 99.95 ? 0 : Math.abs(percent) >= 10 ? 1 : 2);
}

export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}
