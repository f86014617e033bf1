// Provides the selected stretches, and what the page says about them.

import { parseExpression, SyntaxProblem, unitOf } from "./expression.js";
import { differenceOf, meanOf, momentsOf, restOf, rowsIn, type Difference, type Moments }
  from "./stretch_sums.js";
import { combine, newMask, select, valueOf, type Mask } from "./stretch_filter.js";
import type { Names } from "./names.js";
import type { StretchMetric, Stretches } from "./stretches.js";

declare global {
  interface Window { jprofFilters?: number[] }
}

export interface Statistics {
  part: Moments;
  rest: Moments;
  difference: Difference;
}

/** What the user chose. */
export interface Wanted {
  only: string;                    // the selection, "" for all
  sets: [string, string][];
  ratios: [string, string][];      // computed metrics
  everything: boolean;             // also threads that are not the program's
}

export class StretchSelection {
  problem = "";
  metrics: StretchMetric[];
  scope: Mask | null = null;       // null: all rows
  mask: Mask | null = null;        // null: nothing is selected, which is everything in the scope
  rows: Uint32Array | null = null; // those that count: the selected ones, else the scope; null: all
  private ratios = "";
  private everything: boolean | null = null;
  private whole = new Map<Float64Array, Moments>();

  constructor(readonly stretches: Stretches, private readonly names: Names) {
    this.metrics = stretches.metrics;
  }

  get count(): number {
    return this.rows ? this.rows.length : this.stretches.length;
  }
  get isEmpty(): boolean {
    return this.mask === null;
  }

  set(wanted: Wanted): void {
    const begin = performance.now();
    this.problem = "";
    this.setScope(wanted.everything);
    if (this.ratios !== JSON.stringify(wanted.ratios)) this.compute(wanted.ratios);
    try {
      this.mask = wanted.only.trim() === "" ? null : this.within(this.select(wanted.only, wanted.sets));
    } catch (problem) {
      if (!(problem instanceof SyntaxProblem)) throw problem;
      this.problem = problem.message;   // what was selected before stays
    }
    const mask = this.mask ?? this.scope;
    this.rows = mask && rowsIn(mask);
    globalThis.window?.jprofFilters?.push(performance.now() - begin);
  }

  select(text: string, sets: [string, string][]): Mask {
    const { stretches, names, metrics } = this;
    return select(text, { stretches, names, metrics: [...metrics, ...stretches.places],
                          saved: new Map(sets) });
  }
  private within(mask: Mask): Mask {
    return this.scope ? combine(mask, "and", this.scope) : mask;
  }

  private setScope(everything: boolean): void {
    if (everything === this.everything) return;
    this.everything = everything;
    this.whole.clear();
    const { info, length, first } = this.stretches;
    this.scope = null;
    if (everything || info.threads.every((one) => one.program || one.rows === 0)) return;
    this.scope = newMask(length);
    info.threads.forEach(({ program }, i) => {
      if (program) this.scope!.fill(1, first[i]!, first[i + 1]!);
    });
  }

  private compute(ratios: [string, string][]): void {
    this.ratios = JSON.stringify(ratios);
    this.metrics = this.stretches.metrics.slice();
    for (const [name, text] of ratios) {
      try {
        this.metrics.push(this.computed(name, text));
      } catch (problem) {
        this.problem = `${name}: ${(problem as Error).message}`;
      }
    }
  }
  /** Returns a metric that is an expression over others. */
  computed(name: string, text: string): StretchMetric {
    const all = [...this.metrics.filter((one) => one.name !== name), ...this.stretches.places];
    const node = parseExpression(text, all);
    const values = valueOf(node, all);
    if (typeof values === "number") throw new SyntaxProblem("there is no metric in it", 0);
    return { name, label: name, unit: unitOf(node, all), side: "", whole: false, help: text, values };
  }

  private wholeOf(values: Float64Array): Moments {
    return momentsOf(values, this.scope && rowsIn(this.scope));
  }
  statisticsOf({ values }: StretchMetric): Statistics {
    let whole = this.whole.get(values);
    if (!whole) this.whole.set(values, whole = this.wholeOf(values));
    const part = this.mask ? momentsOf(values, this.rows, meanOf(whole)) : whole;
    const rest = restOf(whole, part);
    return { part, rest, difference: differenceOf(part, rest) };
  }
}
