// Writes an HTML file with synthetic data in the format of docs/VIEW.md. The data depend on the
// arguments only.
//
//   node test/generate.mjs OUT.html [--rows N] [--kind tree|combined|compare|tprof] [--view FILE]
//                          [--seed N] [--lines] [--series] [--distributions]
//
// --view: the built template (default: build/view.html of this folder).
// --lines: with source lines of some methods. --series: with counts over time. --distributions:
// with how long single calls took.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";

export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x ^= x + Math.imul(x ^ (x >>> 7), 61 | x);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

const PACKAGES = ["java/lang", "java/util", "java/util/concurrent", "java/io", "com/acme/order",
                  "com/acme/order/rules", "com/acme/store", "org/parser", "org/parser/ast"];
const CLASSES = ["Reader", "Writer", "Buffer", "Parser", "Node", "Visitor", "Table", "Index",
                 "Cache", "Rules", "Order", "Session", "Matcher", "Scanner", "Encoder"];
const VERBS = ["read", "write", "find", "get", "put", "visit", "parse", "match", "hash", "copy",
               "resize", "compare", "next", "flush", "lookup", "apply"];

/** Names, and for each the letter of its type. */
export function makeMethods(count, next) {
  const names = [];
  const types = [];
  const pick = (list) => list[Math.floor(next() * list.length)];
  for (let i = 0; i < count; ++i) {
    if (i % 37 === 36) {
      names.push(`libjvm.so.Runtime1::stub_${i}`);
      types.push("n");
    } else if (i % 53 === 52) {
      names.push(`vmlinux.do_syscall_${i}`);
      types.push("K");
    } else {
      names.push(`${pick(PACKAGES)}/${pick(CLASSES)}.${pick(VERBS)}${i}(Ljava/lang/String;I)V`);
      types.push(pick(["R", "R", "R", "R", "J", "J", "I", "N"]));
    }
  }
  return { names, types };
}

/** Rows depth first. Times per call depend on the method and, for some methods, on the context. */
export function makeTree(rows, next, methods, threads) {
  const tree = {
    parent: new Uint32Array(rows), method: new Uint32Array(rows), type: new Uint8Array(rows),
    thread: new Uint32Array(rows), calls: new Float64Array(rows), self: new Float64Array(rows),
    error: new Float32Array(rows),
  };
  const perCall = methods.names.map(() => 5 + 400 * next() ** 6);
  const perThread = Math.floor(rows / threads.length);
  let row = 0;
  threads.forEach((_, t) => {
    const end = t === threads.length - 1 ? rows : row + perThread;
    const path = [row];
    tree.parent[row] = 0xffffffff;
    tree.method[row] = methods.names.length + t;
    tree.type[row] = 84;
    tree.thread[row] = t;
    tree.self[row++] = 1e5 * next();
    for (; row < end; ++row) {
      // Mostly deeper, sometimes many levels back: trees with long paths and wide nodes.
      const back = next() < 0.5 ? 0 : Math.floor(next() * next() * path.length);
      path.length = Math.max(1, Math.min(path.length - back, 60));
      const above = path[path.length - 1];
      const method = Math.floor(next() * next() * methods.names.length);
      const parentCalls = tree.calls[above] || 1 + Math.floor(40 * next());
      tree.parent[row] = above;
      tree.method[row] = method;
      tree.type[row] = methods.types[method].charCodeAt(0);
      tree.thread[row] = t;
      const calls = Math.max(1, Math.floor(parentCalls * (0.3 + 2 * next() ** 3)));
      tree.calls[row] = Math.min(calls, 5e6);
      const context = method % 11 === 0 ? 0.2 + 4 * next() : 0.9 + 0.2 * next();
      tree.self[row] = tree.calls[row] * perCall[method] * context;
      tree.error[row] = 0.02 * tree.self[row] + 3 * Math.sqrt(tree.calls[row]);
      path.push(row);
    }
  });
  return tree;
}

