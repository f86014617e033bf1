// Provides the quantities of a profile (calls and metrics, of each side of a comparison), and what
// the user computes from them. Tables and widths use a Measure: a quantity or a computed metric.

import type { BetweenRuns, DataFile, Header, MetricInfo } from "./data.js";
import {
  evaluate, parseExpression, unitOf, type Node, type Quantity, type Side,
} from "./expression.js";
import type { Kind } from "./format.js";
import { accumulate, Tree, type Amounts } from "./tree.js";

export interface ProfileQuantity extends Quantity, Kind {
  metric: MetricInfo | null;  // null for calls
}

const FEW_SAMPLES = 10;

/** Combines differences between runs, as in model/combined/time_estimate.h: those of the whole time,
 * and those of the share of what is outside the value. */
function withRuns(kind: ProfileQuantity, runs: BetweenRuns | undefined,
                  total: () => number): ProfileQuantity {
  if (!runs) return kind;
  const outside = (value: number) => Math.max(0, 1 - value / total());
  const armOf = (share: number) =>
    (value: number) => Math.hypot(runs.total, share * outside(value));
  const alone = { ...kind, runArm: armOf(runs.own_share), dispersion: outside };
  return { ...kind, alone, runArm: armOf(runs.share),
           dispersion: (value, samples) =>
             (1 + (runs.dispersion - 1) * Math.max(0, 1 - FEW_SAMPLES / samples)) * outside(value) };
}

/** Returns false for calibrated times, whose errors add up linearly (docs/REPORTS.md), and true for
 * samples, whose errors add up as squares. */
function isIndependent(metric: MetricInfo): boolean {
  return !metric.calibrated && (metric.kind !== "time" || metric.period !== undefined);
}

/** Returns the unit as values have it behind them: numbers of what is counted have none. */
export function shownUnit({ unit }: MetricInfo): string {
  return /^(samples|calls|count|events)?$/.test(unit) ? "" : unit;
}
/** Returns whether values are whole numbers. */
export function isWhole({ kind }: MetricInfo): boolean {
  return kind === "samples" || kind === "count";
}

/** Reads a tree with the columns of all quantities. Trees of a comparison have the same rows. */
export function readTree(file: DataFile): { tree: Tree; quantities: ProfileQuantity[] } {
  const { header } = file;
  const first = header.trees[0]!.columns;
  const quantities: ProfileQuantity[] = [];
  const selfs: Float64Array[] = [];
  const errors: (Float32Array | null)[] = [];
  for (const info of header.trees) {
    const side: Side = info.name === "old" || info.name === "new" ? info.name : "";
    const label = (name: string) => (side ? `${name} (${side})` : name);
    if (info.columns.calls) {
      quantities.push({ name: "calls", label: label("calls"), unit: "", side, whole: true,
                        metric: null, independent: true });
      selfs.push(file.f64(info.columns.calls));
      errors.push(null);
    }
    info.metrics.forEach((index, i) => {
      const metric = header.metrics[index]!;
      const error = info.columns.error?.[i];
      const number = quantities.length;
      quantities.push(withRuns({
        name: metric.name, label: label(metric.name), side, metric,
        unit: shownUnit(metric), whole: isWhole(metric),
        independent: isIndependent(metric),
        ...(metric.one_sample === undefined ? {} : { oneSample: metric.one_sample }),
      }, metric.between_runs, () => tree.total(number)));
      selfs.push(file.f64(info.columns.self[i]!));
      errors.push(error ? file.f32(error) : null);
    });
  }
  const tree: Tree = new Tree({
    parent: first.parent ? file.u32(first.parent) : new Uint32Array(0),
    method: first.method ? file.u32(first.method) : new Uint32Array(0),
    type: first.type ? file.u8(first.type) : new Uint8Array(0),
    thread: first.thread ? file.u32(first.thread) : null, selfs, errors,
    ...(first.labels && first.joined
      ? { labels: file.text(first.labels).split("\n"), joined: file.f64(first.joined) } : {}),
  }, quantities.map((one) => one.independent));
  return { tree, quantities };
}

/** Returns the same quantity of the old side of a comparison, or -1. */
export function oldOf(quantities: Quantity[], quantity: number): number {
  const { name, side } = quantities[quantity]!;
  return side === "new"
    ? quantities.findIndex((one) => one.side === "old" && one.name === name) : -1;
}

/** Returns the calls of the same side, or -1 if there are none. */
export function callsOf(quantities: Quantity[], quantity: number): number {
  const { side } = quantities[quantity] ?? { side: "" };
  return quantities.findIndex((one) => one.name === "calls" && one.side === side);
}

export interface Computed {
  name: string;
  text: string;
  node: Node;
  unit: string;
}

export function compute(name: string, text: string, quantities: Quantity[],
                        others: Computed[]): Computed {
  const named = new Map(others.map((one) => [one.name, one.node]));
  const node = parseExpression(text, quantities, named);
  return { name, text, node, unit: unitOf(node, quantities) };
}

/** Provides the values that widths and shares are based on. Widths are never below 0: a value that
 * the correction made negative has none. */
export class Measure {
  private readonly widths = new WeakMap<Tree, Float64Array>();

  constructor(readonly name: string, readonly label: string, readonly unit: string,
              readonly whole: boolean, readonly quantity: number, readonly node: Node | null) {}

  self(amounts: Amounts): Float64Array {
    return this.node ? evaluate(this.node, amounts) : amounts.self(this.quantity);
  }

  /** Returns cumulative widths. For a computed metric, its values of single rows are added up. */
  width(tree: Tree): Float64Array {
    let width = this.widths.get(tree);
    if (!width) {
      width = accumulate(tree.parent, this.self(tree).map((value) => (value > 0 ? value : 0)));
      this.widths.set(tree, width);
    }
    return width;
  }

  cum(amounts: Amounts): Float64Array {
    return this.node ? evaluate(this.node, amounts) : amounts.cum(this.quantity);
  }
}

export function measures(quantities: ProfileQuantity[], computed: Computed[]): Measure[] {
  return [
    ...quantities.map((one, q) =>
      new Measure(one.label, one.label, one.unit, one.whole, q, null)),
    ...computed.map((one) => new Measure(one.name, one.name, one.unit, false, -1, one.node)),
  ];
}

/** Returns the quantity that a page begins with: the first metric of the last tree or, without
 * metrics, calls. */
export function defaultQuantity(header: Header, quantities: ProfileQuantity[]): number {
  const side = header.trees.length > 1 ? "new" : "";
  const found = quantities.findIndex((one) => one.metric !== null && one.side === side);
  return found >= 0 ? found : 0;
}
