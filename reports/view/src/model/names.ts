// Provides names of methods, in the form that the user chose, and what is derived from them. The
// data have the JVM's names, `pkg/Class.method(sig)ret`. Other names are those of native symbols
// `module.symbol`, threads, files and lines: they have one form.

import { isContainer, type Tree } from "./tree.js";

/** `full` is as in source code, with the package; `short` is class and method; `jvm` as in data. */
export const NAME_FORMS = ["full", "short", "jvm"] as const;
export type NameForm = typeof NAME_FORMS[number];

/** A name in parts: what is before `Class.method`, that, and the arguments. */
export type Parts = [before: string, main: string, after: string];

interface JavaMethod {
  path: string;         // `java/util/`, or "" for the package without a name
  main: string;         // `Map$Entry.get`
  descriptor: string;   // `(Ljava/lang/Object;)V`
}

const FIELD = "\\[*(?:[BCDFIJSZ]|L[^;()]+;)";
const DESCRIPTOR = new RegExp(`\\((?:${FIELD})*\\)(?:${FIELD}|V)$`);
const FIELDS = new RegExp(FIELD, "g");
const PRIMITIVES: Record<string, string> = {
  B: "byte", C: "char", D: "double", F: "float", I: "int", J: "long", S: "short", Z: "boolean",
};
/** Rows with these letters are Java methods. Those of a comparison have a blank in place of a
 * letter: there, a name is a Java method's if all of it is as the JVM writes them. */
