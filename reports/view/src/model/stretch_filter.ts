// Parses which stretches are selected. Terms are combined by && || ! and parentheses, or by the words
// `and`, `or`, `not`, `minus`; && binds before || and minus.
//
//   thread~main && wait=park && duration > 1ms       !(process=java) || cpu=0|1
//   slow minus context~"Cache.get"                   ready / (duration + ready) > 0.5
//
// A name alone is a saved selection.

import { evaluate, parseExpression, SyntaxProblem, type Node } from "./expression.js";
import type { Names } from "./names.js";
import type { StretchMetric, Stretches } from "./stretches.js";

/** Is 1 for each row that is selected. */
export type Mask = Uint8Array;

export interface SelectionContext {
  stretches: Stretches;
  names: Names;
  metrics: StretchMetric[];            // with the computed ones
  saved: Map<string, string>;          // selections by name
}

/** What a row is compared with as text: one of a list of texts. */
interface Field {
  texts(): string[][];                 // each with all its forms
  index: Uint32Array | Uint8Array;     // by row
  below?: Uint32Array;                 // a text also has the texts of the one at this index
}

const FIELD = /^(thread|process|tid|pid|cpu|wait|context|method|waker|call)\s*(!=|!~|=|~)/;
const COMPARISON = /^(<=|>=|==|!=|<|>|=)/;
const WORD = /^(and|or|not|minus)\b/;

/** Returns what a field's texts are. */
function fieldOf(name: string, { stretches, names }: SelectionContext): Field {
  const { info, thread } = stretches;
  const threads = (text: (one: typeof info.threads[0]) => string | number): Field =>
    ({ texts: () => info.threads.map((one) => [String(text(one))]), index: thread });
  const methods = () => Array.from(stretches.contextMethod, (method, context) =>
    (context === 0 ? [""] : [...names.forms(method), `#${context}`]));
  switch (name) {
    case "thread": return threads((one) => one.name);
    case "process": return threads((one) => one.process);
    case "tid": return threads((one) => one.tid);
    case "pid": return threads((one) => one.pid);
    case "cpu": return { texts: () => Array.from({ length: stretches.byProcessor.processors },
                                                 (_, i) => [String(i)]), index: stretches.processor };
    case "wait": return { texts: () => info.reasons.map(([text]) => [text]), index: stretches.reason };
    case "call": return { texts: () => [[""], ...info.calls.map((text) => [text])],
                          index: stretches.call };
    case "waker": return { texts: () => [[""], ["interrupt"], ...info.threads.map((one) => [one.name])],
                           index: stretches.waker };
    case "method": return { texts: methods, index: stretches.context };
    default: return { texts: methods, index: stretches.context, below: stretches.contextParent };
  }
}

/** Returns a test of texts by a regular expression, which distinguishes capitals if it has any. */
function patternOf(text: string, at: number): RegExp {
  try {
    return new RegExp(text, /[A-Z]/.test(text) ? "" : "i");
  } catch (problem) {
    throw new SyntaxProblem((problem as Error).message, at);
  }
}

class SelectionParser {
  private at = 0;

  constructor(private readonly text: string, private readonly context: SelectionContext,
              private readonly open: string[] = []) {}

  parse(): Mask {
    const mask = this.union();
    if (this.rest !== "") this.fail(`'${this.rest[0]}' is unexpected`);
    return mask;
  }

  private get rest(): string {
    while (this.text[this.at] === " " || this.text[this.at] === "\t") ++this.at;
    return this.text.slice(this.at);
  }
  private fail(message: string): never {
    throw new SyntaxProblem(message, this.at);
  }
  private accept(...signs: string[]): boolean {
    const { rest } = this;
    const sign = signs.find((one) => rest.startsWith(one)
      && (!/\w$/.test(one) || !/^\w/.test(rest.slice(one.length))));
    this.at += sign?.length ?? 0;
    return sign !== undefined;
  }

  private union(): Mask {
    const left = this.intersection();
    for (;;) {
      if (this.accept("||", "or")) combine(left, "or", this.intersection());
      else if (this.accept("minus")) combine(left, "minus", this.intersection());
      else return left;
    }
  }
  private intersection(): Mask {
    const left = this.term();
    while (this.accept("&&", "and")) combine(left, "and", this.term());
    return left;
  }