/** process > thread > module > symbol > line */
export function makeTicks(next) {
  const names = [];
  const [parent, method, type, self] = [[], [], [], []];
  const annotations = { rows: {}, texts: [] };
  const add = (above, name, letter, ticks) => {
    let id = names.indexOf(name);
    if (id < 0) id = names.push(name) - 1;
    type.push(letter.charCodeAt(0));
    method.push(id);
    self.push(ticks);
    return parent.push(above) - 1;
  };
  for (const process of ["java (pid 4711)", "SystemProcess_0000", "postgres (pid 99)"]) {
    const p = add(0xffffffff, process, "P", 0);
    for (let t = 0; t < 3; ++t) {
      const name = ["main", "worker", "C2 CompilerThread0"][t];
      const thread = add(p, `${name} (tid ${70 + t})`, "T", 0);
      for (const module of ["JITCODE", "libc.so.6", "vmlinux"]) {
        const m = add(thread, module, "M", 0);
        for (let s = 0; s < 6; ++s) {
          const symbol = add(m, `${module}.symbol_${s}`, "S", 0);
          for (let l = 0; l < 3; ++l) {
            add(symbol, `file_${s}.c:${10 + l}`, "L", Math.floor(300 * next() ** 3));
          }
          annotations.rows[symbol] = annotations.texts.length;
          annotations.texts.push(`; ${module}.symbol_${s}\n` + Array.from({ length: 12 }, (_, i) =>
            `${String(Math.floor(40 * next())).padStart(6)}  ${(0x1f40 + 4 * i).toString(16)}` +
            `:  mov    0x${(8 * i).toString(16)}(%rdi),%rax`).join("\n"));
        }
      }
    }
  }
  return {
    names, annotations, parent: Uint32Array.from(parent), method: Uint32Array.from(method),
    type: Uint8Array.from(type), self: Float64Array.from(self),
    error: Float32Array.from(self, Math.sqrt),
  };
}

const LETTERS = [[Uint8Array, "u8"], [Uint32Array, "u32"], [Float32Array, "f32"],
                 [Float64Array, "f64"]];

export class Encoder {
  constructor() {
    this.parts = [];
    this.size = 0;
  }
  add(values) {
    const isText = typeof values === "string";
    const array = isText ? Buffer.from(values, "utf8") : values;
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    const type = isText ? "text" : LETTERS.find(([kind]) => array instanceof kind)[1];
    const section = { type, offset: this.size, length: array.length };
    const padding = (8 - (bytes.length % 8)) % 8;
    this.parts.push(bytes, Buffer.alloc(padding));
    this.size += bytes.length + padding;
    return section;
  }
  finish(header) {
    let text = Buffer.from(JSON.stringify(header), "utf8");
    text = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, 32)]);
    const begin = Buffer.alloc(8);
    begin.write("JPV1", 0, "latin1");
    begin.writeUInt32LE(text.length, 4);
    return Buffer.concat([begin, text, ...this.parts]);
  }
}

/** Calls of each thread over time, at most 12 deep, with marks and a counter. */
function encodeTimeline(encoder, next, methods, threads, calls) {
  const slices = [];
  const end = 1e9;
  const fill = (track, depth, from, to) => {
    for (let at = from; slices.length < calls * (track + 1) && depth < 12 && to - at > 10;) {
      const begin = at + Math.floor(0.2 * next() * (to - at));
      const length = Math.ceil((0.1 + 0.8 * next()) * (to - begin));
      const method = Math.floor(next() * next() * methods.names.length);
      slices.push({ track, depth, begin, length, method,
                    type: methods.types[method].charCodeAt(0) });
      if (next() < 0.8) fill(track, depth + 1, begin, begin + length);
      at = begin + length;
    }
  };
  threads.forEach((_, track) => fill(track, 0, 1e6 * track, end));
  slices.sort((a, b) => a.track - b.track || a.depth - b.depth || a.begin - b.begin);
  const column = (type, key) => encoder.add(type.from(slices, (one) => one[key]));
  return {
    clock: "Times are each thread's own CPU time.", end, tracks: threads, shortest: 10, left_out: 5,
    slices: {
      rows: slices.length, track: column(Uint32Array, "track"), depth: column(Uint32Array, "depth"),
      begin: column(Float64Array, "begin"), length: column(Float64Array, "length"),
      method: column(Uint32Array, "method"), type: column(Uint8Array, "type"),
    },
    marks: { rows: 2, track: encoder.add(Uint32Array.of(0, 1)),
             at: encoder.add(Float64Array.of(3e8, 7e8)), text: encoder.add(Uint32Array.of(3, 4)) },
    counters: [{ name: "instructions", track: 0, at: encoder.add(Float64Array.of(0, 4e8, 1e9)),
                 value: encoder.add(Float64Array.of(0, 1e9, 4e9)) }],
  };
}

