// Provides names of methods and what is derived from them. A name is `pkg/Class.method(sig)ret`, or
// that of a native symbol `module.symbol`, a thread, a file or a line.

export class Names {
  readonly texts: string[];
  private readonly shorts: (string | undefined)[] = [];

  constructor(text: string) {
    this.texts = text.split("\n");
  }

  get length(): number {
    return this.texts.length;
  }
  of(method: number): string {
    return this.texts[method] ?? "?";
  }
  /** Returns `Class.method`, without package and signature. */
  short(method: number): string {
    return this.shorts[method] ??= shortName(this.of(method));
  }
  /** Adds a name that is not in the data. Returns its index. */
  add(text: string): number {
    return this.texts.push(text) - 1;
  }
}

/** Returns where the arguments of a Java method begin, or the length if the name has none. */
function endOfPath(name: string): number {
  const end = name.indexOf("(", 1);
  return end < 0 ? name.length : end;
}

export function shortName(name: string): string {
  const end = endOfPath(name);
  const slash = name.lastIndexOf("/", end - 1);
  // Only a Java name has a package before the class: a symbol may contain slashes in its module.
  const isJava = end < name.length && name[end] === "(" && !/\s/.test(name.slice(0, end));
  return isJava ? name.slice(slash + 1, end) : name;
}

/** Returns `java/util`, the module of a native symbol, or "" if there is neither. */
export function packageOf(name: string): string {
  const end = endOfPath(name);
  const slash = name.lastIndexOf("/", end - 1);
  if (end < name.length && slash > 0) return name.slice(0, slash);
  if (end < name.length) return "";
  const dot = name.search(/\.so\b/);
  if (dot > 0) return name.slice(0, dot + 3);
  return /^(vmlinux|\[[^\]]*\])/.exec(name)?.[0] ?? "";
}

/** Divides a name into what is before `Class.method`, that, and the signature. */
export function partsOf(name: string): [string, string, string] {
  const short = shortName(name);
  if (short === name) return ["", name, ""];
  const end = endOfPath(name);
  return [name.slice(0, end - short.length), short, name.slice(end)];
}

/** What the letters of rows mean. Those of frames come with the data. */
export const TYPE_NAMES: Record<string, string> = {
  n: "native code", " ": "method", P: "process", M: "module", S: "symbol",
};

export function learnFrameKinds(frames: Record<string, string>): void {
  Object.assign(TYPE_NAMES, frames);
}