const JAVA_LETTERS = "IJRLWN ";
/** Rows with these letters are classes of objects: of a profile, and of a heap dump (words.ts). */
const CLASS_LETTERS = "-ocg";
export const CLASS = 45;   // the letter - of a class in a profile
const ARRAY = new RegExp(`^\\[+(?:[BCDFIJSZ]|L[^;()]+;)$`);
const JITTED = "JITCODE";   // the module of compiled Java methods in tprof
const MODULE = /^(?:vmlinux|\[[^\]]*\]|[^\s(]+?\.so(?:\.\d+)*)(?=[.+]|$)/;
const PROGRAM = /^[^\s.+(]+(?=[.+])/;

/** Divides the JVM's name of a method. Returns null for a damaged one. */
function parseMethod(text: string): JavaMethod | null {
  const begin = text.search(DESCRIPTOR);
  if (begin < 0) return null;
  const name = text.slice(0, begin);
  const slash = name.lastIndexOf("/") + 1;
  if (name.indexOf(".", slash + 1) < 0) return null;
  return { path: name.slice(0, slash), main: name.slice(slash), descriptor: text.slice(begin) };
}

/** Returns `(String, int[])` for `(Ljava/lang/String;[I)V`. */
function argumentsOf(descriptor: string): string {
  const list = descriptor.slice(1, descriptor.lastIndexOf(")"));
  return `(${(list.match(FIELDS) ?? []).map(typeText).join(", ")})`;
}
function typeText(field: string): string {
  const base = field.replace(/^\[+/, "");
  const name = PRIMITIVES[base] ?? base.slice(Math.max(1, base.lastIndexOf("/") + 1), -1);
  return name + "[]".repeat(field.length - base.length);
}

/** Returns a class's package and name. In the JVM's form an array of a primitive type is `CHAR[]`, as
 * the reports have it. */
function classParts(text: string, form: NameForm): Parts {
  const base = ARRAY.test(text) ? text.replace(/^\[+/, "") : "";
  const dimensions = base === "" ? "" : "[]".repeat(text.length - base.length);
  const primitive = PRIMITIVES[base];
  if (primitive) return ["", (form === "jvm" ? primitive.toUpperCase() : primitive) + dimensions, ""];
  const name = base === "" ? text : base.slice(1, -1);
  const slash = name.lastIndexOf("/") + 1;
  const path = form === "short" ? "" : name.slice(0, slash);
  return [form === "jvm" ? path : path.replaceAll("/", "."), name.slice(slash) + dimensions, ""];
}

/** Returns a test of whether a package or module is the wanted one, or a package in it. `wanted` is
 * `java.util`, `java/util` or `java.util.*`, with `*` for any text. */
export function groupTest(wanted: string): (group: string) => boolean {
  const name = wanted.replaceAll("/", ".").replace(/\.\*?$/, "");
  if (!name.includes("*")) return (group) => group === name || group.startsWith(`${name}.`);
  const pattern = globOf(`${name}.*`);
  return (group) => group !== "" && pattern.test(`${group}.`);
}

/** Makes an expression that matches a whole text; `*` is any text. */
export function globOf(pattern: string): RegExp {
  const literal = (part: string) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`);
}

export class Names {
  readonly texts: string[];
  readonly given: number;                                        // names in the data
  private chosen: NameForm = "full";
  private texted: (string | undefined)[] = [];                   // in the chosen form
  private readonly letters: number[] = [];                       // of a row with the name
  private readonly parsed: (JavaMethod | null | undefined)[] = [];
  private readonly packages: (string | undefined)[] = [];
  private readonly groups = new Map<string, number>();

  constructor(text: string) {
    this.texts = text.split("\n");
    this.given = this.texts.length;
  }

  /** Notes the kind of frame that has each name, and the modules above the rows of tprof. */
  learn({ parent, method, type }: Pick<Tree, "parent" | "method" | "type">): void {
    for (let row = 0; row < method.length; ++row) {
      const name = method[row]!;
      if (this.letters[name] !== undefined && type[row] !== 83) continue;
      this.letters[name] = type[row]!;
      if (type[row] === 83) this.learnSymbol(name, this.of(method[parent[row]!]!));  // S
    }
  }
  /** Notes that these names are of classes. */
  learnClasses(names: Uint32Array): void {
    for (const name of names) this.letters[name] ??= CLASS_LETTERS.charCodeAt(0);
  }
  private learnSymbol(name: number, module: string): void {
    if (module === JITTED) this.letters[name] = JAVA_LETTERS.charCodeAt(0);
    else this.packages[name] = module.slice(module.lastIndexOf("/") + 1);
  }

  set form(form: NameForm) {
    if (form !== this.chosen) this.texted = [];
    this.chosen = form;
  }
  get length(): number {
    return this.texts.length;
  }
  /** Returns the name in the data, which links contain. */
  of(method: number): string {
    return this.texts[method] ?? "?";
  }

  private java(method: number): JavaMethod | null {
    const found = this.parsed[method];
    if (found !== undefined) return found;
    const isJava = JAVA_LETTERS.includes(String.fromCharCode(this.letters[method] ?? 0));
    return this.parsed[method] = isJava ? parseMethod(this.of(method)) : null;
  }
  isJava(method: number): boolean {
    return this.java(method) !== null;
  }
  /** Returns whether rows with this name are code, not threads, processes or modules. */
  isMethod(method: number): boolean {
    return method < this.given && !isContainer(this.letters[method] ?? 0);
  }
  /** Returns whether rows with this name are classes of objects. */
  isClass(method: number): boolean {
    return CLASS_LETTERS.includes(String.fromCharCode(this.letters[method] ?? 0));
  }
  private inForm(method: number, form: NameForm): Parts {
    if (this.isClass(method)) return classParts(this.of(method), form);
    const java = this.java(method);
    if (!java) return ["", this.of(method), ""];
    const { path, main, descriptor } = java;
    if (form === "jvm") return [path, main, descriptor];
    if (form === "short") return ["", main, ""];
    return [path.replaceAll("/", "."), main, argumentsOf(descriptor)];
  }

  /** Returns the name in the form that the user chose. */
  shown(method: number): string {
    return this.texted[method] ??= this.parts(method).join("");
  }
  parts(method: number): Parts {
    return this.inForm(method, this.chosen);
  }
  /** Returns `Class.method`, without package and arguments; of a module's file only its name. */
  short(method: number): string {
    if (this.isClass(method)) return this.inForm(method, "short").join("");
    const text = this.of(method);
    const isModule = this.letters[method] === 77;   // M
    return this.java(method)?.main ?? (isModule ? text.slice(text.lastIndexOf("/") + 1) : text);
  }
  /** Returns the name in each form, and the full one without arguments. */
  forms(method: number): string[] {
    if (this.isClass(method)) return [this.of(method), this.inForm(method, "full").join("")];
    if (!this.java(method)) return [this.of(method)];
    const [path, main, after] = this.inForm(method, "full");
    return [this.of(method), path + main + after, path + main, main];
  }
  /** Returns whether the pattern finds the method by the JVM's name or by that in source code. */
  matches(method: number, pattern: RegExp): boolean {
    return pattern.test(this.of(method)) ||
        ((this.isClass(method) || this.java(method) !== null) &&
         pattern.test(this.inForm(method, "full").join("")));
  }

  /** Returns `java.util`, the module of a native symbol, or "" if there is neither. */
  packageOf(method: number): string {
    return this.packages[method] ??= this.findPackage(method);
  }
  private findPackage(method: number): string {
    if (this.isClass(method)) return classParts(this.of(method), "full")[0].slice(0, -1);
    const java = this.java(method);
    if (java) return java.path.slice(0, -1).replaceAll("/", ".");
    const isFunction = this.letters[method] === 70;  // F
    const text = this.of(method);
    const unnamed = /^\[([^\]]+)\]$/.exec(text);     // code of a module without symbols
    if (isFunction && unnamed) return unnamed[1]!;
    return (MODULE.exec(text) ?? (isFunction ? PROGRAM.exec(text) : null))?.[0] ?? "";
  }

  /** Returns the index of the name of a group of methods. */
  group(name: string): number {
    let found = this.groups.get(name);
    if (found === undefined) {
      this.groups.set(name, found = this.add(name));
      this.packages[found] = name.replaceAll("/", ".");
    }
    return found;
  }
  /** Adds a name that is not in the data. Returns its index. */
  add(text: string): number {
    return this.texts.push(text) - 1;
  }
  /** Adds the JVM's name of a method. Returns its index. */
  addMethod(text: string): number {
    const added = this.add(text);
    this.letters[added] = JAVA_LETTERS.charCodeAt(0);
    return added;
  }
}

/** Explains the letters of rows. The data explain those of frames. */
export const TYPE_NAMES: Record<string, string> = {
  n: "native code", " ": "method", P: "process", M: "module", S: "symbol", G: "collapsed",
};

export function learnFrameKinds(frames: Record<string, string>): void {
  Object.assign(TYPE_NAMES, frames);
}
