// Parses computed metrics: a small language of + - * / ( ) min max abs, numbers, and names of
// metrics.
//
//   time / calls      self(time)      cum(time) - self(time)      max(old(time), new(time))
//
// Names with other characters than letters, digits, _ . : are in quotes, or have _ in their place. A
// number may have a unit of time: 2us. Expressions are evaluated over whole columns.

import type { Amounts } from "./tree.js";

export type Side = "old" | "new" | "";

export interface Quantity {
  name: string;
  unit: string;      // "" for counts
  side: Side;        // of a comparison
  whole: boolean;    // values print without a fraction
  label: string;
}

export type Node =
  | { kind: "number"; value: number }
  | { kind: "column"; quantity: number; cumulative: boolean }
  | { kind: "unary"; name: "-" | "abs"; of: Node }
  | { kind: "binary"; name: "+" | "-" | "*" | "/" | "min" | "max"; left: Node; right: Node };

export class SyntaxProblem extends Error {
  constructor(message: string, readonly position: number) {
    super(`${message} at position ${position + 1}`);
  }
}

export interface Token {
  kind: "number" | "name" | "text" | "regex" | "sign" | "end";
  text: string;
  at: number;
}

const TOKEN = new RegExp([
  "\\s+", "(?<number>\\d+\\.?\\d*(?:[eE][+-]?\\d+)?|\\.\\d+)(?<unit>(?:ns|us|ms|s)\\b)?",
  "(?<name>[A-Za-z_][\\w.:]*)",
  "\"(?<text>[^\"]*)\"", "(?<sign>>=|<=|[-+*/(),<>])",
].join("|"), "y");

const UNITS: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

export function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) {
      const what = text[at] === "\"" ? "a quote that is not closed" : `'${text[at]}' is unexpected`;
      throw new SyntaxProblem(what, at);
    }
    for (const kind of ["number", "name", "text", "sign"] as const) {
      const value = match.groups![kind];
      const unit = UNITS[match.groups!.unit ?? ""];
      if (value === undefined) continue;
      found.push({ kind, text: unit ? String(Number(value) * unit) : value, at });
    }
    at = TOKEN.lastIndex;
  }
  found.push({ kind: "end", text: "", at });
  return found;
}

export class Reader {
  private at = 0;
  constructor(private readonly list: Token[]) {}

  get token(): Token {
    return this.list[this.at]!;
  }
  get place(): number {
    return this.at;
  }
  set place(at: number) {
    this.at = at;
  }
  take(): Token {
    return this.list[this.at++]!;
  }
  is(sign: string): boolean {
    return (this.token.kind === "sign" || this.token.kind === "name") && this.token.text === sign;
  }
  accept(sign: string): boolean {
    const found = this.is(sign);
    if (found) ++this.at;
    return found;
  }
  expect(sign: string): void {
    if (!this.accept(sign)) this.fail(`'${sign}' is missing`);
  }
  fail(message: string): never {
    throw new SyntaxProblem(message, this.token.at);
  }
  finish(): void {
    if (this.token.kind !== "end") this.fail(`'${this.token.text}' is unexpected`);
  }
}

interface Selection {
  cumulative: boolean;
  side: Side;
}

export class ExpressionParser {
  constructor(private readonly reader: Reader, private readonly quantities: Quantity[],
              private readonly named: Map<string, Node> = new Map()) {}

  sum(): Node {
    let left = this.product();
    for (;;) {
      const sign = this.reader.is("+") ? "+" : this.reader.is("-") ? "-" : "";
      if (sign === "") return left;
      this.reader.take();
      left = { kind: "binary", name: sign, left, right: this.product() };
    }
  }

  private product(): Node {
    let left = this.factor();
    for (;;) {
      const sign = this.reader.is("*") ? "*" : this.reader.is("/") ? "/" : "";
      if (sign === "") return left;
      this.reader.take();
      left = { kind: "binary", name: sign, left, right: this.factor() };
    }
  }

  private factor(): Node {
    const { reader } = this;
    if (reader.accept("-")) return { kind: "unary", name: "-", of: this.factor() };
    if (reader.accept("(")) {
      const inner = this.sum();
      reader.expect(")");
      return inner;
    }
    if (reader.token.kind === "number") {
      return { kind: "number", value: Number(reader.take().text) };
    }
    return this.nameOrCall({ cumulative: false, side: "" });
  }

