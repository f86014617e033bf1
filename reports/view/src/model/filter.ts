// Parses filters: which rows of a tree count. Terms are combined by `and`, `or`, `minus`, `not` and
// parentheses; `and` binds before `or` and `minus`.
//
//   package(java/util) and not thread(main)         hot minus name("^sun/")
//   time / calls > 100 or share >= 5                below("Main.run") and type(RJ)
//
// A row that does not match keeps its place if a row below it matches; its own amounts do not
// count.

import {
  evaluate, ExpressionParser, Reader, SyntaxProblem, tokens, type Node, type Quantity, type Token,
} from "./expression.js";
import { groupTest, type Names } from "./names.js";
import { NO_ROW, type Tree } from "./tree.js";

/** Is 1 for each row that matches. */
export type Rows = Uint8Array;

export interface FilterContext {
  tree: Tree;
  names: Names;
  threads: string[];
  quantities: Quantity[];
  measure: Float64Array;             // cumulative, the whole that `share` refers to
  computed: Map<string, Node>;
  named: Map<string, string>;        // filters by name
  marked: Set<number>;               // methods that the plot marked
}

export function rowsWhere(tree: Tree, test: (row: number) => boolean): Rows {
  const rows = new Uint8Array(tree.length);
  for (let row = 0; row < rows.length; ++row) rows[row] = test(row) ? 1 : 0;
  return rows;
}

/** Returns the rows whose method passes. Each method is tested once. */
export function rowsOfMethods(tree: Tree, names: Names, test: (method: number) => boolean): Rows {
  const passes = new Uint8Array(names.length);
  for (let method = 0; method < passes.length; ++method) {
    passes[method] = test(method) ? 1 : 0;
  }
  return rowsWhere(tree, (row) => passes[tree.method[row]!] === 1);
}

export function rowsOfThreads(tree: Tree, names: Names, threads: string[], text: string): Rows {
  const { thread } = tree.columns;
  if (thread) {
    const passes = threads.map((name) => name.includes(text));
    return rowsWhere(tree, (row) => passes[thread[row]!] === true);
  }
  return rowsBelow(tree, rowsOfMethods(tree, names, (one) => names.of(one).includes(text)),
                   (row) => tree.type[row] === 84);
}

/** Returns these rows and all below them. */
export function rowsBelow(tree: Tree, tops: Rows, counts: (row: number) => boolean): Rows {
  const rows = new Uint8Array(tree.length);
  for (let row = 0; row < rows.length; ++row) {
    const above = tree.parent[row]!;
    rows[row] = (above !== NO_ROW && rows[above] === 1) || (tops[row] === 1 && counts(row)) ? 1 : 0;
  }
  return rows;
}

export function rowsOfPackage(tree: Tree, names: Names, wanted: string): Rows {
  const passes = groupTest(wanted);
  return rowsOfMethods(tree, names, (method) => passes(names.packageOf(method)));
}

class FilterParser {
  private readonly reader: Reader;
  private readonly open: string[];

  constructor(private readonly text: string, private readonly context: FilterContext,
              open: string[] = []) {
    this.reader = new Reader(tokens(text));
    this.open = open;
  }

  parse(): Rows {
    const rows = this.union();
    this.reader.finish();
    return rows;
  }

  private union(): Rows {
    let left = this.intersection();
    for (;;) {
      if (this.reader.accept("or")) {
        left = both(left, this.intersection(), (x, y) => x | y);
      } else if (this.reader.accept("minus")) {
        left = both(left, this.intersection(), (x, y) => x & ~y);
      } else return left;
    }
  }

  private intersection(): Rows {
    let left = this.term();
    while (this.reader.accept("and")) left = both(left, this.term(), (x, y) => x & y);
    return left;
  }

