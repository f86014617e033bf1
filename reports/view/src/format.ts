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

/** Twice the usual interval: 95 % lie within 1.96 standard deviations. */
export const INTERVAL = 1.96;

/** From the value to the upper end of its 95 % interval. `counted`: the value is a sum of samples,
 * and the interval is the score interval of their number, which is right for few, too. */
export function upperArm(value: number, error: number, counted: boolean): number {
  if (!counted || !(value > 0)) return INTERVAL * error;
  const perSample = error * error / value;
  const shift = perSample * INTERVAL * INTERVAL / 2;
  return shift + Math.sqrt(INTERVAL * INTERVAL * error * error + shift * shift);
}

/** A value with its error: `<X` where the interval is wider than the value (docs/REPORTS.md). */
export function formatUncertain(value: number, error: number, unit: string, whole: boolean,
                                counted: boolean): string {
  const half = upperArm(value, error, counted);
  const isNumberOfSamples = counted && whole;  // which is known, whatever it says of the whole
  if (!isNumberOfSamples && half > 0 && half > Math.abs(value)) {
    return `<${formatValue(Math.max(value, 0) + half, unit, whole)}`;
  }
  return formatValue(value, unit, whole);
}

export function formatError(value: number, error: number, unit: string,
                            counted: boolean): string {
  const half = upperArm(value, error, counted);
  const isNumberOfSamples = counted && (unit === "" || unit === "samples");
  return half > 0 && (isNumberOfSamples || half <= Math.abs(value)) ? formatValue(half, unit) : "";
}

export function formatPercent(part: number, whole: number): string {
  if (!(whole !== 0) || !Number.isFinite(part / whole)) return "";
  const percent = (100 * part) / whole;
  return percent.toFixed(Math.abs(percent) >= 99.95 ? 0 : Math.abs(percent) >= 10 ? 1 : 2);
}

export function signed(text: string, value: number): string {
  return value > 0 ? `+${text}` : text;
}
