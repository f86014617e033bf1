// Provides the profile as the state shows it: measure, merged and filtered tree, methods, matches.
// Each is computed when it is first needed, and kept until what it depends on changes.

import type { DataFile, Header } from "./data.js";
import { callers, masked, mergedCallees } from "./derive.js";
import { SyntaxProblem } from "./expression.js";
import { parseFilter, rowsOfPackage, rowsOfThreads, type Rows } from "./filter.js";
import { MethodTable } from "./methods.js";
import {
  callsOf, compute, defaultQuantity, measures, oldOf, readTree,
  type Computed, type Measure, type ProfileQuantity,
} from "./metrics.js";
import { formatPercent, formatValue } from "./format.js";
import { readDistributions, type Distributions } from "./distributions.js";
import { readGroups, withLabel, type Groups } from "./heap.js";
import { readLines, type Lines } from "./lines.js";
import { readLocks, type Locks } from "./locks.js";
import { learnFrameKinds, Names, type Parts } from "./names.js";
import { readOptimized, type Program } from "./optimized.js";
import { readScaled, type Scaled } from "./scaled.js";
import { mappingOf, regrouped, type Mapping, type Regrouped } from "./regroup.js";
import { search, type Matches } from "./search.js";
import { readIntervals, type Intervals } from "./series.js";
import { Stretches } from "./stretches.js";
import type { State } from "./state.js";
import { Timeline } from "./timeline.js";
import type { Tree } from "./tree.js";
import { wordsOf, type Words } from "./words.js";

export interface Problems {
  search: string;
  filter: string;
  metrics: string[];   // of computed metrics that links contain
}

/** Texts, and the index of its text for each row that has one. */
interface Annotations {
  rows: Record<string, number>;
  texts: string[];
}

export class Model {
  readonly header: Header;
  readonly names: Names;
  readonly quantities: ProfileQuantity[];
  readonly base: Tree;
  readonly groups: Groups[];   // of a heap dump
  readonly locks: Locks | null;
  readonly lines: Lines | null;
  readonly distributions: Distributions | null;
  readonly programs: Program[] | null;   // of jprof optimize
  readonly scaled: Scaled | null;        // of jprof scale
  readonly intervals: Intervals | null;  // counts over time
  readonly words: Words;
  readonly problems: Problems = { search: "", filter: "", metrics: [] };
  private readonly allThreads: number;
  private readonly kept = new Map<string, { key: string; value: unknown }>();

  constructor(readonly file: DataFile, public store: { readonly state: Readonly<State> }) {
    this.header = file.header;
    this.names = new Names(file.text(file.header.methods));
    this.allThreads = this.names.add("(all threads)");
    ({ tree: this.base, quantities: this.quantities } = readTree(file));
    this.names.learn(this.base);
    this.groups = (this.header.heap?.groups ?? []).map((info) => readGroups(file, info));
    this.locks = readLocks(file);
    this.lines = readLines(file);
    this.distributions = readDistributions(file);
    this.programs = readOptimized(file);
    this.scaled = readScaled(file, this.names);
    this.intervals = readIntervals(file);
    this.words = wordsOf(this.header.kind);
    const classes = this.groups.find(({ by }) => by === "class");
    if (classes) this.names.learnClasses(classes.names);
    if (this.header.kind === "tprof") learnFrameKinds({ L: "source line" });
  }

  get state(): Readonly<State> {
    return this.store.state;
  }

  /** Returns the name of a row in the form that the user chose. */
  rowParts(tree: Tree, row: number): Parts {
    return withLabel(this.names.parts(tree.method[row]!), tree, row);
  }
  /** Returns from which size on objects of a heap dump have rows of their own. */
  get leastText(): string {
    const { heap } = this.header;
    if (!heap) return "";
    return `Objects below ${formatValue(heap.least, "bytes")} ` +
      `(${formatPercent(heap.least, this.base.total(0))} %) are joined by class.`;
  }
  /** Returns the numbers of the metrics that tables show beside the chosen one. */
  get beside(): number[] {
    return Array.from(this.quantities.keys()).filter((q) =>
      q !== this.quantity && this.quantities[q]!.metric?.beside);
  }