  private term(): Rows {
    if (this.reader.accept("not")) return this.term().map((x) => x ^ 1);
    const token = this.reader.token;
    if (token.kind === "name") {
      const rows = this.namedTerm(token);
      if (rows) return rows;
    }
    if (this.reader.is("(")) return this.parenthesis();
    return this.comparison();
  }

  /** Reads what a parenthesis begins, a filter or a value: `(a or b)`, `(a + b) / calls > 5`. */
  private parenthesis(): Rows {
    const place = this.reader.place;
    try {
      return this.comparison();
    } catch (problem) {
      if (!(problem instanceof SyntaxProblem)) throw problem;
      this.reader.place = place;
    }
    this.reader.expect("(");
    const rows = this.union();
    this.reader.expect(")");
    return rows;
  }

  private namedTerm(token: Token): Rows | null {
    const { context } = this;
    const { tree, names } = context;
    const saved = context.named.get(token.text);
    if (saved !== undefined) {
      this.reader.take();
      if (this.open.includes(token.text)) {
        throw new SyntaxProblem(`the filter '${token.text}' contains itself`, token.at);
      }
      return new FilterParser(saved, context, [...this.open, token.text]).parse();
    }
    switch (token.text) {
      case "marked":
        this.reader.take();
        return rowsWhere(tree, (row) => context.marked.has(tree.code[row]!));
      case "package": return rowsOfPackage(tree, names, this.argument());
      case "name": {
        const pattern = this.pattern();
        return rowsOfMethods(tree, names, (one) => names.matches(one, pattern));
      }
      case "below": {
        const pattern = this.pattern();
        const tops = rowsOfMethods(tree, names, (one) => names.matches(one, pattern));
        return rowsBelow(tree, tops, () => true);
      }
      case "thread":
        return rowsOfThreads(tree, names, context.threads, this.argument());
      case "type": {
        const letters = this.argument();
        return rowsWhere(tree, (row) => letters.includes(String.fromCharCode(tree.type[row]!)));
      }
      default: return null;
    }
  }

  /** Reads the text between parentheses, with or without quotes. */
  private argument(): string {
    this.reader.take();
    const begin = this.reader.token.at + 1;
    this.reader.expect("(");
    if (this.reader.token.kind === "text") {
      const { text } = this.reader.take();
      this.reader.expect(")");
      return text;
    }
    while (!this.reader.is(")")) {
      if (this.reader.token.kind === "end") this.reader.fail("')' is missing");
      this.reader.take();
    }
    const text = this.text.slice(begin, this.reader.token.at).trim();
    this.reader.expect(")");
    return text;
  }

  private pattern(): RegExp {
    const { at } = this.reader.token;
    const text = this.argument();
    try {
      return new RegExp(text);
    } catch (problem) {
      throw new SyntaxProblem((problem as Error).message, at);
    }
  }

  private comparison(): Rows {
    const left = this.value();
    const sign = this.reader.token.text;
    if (![">", "<", ">=", "<="].includes(sign)) this.reader.fail("a comparison is missing");
    this.reader.take();
    const right = this.value();
    const holds = { ">": (x: number, y: number) => x > y, "<": (x: number, y: number) => x < y,
                    ">=": (x: number, y: number) => x >= y,
                    "<=": (x: number, y: number) => x <= y }[sign]!;
    return rowsWhere(this.context.tree, (row) => holds(left[row]!, right[row]!));
  }

  private value(): Float64Array {
    const { tree, measure, quantities, computed } = this.context;
    if (this.reader.accept("share")) {
      const total = tree.sumOfRoots(measure);
      return measure.map((value) => (100 * value) / total);
    }
    return evaluate(new ExpressionParser(this.reader, quantities, computed).sum(), tree);
  }
}

function both(left: Rows, right: Rows, combine: (x: number, y: number) => number): Rows {
  return left.map((x, i) => combine(x, right[i]!) & 1);
}

export function parseFilter(text: string, context: FilterContext): Rows {
  return new FilterParser(text, context).parse();
}