/** Source lines of many methods, with made-up text, samples and calls. */
function makeLines(next, methods, isCounted) {
  const whole = 20000;
  const one = (method) => {
    let line = 40;
    const lines = Array.from({ length: 12 }, (_, i) => {
      const called = Array.from({ length: i % 3 }, (_, k) => ({
        method: Math.floor(next() * methods.length), type: "RJI"[k], bytecode: 7 * i + k,
        calls: isCounted ? Math.floor(1e6 * next()) : 0, all: Math.floor(300 * next()),
      }));
      const own = Math.floor(200 * next() ** 2);
      line += 1 + Math.floor(3 * next());
      return {
        line: i === 0 ? 0 : line,
        text: i === 0 ? "" : `int value${i} = table.find(key, ${i}); // ${"step ".repeat(i)}`,
        calls: called.reduce((sum, { calls }) => sum + calls, 0), own,
        all: called.reduce((sum, { all }) => sum + all, own), called,
      };
    });
    const file = /(\w+)\./.exec(methods[method])?.[1];
    return { method, file: `${file}.java`, lines, left_out: method % 3 };
  };
  return {
    metric: { name: "samples", unit: "samples", kind: "samples" }, whole, has_calls: isCounted,
    methods: Array.from(methods.keys()).filter((method) => method % 4 > 0).slice(0, 200).map(one),
  };
}

/** How long single calls of every third method took: most about 1 us, and a few 50 ms. */
function makeDistributions(next, tree, methodCount) {
  const times = (factor) => {
    const peaks = [[900 * factor, 90000], [1100 * factor, 60000], [40e3 * factor, 700], [52e6 * factor, 3]];
    const buckets = peaks.map(([mean, calls]) => [mean, 1 + Math.floor(calls * next())]);
    const at = (i) => buckets[i][0];
    return { min: at(0) / 2, p50: at(0), p90: at(1), p99: at(2), max: at(3), mean: 2 * at(1),
             removed: 0.3 * next(), below: factor > 2 ? ["min", "p50"] : [], buckets };
  };
  const one = () => {
    const cpu = times(1 + next());
    const elapsed = { ...times(3), buckets: cpu.buckets.map(([mean, calls], i) => [mean * (1 + i), calls]) };
    return { calls: cpu.buckets.reduce((sum, [, calls]) => sum + calls, 0), cpu, elapsed };
  };
  const isWatched = (method) => method < methodCount && method % 3 === 0;
  const rows = Array.from(tree.method.keys()).filter((row) => isWatched(tree.method[row]));
  const methods = [...new Set(rows.map((row) => tree.method[row]))];
  return { methods: methods.map((method) => ({ method, ...one() })),
           rows: rows.map((row) => ({ row, ...one() })) };
}

function encodeTree(encoder, tree, info, extra) {
  const columns = extra ? {} : {
    parent: encoder.add(tree.parent), method: encoder.add(tree.method),
    type: encoder.add(tree.type), thread: tree.thread ? encoder.add(tree.thread) : null,
  };
  columns.calls = tree.calls ? encoder.add(tree.calls) : null;
  columns.self = [encoder.add(tree.self), ...(tree.samples ? [encoder.add(tree.samples)] : [])];
  columns.error = [encoder.add(tree.error), ...(tree.samples ? [null] : [])];
  return { ...info, rows: tree.parent.length, has_calls: Boolean(tree.calls),
           metrics: columns.self.map((_, i) => i), columns };
}

const TIME = { name: "time", unit: "ns", kind: "time", calibrated: true, has_error: true };
const KINDS = {
  tree: [TIME],
  compare: [TIME],
  combined: [{ name: "production time", unit: "ns", kind: "time", calibrated: false,
               period: 1e6, period_unit: "ns", has_error: true,
               between_runs: { total: 0.04, share: 0.03, own_share: 0.3, dispersion: 0.5 } },
             { name: "samples", unit: "samples", kind: "samples", has_error: false }],
  tprof: [{ name: "ticks", unit: "samples", kind: "samples", calibrated: false, period: 1e7,
            period_unit: "ns", has_error: true }],
};

/** Counts over time: method i is busy around its own part of the time. */
function encodeSeries(encoder, next, methods) {
  const count = Math.min(30, methods.names.length);
  const ends = Float64Array.from({ length: 60 }, (_, i) => i + 1 + 0.1 * next());
  const calls = new Float64Array(count * ends.length);
  const own = new Float64Array(calls.length);
  for (let i = 0; i < calls.length; ++i) {
    const [method, column] = [Math.floor(i / ends.length), i % ends.length];
    const near = Math.max(0, 1 - Math.abs(column - 2 * method) / 12);
    calls[i] = Math.round(1e5 * near * (0.5 + next()) / (1 + method));
    own[i] = calls[i] * 50;
  }
  return { begin: 0, ends: encoder.add(ends), metric: "time", unit: "ns",
           methods: encoder.add(Uint32Array.from({ length: count }, (_, i) => i)),
           own: encoder.add(own), calls: encoder.add(calls) };
}