  get computed(): Computed[] {
    return this.memo("computed", [this.state.metrics], () => {
      this.problems.metrics = [];
      const made: Computed[] = [];
      for (const [name, text] of this.state.metrics) {
        try {
          made.push(compute(name, text, this.quantities, made));
        } catch (problem) {
          this.problems.metrics.push(`${name}: ${(problem as Error).message}`);
        }
      }
      return made;
    });
  }
  get measures(): Measure[] {
    return this.memo("measures", [this.state.metrics],
                     () => measures(this.quantities, this.computed));
  }
  get measure(): Measure {
    return this.measures.find((one) => one.label === this.state.measure) ??
        this.measures[defaultQuantity(this.header, this.quantities)]!;
  }
  private get measureKey(): string {
    return `${this.measure.label} ${JSON.stringify(this.measure.node)}`;
  }
  /** Returns the quantity that tables show, for a computed metric the profile's first one. */
  get quantity(): number {
    const { quantity } = this.measure;
    const isMetric = quantity >= 0 && this.quantities[quantity]!.metric !== null;
    return isMetric ? quantity : defaultQuantity(this.header, this.quantities);
  }
  /** Returns -1 if this profile has no calls. */
  get calls(): number {
    return callsOf(this.quantities, this.quantity);
  }
  /** Returns the same quantity of the old side of a comparison, or -1. */
  get oldQuantity(): number {
    return oldOf(this.quantities, this.quantity);
  }

  /** Returns what becomes of each method, or null if nothing is collapsed or hidden. */
  get mapping(): Mapping | null {
    const { collapse, hide } = this.state;
    if (collapse.length + hide.length === 0) return null;
    return this.memo("mapping", [collapse, hide], () => mappingOf(this.names, collapse, hide));
  }
  private get regrouped(): Regrouped | null {
    const { mapping, recorded } = this;
    const { merge, collapse, hide } = this.state;
    return mapping && this.memo("regrouped", [merge, collapse, hide], () =>
      regrouped(recorded, mapping, this.quantities.map((one) => one.metric === null)));
  }
  get unfiltered(): Tree {
    return this.regrouped?.tree ?? this.recorded;
  }

  /** Returns the tree in which nothing is collapsed, hidden or filtered. */
  get recorded(): Tree {
    if (!this.state.merge) return this.base;
    return this.memo("merged", [], () => {
      const { start, list } = this.base.children;
      const roots = list.subarray(start[this.base.length]!, start[this.base.length + 1]!);
      return mergedCallees(this.base, roots, this.names.length, this.allThreads);
    });
  }

  get tree(): Tree {
    const { merge, package: pack, thread, filter, filters, metrics, measure, marked, collapse,
            hide } = this.state;
    const key = [merge, collapse, hide, pack, thread, filter, filters, metrics, filter.includes("share") && measure,
                 marked];
    return this.memo("tree", key, () => {
      const rows = this.filteredRows();
      return rows ? masked(this.unfiltered, rows) : this.unfiltered;
    });
  }
  get isFiltered(): boolean {
    return this.tree !== this.unfiltered;
  }

  private filteredRows(): Rows | null {
    const { package: pack, thread, filter, filters, marked } = this.state;
    const tree = this.unfiltered;
    const parts: Rows[] = [];
    this.problems.filter = "";
    if (pack) parts.push(rowsOfPackage(tree, this.names, pack));
    if (thread) parts.push(rowsOfThreads(tree, this.names, this.header.threads, thread));
    if (filter) {
      try {
        parts.push(parseFilter(filter, {
          tree, names: this.names, threads: this.header.threads, quantities: this.quantities,
          measure: this.measure.width(tree), named: new Map(filters), marked: new Set(marked),
          computed: new Map(this.computed.map((one) => [one.name, one.node])),
        }));
      } catch (problem) {
        if (!(problem instanceof SyntaxProblem)) throw problem;
        this.problems.filter = problem.message;
      }
    }
    if (parts.length === 0) return null;
    return parts.reduce((left, right) => left.map((x, row) => x & right[row]!));
  }