  private term(): Mask {
    const { rest } = this;
    if (rest === "") this.fail("a term is missing");
    if (!/^!=/.test(rest) && this.accept("!", "not")) return inverted(this.term());
    const field = FIELD.exec(rest);
    if (field) {
      this.at += field[0].length;
      return this.comparedText(field[1]!, field[2]!);
    }
    const saved = /^[A-Za-z_]\w*/.exec(rest)?.[0] ?? "";
    const text = this.context.saved.get(saved);
    if (text !== undefined) return this.savedTerm(saved, text);
    if (saved === "all" && this.accept("all")) {
      return newMask(this.context.stretches.length).fill(1);
    }
    return rest[0] === "(" && !this.isValueInParentheses() ? this.parenthesis() : this.comparison();
  }

  private savedTerm(name: string, text: string): Mask {
    if (this.open.includes(name)) this.fail(`the selection '${name}' contains itself`);
    this.at += name.length;
    return new SelectionParser(text, this.context, [...this.open, name]).parse();
  }

  /** Returns whether the parenthesis that begins here is part of a value, as in `(a + b) / c > 1`. */
  private isValueInParentheses(): boolean {
    const behind = this.text.slice(closing(this.text, this.at) + 1).trimStart();
    return /^[-+*/<>=]/.test(behind) || behind.startsWith("!=");
  }
  private parenthesis(): Mask {
    this.accept("(");
    const mask = this.union();
    if (!this.accept(")")) this.fail("')' is missing");
    return mask;
  }

  /** Reads a text in quotes, or up to a blank, a parenthesis, && or ||. */
  private comparedText(name: string, sign: string): Mask {
    const { at } = this;
    const found = /^"([^"]*)"|^(?:[^\s&|()]|\|(?!\|)|&(?!&)|\([^\s()]*\))+/.exec(this.rest);
    if (!found) this.fail("a text is missing");
    this.at += found[0].length;
    const wanted = found[1] ?? found[0];
    const field = fieldOf(name, this.context);
    const { index } = field;
    const passes = passesOf(field, sign.endsWith("~") ? testOf(patternOf(wanted, at))
      : oneOf(wanted), sign.startsWith("!"));
    return index instanceof Uint8Array ? byBytes(index, passes) : byNumbers(index, passes);
  }

  private comparison(): Mask {
    const left = this.value((rest) => COMPARISON.test(rest));
    const sign = COMPARISON.exec(this.rest)?.[0];
    if (!sign) this.fail("a comparison is missing");
    this.at += sign.length;
    const right = this.value((rest) => rest.startsWith("&&") || rest.startsWith("||"));
    return compared(left, sign, right, this.context.stretches.length);
  }

  /** Reads an expression up to a place where it ends, a word that combines terms, or a parenthesis
   * that was opened before it. */
  private value(ends: (rest: string) => boolean): Float64Array | number {
    const { text, context } = this;
    void this.rest;
    const begin = this.at;
    for (let depth = 0; this.at < text.length; ++this.at) {
      const rest = text.slice(this.at);
      const isWord = /\W|^$/.test(text[this.at - 1] ?? "") && WORD.test(rest);
      if (depth === 0 && (ends(rest) || isWord || rest[0] === ")")) break;
      if (rest[0] === "(") ++depth;
      else if (rest[0] === ")") --depth;
    }
    try {
      return valueOf(parseExpression(text.slice(begin, this.at), context.metrics), context.metrics);
    } catch (problem) {
      if (!(problem instanceof SyntaxProblem)) throw problem;
      throw new SyntaxProblem(problem.message.replace(/ at position \d+$/, ""),
                              begin + problem.position);
    }
  }
}

// Two functions: each has to do with one type of array only, which makes it fast.
function byNumbers(index: Uint32Array, passes: Uint8Array): Mask {
  const mask = newMask(index.length);
  for (let row = 0; row < mask.length; ++row) mask[row] = passes[index[row]!]!;
  return mask;
}
function byBytes(index: Uint8Array, passes: Uint8Array): Mask {
  const mask = newMask(index.length);
  for (let row = 0; row < mask.length; ++row) mask[row] = passes[index[row]!]!;
  return mask;
}

/** Returns the place of the parenthesis that closes one, or the end of the text. */
function closing(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; ++i) {
    if (text[i] === "(") ++depth;
    else if (text[i] === ")" && --depth === 0) return i;
  }
  return text.length;
}