  private nameOrCall(selection: Selection): Node {
    const { reader } = this;
    const token = reader.token;
    if (token.kind !== "name" && token.kind !== "text") {
      reader.fail(token.kind === "end" ? "a value is missing" : `'${token.text}' is unexpected`);
    }
    reader.take();
    if (token.kind === "text" || !reader.is("(")) return this.column(token, selection);
    reader.expect("(");
    const node = this.call(token, selection);
    reader.expect(")");
    return node;
  }

  private call(token: Token, selection: Selection): Node {
    switch (token.text) {
      case "self": return this.nameOrCall({ ...selection, cumulative: false });
      case "cum": return this.nameOrCall({ ...selection, cumulative: true });
      case "old": case "new": return this.nameOrCall({ ...selection, side: token.text });
      case "abs": return { kind: "unary", name: "abs", of: this.sum() };
      case "min": case "max": {
        const left = this.sum();
        this.reader.expect(",");
        return { kind: "binary", name: token.text, left, right: this.sum() };
      }
      default: throw new SyntaxProblem(`'${token.text}' is not a function`, token.at);
    }
  }

  private column(token: Token, selection: Selection): Node {
    const named = token.kind === "name" ? this.named.get(token.text) : undefined;
    if (named) return named;
    const quantity = findQuantity(this.quantities, token.text, selection.side);
    if (quantity < 0) {
      const names = [...new Set(this.quantities.map((one) => one.name))].join(", ");
      throw new SyntaxProblem(`'${token.text}' is not a metric (there are: ${names})`, token.at);
    }
    return { kind: "column", quantity, cumulative: selection.cumulative };
  }
}

/** Finds a quantity. Without a side it is the last one, which is the new one of a comparison. */
export function findQuantity(quantities: Quantity[], name: string, side: Side): number {
  const plain = (text: string) => text.replace(/[^\w.:]/g, "_");
  return quantities.findLastIndex((one) =>
    (one.name === name || plain(one.name) === name) && (side === "" || one.side === side));
}

export function parseExpression(text: string, quantities: Quantity[],
                                named?: Map<string, Node>): Node {
  const reader = new Reader(tokens(text));
  const node = new ExpressionParser(reader, quantities, named).sum();
  reader.finish();
  return node;
}

/** Applies an operation to two columns, in loops without calls: a column may have millions of rows. */
function applied(name: string, x: Float64Array, y: Float64Array): Float64Array {
  const { length } = x;
  const result = new Float64Array(length);
  switch (name) {
    case "+": for (let i = 0; i < length; ++i) result[i] = x[i]! + y[i]!; break;
    case "-": for (let i = 0; i < length; ++i) result[i] = x[i]! - y[i]!; break;
    case "*": for (let i = 0; i < length; ++i) result[i] = x[i]! * y[i]!; break;
    case "/": for (let i = 0; i < length; ++i) result[i] = y[i] === 0 ? NaN : x[i]! / y[i]!; break;
    case "min": for (let i = 0; i < length; ++i) result[i] = Math.min(x[i]!, y[i]!); break;
    default: for (let i = 0; i < length; ++i) result[i] = Math.max(x[i]!, y[i]!);
  }
  return result;
}

/** Evaluates an expression. A division by zero results in NaN, for which tables show nothing. */
export function evaluate(node: Node, amounts: Amounts): Float64Array {
  switch (node.kind) {
    case "number": return new Float64Array(amounts.length).fill(node.value);
    case "column":
      return node.cumulative ? amounts.cum(node.quantity) : amounts.self(node.quantity);
    case "unary":
      return evaluate(node.of, amounts).map(node.name === "-" ? (x) => -x : (x) => Math.abs(x));
    case "binary": {
      const left = evaluate(node.left, amounts);
      const right = evaluate(node.right, amounts);
      return applied(node.name, left, right);
    }
  }
}

/** Returns the unit of a result. The quotient of a time and a count, for example, is a time. */
export function unitOf(node: Node, quantities: Quantity[]): string {
  switch (node.kind) {
    case "number": return "";
    case "column": return quantities[node.quantity]!.unit;
    case "unary": return unitOf(node.of, quantities);
    case "binary": {
      const left = unitOf(node.left, quantities);
      const right = unitOf(node.right, quantities);
      if (node.name === "/") return right === "" ? left : "";
      if (node.name === "*") return left === "" ? right : right === "" ? left : "";
      return left === right || right === "" ? left : left === "" ? right : "";
    }
  }
}