  get methods(): MethodTable {
    const { tree } = this;
    return this.memoBy("methods", tree, () => new MethodTable(tree, this.names.length));
  }

  get matches(): Matches | null {
    const { mapping, names } = this;   // groups have names, too
    return this.memo("matches", [this.state.search, mapping && names.length], () => {
      this.problems.search = "";
      try {
        return search(names, this.state.search);
      } catch (problem) {
        this.problems.search = (problem as Error).message;
        return null;
      }
    });
  }

  /** Returns all callers: every row's own amount, seen from its method upwards. */
  get inverted(): Tree {
    const { tree, measure } = this;
    const weight = measure.self(tree);
    return this.memoBy(`inverted ${this.measureKey}`, tree, () => {
      const items = Uint32Array.from(weight.keys()).filter((row) => weight[row]! > 0);
      const sum = weight.reduce((all, value) => (value > 0 ? all + value : all), 0);
      return callers(tree, this.names.length,
                     { items, cumulative: false, weight, smallest: sum / 4000 });
    });
  }
  callersOf(method: number): Tree {
    const { tree, measure } = this;
    return this.memoBy(`callers ${method} ${this.measureKey}`, tree, () => {
      const entry = this.methods.entryOf(method);
      const items = entry < 0 ? new Uint32Array(0) : this.methods.outermostRows(entry);
      const weight = measure.width(tree);
      const sum = items.reduce((all, row) => all + weight[row]!, 0);
      return callers(tree, this.names.length,
                     { items, cumulative: true, weight, smallest: sum / 4000 });
    });
  }
  calleesOf(method: number): Tree {
    const { tree } = this;
    return this.memoBy(`callees ${method}`, tree, () => {
      const entry = this.methods.entryOf(method);
      const items = entry < 0 ? [] : this.methods.outermostRows(entry);
      return mergedCallees(tree, items, this.names.length);
    });
  }

  /** Returns the calls over time, or null if the data have none. */
  get timeline(): Timeline | null {
    const { mapping, header: { timeline } } = this;
    const { collapse, hide } = this.state;
    return timeline ? this.memo("timeline", [collapse, hide], () =>
      new Timeline(this.file, timeline, mapping)) : null;
  }

  /** Returns when threads ran, or null if that was not recorded. */
  get stretches(): Stretches | null {
    const { stretches } = this.header;
    return stretches ? this.memo("stretches", [], () => new Stretches(this.file, stretches)) : null;
  }

  /** Returns the instructions of a row's symbol, if there are any. */
  instructionsOf(row: number): string | undefined {
    const { rows, texts } = this.annotations;
    const number = this.state.merge ? undefined : rows[this.regrouped?.origin[row] ?? row];
    return number === undefined ? undefined : texts[number];
  }
  private get annotations(): Annotations {
    return this.memo("annotations", [], () => {
      const { annotations } = this.header;
      return annotations ? JSON.parse(this.file.text(annotations)) as Annotations
                         : { rows: {}, texts: [] };
    });
  }

  private memo<T>(name: string, depends: unknown[], make: () => T): T {
    const key = JSON.stringify(depends);
    const found = this.kept.get(name);
    if (found?.key === key) return found.value as T;
    const value = make();
    this.kept.set(name, { key, value });
    return value;
  }

  private readonly byTree = new WeakMap<Tree, Map<string, unknown>>();
  private memoBy<T>(name: string, tree: Tree, make: () => T): T {
    let kept = this.byTree.get(tree);
    if (!kept) this.byTree.set(tree, kept = new Map());
    if (!kept.has(name)) {
      if (kept.size > 12) kept.clear();  // keep only a few selected methods
      kept.set(name, make());
    }
    return kept.get(name) as T;
  }
}