const testOf = (pattern: RegExp) => (text: string) => pattern.test(text);
/** Returns a test of whether a text is one of those between bars. */
function oneOf(wanted: string): (text: string) => boolean {
  const all = new Set(wanted.split("|"));
  return (text) => all.has(text);
}

function passesOf({ texts, below }: Field, test: (text: string) => boolean,
                  isNot: boolean): Uint8Array {
  const passes = Uint8Array.from(texts(), (forms) => (forms.some(test) ? 1 : 0));
  if (below) for (let i = 1; i < passes.length; ++i) passes[i]! |= passes[below[i]!]!;
  return isNot ? passes.map((one) => 1 - one) : passes;
}

/** Returns a mask whose buffer has whole words. */
export function newMask(length: number): Mask {
  return new Uint8Array(new ArrayBuffer((length + 3) & ~3), 0, length);
}
const wordsOf = (mask: Mask) => new Uint32Array(mask.buffer);

/** Combines two masks in the first one, four rows at a time. */
export function combine(left: Mask, how: "and" | "or" | "minus", right: Mask): Mask {
  const [a, b] = [wordsOf(left), wordsOf(right)];
  const { length } = a;
  if (how === "and") for (let i = 0; i < length; ++i) a[i]! &= b[i]!;
  else if (how === "or") for (let i = 0; i < length; ++i) a[i]! |= b[i]!;
  else for (let i = 0; i < length; ++i) a[i]! &= ~b[i]!;
  return left;
}
function inverted(mask: Mask): Mask {
  const words = wordsOf(mask);
  for (let i = 0; i < words.length; ++i) words[i]! ^= 0x01010101;
  return mask;
}

/** Returns the values of an expression: one number if it has no column. */
export function valueOf(node: Node, metrics: StretchMetric[]): Float64Array | number {
  const length = metrics[0]!.values.length;
  const of = (quantity: number) => metrics[quantity]!.values;
  if (isConstant(node)) return evaluate(node, { length: 1, self: of, cum: of })[0]!;
  return evaluate(node, { length, self: of, cum: of });
}
function isConstant(node: Node): boolean {
  switch (node.kind) {
    case "number": return true;
    case "column": return false;
    case "unary": return isConstant(node.of);
    case "binary": return isConstant(node.left) && isConstant(node.right);
  }
}

function compared(left: Float64Array | number, sign: string, right: Float64Array | number,
                  length: number): Mask {
  const mask = newMask(length);
  const column = (value: Float64Array | number) =>
    (typeof value === "number" ? new Float64Array(length).fill(value) : value);
  if (typeof right === "number" && typeof left !== "number") return comparedWith(left, sign, right);
  const [a, b] = [column(left), column(right)];
  const test = TESTS[sign]!;
  for (let row = 0; row < length; ++row) mask[row] = test(a[row]!, b[row]!) ? 1 : 0;
  return mask;
}

const TESTS: Record<string, (x: number, y: number) => boolean> = {
  "<": (x, y) => x < y, ">": (x, y) => x > y, "<=": (x, y) => x <= y, ">=": (x, y) => x >= y,
  "=": (x, y) => x === y, "==": (x, y) => x === y, "!=": (x, y) => x !== y,
};

/** Compares a column with a number: the most frequent term, in loops without calls. */
function comparedWith(left: Float64Array, sign: string, y: number): Mask {
  const mask = newMask(left.length);
  const { length } = left;
  switch (sign) {
    case ">": for (let i = 0; i < length; ++i) mask[i] = Number(left[i]! > y); break;
    case "<": for (let i = 0; i < length; ++i) mask[i] = Number(left[i]! < y); break;
    case ">=": for (let i = 0; i < length; ++i) mask[i] = Number(left[i]! >= y); break;
    case "<=": for (let i = 0; i < length; ++i) mask[i] = Number(left[i]! <= y); break;
    case "!=": for (let i = 0; i < length; ++i) mask[i] = Number(left[i]! !== y); break;
    default: for (let i = 0; i < length; ++i) mask[i] = Number(left[i]! === y);
  }
  return mask;
}

/** Returns the selected rows. Fails with SyntaxProblem if the text has a mistake. */
export function select(text: string, context: SelectionContext): Mask {
  return new SelectionParser(text, context).parse();
}