export function makeData({ rows = 20000, kind = "tree", seed = 1, lines = false, series = false,
                           distributions = false } = {}) {
  const next = random(seed);
  const encoder = new Encoder();
  const header = {
    title: "synthetic.jprof", kind,
    facts: [["command", "java -Xmx2g -jar app.jar --input data/orders.csv"],
            ["run", "2026-11-25 13:02:11, 8.41 s, exit status 0"],
            ["machine", "2 CPUs, Linux 6.1, OpenJDK 17.0.9"]],
    losses: kind === "tree" ? ["12 stacks lost: the buffer of thread main was full"] : [],
    notes: kind === "tree" ? ["3 rows are below the resolution of the clock",
                              "recursion is folded from 2.1 s on"] : [],
    metrics: KINDS[kind], threads: [], trees: [],
    frames: { I: "interpreted", J: "compiled by C1", R: "compiled by C2", N: "native method",
              K: "kernel", T: "thread" },
  };
  if (kind === "tree") {
    header.quality = [
      { name: "without_symbols", severity: "major", value: 0.12,
        text: "12.0 % of samples in 1 module without symbols: libc.so.6",
        means: "Its functions have one name.", advice: "Install the debug symbols of libc6." },
      { name: "samples_lost", severity: "minor", value: 12, text: "12 samples were not taken",
        means: "The buffer was full.", advice: "" },
      { name: "covered", severity: "info", value: 0.991, text: "99.1 % of CPU time covered",
        means: "", advice: "" }];
  }
  let names;
  if (kind === "tprof") {
    const ticks = makeTicks(next);
    names = ticks.names;
    header.trees.push(encodeTree(encoder, ticks, { name: "" }));
    header.annotations = encoder.add(JSON.stringify(ticks.annotations));
  } else {
    const methods = makeMethods(Math.max(20, Math.min(20000, Math.floor(rows / 20))), next);
    header.threads = ["main (tid 77)", "worker-1 (tid 78)", "worker-2 (tid 79)"];
    const tree = makeTree(rows, next, methods, header.threads);
    names = [...methods.names, ...header.threads];
    if (kind === "combined") {
      tree.samples = tree.self.map((ns) => Math.round(ns / 2e3));
      tree.self = tree.samples.map((n) => n * 1e6);
      tree.error = Float32Array.from(tree.samples, (n) => 1e6 * Math.sqrt(n + 1));
    }
    if (lines) {
      const made = makeLines(next, methods.names, kind === "combined");
      header.lines = encoder.add(JSON.stringify(made));
    }
    if (distributions) {
      const made = makeDistributions(next, tree, methods.names.length);
      header.distributions = encoder.add(JSON.stringify(made));
    }
    if (series) header.series = encodeSeries(encoder, next, methods);
    if (kind === "tree") {
      header.timeline = encodeTimeline(encoder, next, methods, header.threads, rows / 10);
    }
    const compare = kind === "compare";
    header.trees.push(encodeTree(encoder, tree, { name: compare ? "old" : "" }));
    if (compare) {
      const change = methods.names.map(() => (next() < 0.2 ? 0.3 + 2 * next() : 1));
      const factor = (row) => change[tree.method[row]] ?? 1;
      const after = { ...tree, self: tree.self.map((x, row) => x * factor(row)) };
      header.trees.push(encodeTree(encoder, after, { name: "new" }, true));
    }
  }
  header.methods = encoder.add(names.join("\n"));
  return { header, names, bytes: encoder.finish(header) };
}

export function makePage(template, bytes) {
  const base64 = deflateSync(bytes).toString("base64");
  const data = `<script type="application/octet-stream" id="jprof-data">${base64}</script>`;
  return template.replace("<!--DATA-->", () => data);
}

function main() {
  const [out, ...rest] = process.argv.slice(2);
  const option = (name, otherwise) =>
    (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
  if (!out || out.startsWith("-")) {
    console.error("usage: generate.mjs OUT.html [--rows N] [--kind K] [--view FILE] [--seed N] [--lines] "
                  + "[--series] [--distributions]");
    process.exit(2);
  }
  const here = dirname(fileURLToPath(import.meta.url));
  const view = option("--view", join(here, "..", "build", "view.html"));
  const data = makeData({ rows: Number(option("--rows", 20000)), kind: option("--kind", "tree"),
                          seed: Number(option("--seed", 1)), lines: rest.includes("--lines"),
                           series: rest.includes("--series"),
                           distributions: rest.includes("--distributions") });
  writeFileSync(out, makePage(readFileSync(view, "utf8"), data.bytes));
}
if (process.argv[1] === fileURLToPath(import.meta.url)) main();
