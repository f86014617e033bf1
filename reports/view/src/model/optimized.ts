// Provides what `jprof optimize` knows of programs, as `explain --format json` prints it
// (docs/OPTIMISE.md).

import type { DataFile } from "./data.js";

/** By how much a figure is lower. A number is null if it is not finite. */
export interface Estimate {
  figure: string;
  benefit: number | null;
  low: number | null;      // the ends of the interval
  high: number | null;
}

export interface Directive {
  agent: string;
  kind: string;            // with `key`, what it is about
  key: string;
  text: string;            // what is done
  state: "proposed" | "applied" | "validated" | "withdrawn";
  reason: string;
  cost: string;
  predictions: (Estimate & { unit: string; guard: boolean })[];
  observed: (Estimate & { runs: number })[];
}

export interface Run {
  number: number;
  kind: "measured" | "trial" | "plain";
  compared: boolean;
  applied: string[];       // keys of the directives that were tried
  left_out: string[];
  figures: { name: string; value: number | null; unit: string }[];
}

export interface Program {
  name: string;
  identity: string;
  arguments: string;
  directives: Directive[];
  runs: Run[];
}

export function readOptimized(file: DataFile): Program[] | null {
  const { optimized } = file.header;
  return optimized
    ? (JSON.parse(file.text(optimized)) as { programs: Program[] }).programs : null;
}

/** Returns the names of programs. Where several have the same one, their arguments follow, or their
 * numbers. */
export function programTitles(programs: Program[]): string[] {
  const withWords = programs.map(({ name, arguments: words }) => `${name} (${words})`);
  const isOnce = (all: string[], one: string) => all.filter((other) => other === one).length === 1;
  const names = programs.map(({ name }) => name);
  return programs.map(({ name }, i) => (isOnce(names, name) ? name
    : isOnce(withWords, withWords[i]!) ? withWords[i]! : `${withWords[i]!} ${i + 1}`));
}

/** A value with the ends of its interval, in the unit in which the page prints it. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** The figure that a directive is to lower, and by how much. */
export interface Benefit {
  figure: string;
  unit: string;
  predicted: Interval;
  observed: Interval | null;
  runs: number;            // that were compared
}

/** Returns the factor from a unit of the database to that in which the page prints, and this one. */
function shownUnit(unit: string): [factor: number, unit: string] {
  return unit === "s" ? [1e9, "ns"] : [1, unit];
}

function intervalOf({ benefit, low, high }: Estimate, factor: number): Interval {
  const of = (value: number | null) => (value === null ? NaN : value * factor);
  return { value: of(benefit), low: of(low), high: of(high) };
}

/** Returns null if the directive only has guards. */
export function benefitOf({ predictions, observed }: Directive): Benefit | null {
  const decides = predictions.find(({ guard }) => !guard);
  if (!decides) return null;
  const { figure } = decides;
  const [factor, unit] = shownUnit(decides.unit);
  const seen = observed.find((one) => one.figure === figure);
  return { figure, unit, predicted: intervalOf(decides, factor), runs: seen?.runs ?? 0,
           observed: seen ? intervalOf(seen, factor) : null };
}

/** What a run did with the directives: all tried ones were applied, some, or none; or nothing was
 * tried, and the run had what is validated. */
export type RunKind = "measured" | "with" | "some" | "without" | "validated";

export function runKindOf({ kind, applied, left_out: left }: Run): RunKind {
  if (kind === "measured") return "measured";
  if (kind === "plain") return "validated";
  return applied.length === 0 ? "without" : left.length === 0 ? "with" : "some";
}

/** A figure of the runs that have it. */
export interface RunFigure {
  name: string;
  unit: string;
  runs: Run[];
  values: Float64Array;
}

/** Returns the figures of a program's runs, in the order of their first runs. */
export function figuresOf({ runs }: Program): RunFigure[] {
  const found = new Map<string, { unit: string; factor: number; runs: Run[]; values: number[] }>();
  for (const run of runs) {
    for (const { name, value, unit: stored } of run.figures) {
      const [factor, unit] = shownUnit(stored);
      const one = found.get(name) ?? { unit, factor, runs: [], values: [] };
      found.set(name, one);
      one.runs.push(run);
      one.values.push(value === null ? NaN : value * factor);
    }
  }
  return Array.from(found, ([name, { unit, runs: having, values }]) =>
    ({ name, unit, runs: having, values: Float64Array.from(values) }));
}
