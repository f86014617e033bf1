// Unit tests: each module against a slow and simple computation on random trees.
//
//   node --test test/unit.mjs
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";
import { makeData, random } from "./generate.mjs";
import { makeStretchData } from "./generate_stretches.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), "jprof-view-"));
after(() => rmSync(out, { recursive: true }));
const MODULES = ["data", "tree", "names", "expression", "filter", "derive", "methods", "metrics",
                 "search", "statistics", "format", "link", "state", "order", "model", "columns",
                 "timeline", "time_canvas", "regroup", "squarify", "heap", "words", "locks",
                 "stretches", "stretch_filter", "stretch_sums", "stretch_pixels",
                  "stretch_selection", "selection_bar", "strips", "scale", "optimized", "scaled", "series",
                  "lines", "distributions"];
const OUTSIDE = { columns: "", time_canvas: "", selection_bar: "timeline", strips: "timeline" };
const pathOf = (name) => join(here, "..", "src", OUTSIDE[name] ?? "model", `${name}.ts`);
await build({
  entryPoints: Object.fromEntries(MODULES.map((name) => [name, pathOf(name)])),
  bundle: true, format: "esm", splitting: true, outdir: out, logLevel: "warning",
  outExtension: { ".js": ".mjs" },
});
const view = {};
for (const name of MODULES) {
  Object.assign(view, await import(pathToFileURL(join(out, `${name}.mjs`)).href));
}
const { NO_ROW, Tree } = view;

/** A random tree with two quantities: calls and time. Methods repeat on paths. */
function randomTree(rows, seed, methods = 8) {
  const next = random(seed);
  const parent = new Uint32Array(rows);
  for (let row = 0; row < rows; ++row) {
    parent[row] = row === 0 || next() < 0.02
      ? NO_ROW : Math.max(0, row - 1 - Math.floor(next() * 6));
  }
  const type = new Uint8Array(rows).map((_, row) => (parent[row] === NO_ROW ? 84 : 82));
  return new Tree({
    parent, type, thread: null,
    method: new Uint32Array(rows).map(() => Math.floor(next() * methods)),
    selfs: [new Float64Array(rows).map(() => Math.floor(next() * 9)),
            new Float64Array(rows).map(() => Math.floor(next() * 100) - 2)],
    errors: [null, new Float32Array(rows).map(() => next())],
  }, [true, false]);
}
const ancestors = (tree, row) => {
  const found = [];
  for (let at = tree.parent[row]; at !== NO_ROW; at = tree.parent[at]) found.push(at);
  return found;
};
const isBelow = (tree, row, top) => row === top || ancestors(tree, row).includes(top);
const sum = (list) => list.reduce((all, x) => all + x, 0);
const rowsOf = (tree) => Array.from({ length: tree.length }, (_, row) => row);
const near = (a, b, what) =>
  assert.ok(Math.abs(a - b) <= 1e-6 * (1 + Math.abs(b)), `${what}: ${a}, ${b}`);
const TREES = [1, 2, 3].map((seed) => randomTree(150, seed));

test("base64: the table decodes what Buffer encodes", () => {
  const next = random(5);
  for (let length = 0; length < 70; ++length) {
    const bytes = Uint8Array.from({ length }, () => Math.floor(256 * next()));
    const text = Buffer.from(bytes).toString("base64");
    assert.deepEqual(view.decodeBase64ByTable(text), bytes);
    assert.deepEqual(view.decodeBase64(text), bytes);
  }
});

test("data: what the generator writes is read again", async () => {
  const data = makeData({ rows: 500 });
  const buffer = await view.inflate(new Uint8Array(deflateSync(data.bytes)));
  const file = new view.DataFile(buffer);
  assert.deepEqual(file.header.facts, data.header.facts);
  assert.deepEqual(file.text(file.header.methods).split("\n"), data.names);
  const { tree, quantities } = view.readTree(file);
  assert.equal(tree.length, 500);
  assert.deepEqual(quantities.map((one) => one.name), ["calls", "time"]);
  assert.throws(() => new view.DataFile(new ArrayBuffer(16)), /magic/);
  assert.throws(() => new view.DataFile(buffer.slice(0, 64)), /damaged/);
  const short = new view.DataFile(buffer.slice(0, buffer.byteLength - 4096));
  assert.throws(() => short.text(file.header.methods), /damaged/);
});

// model/combined/time_estimate.h has the formula.
test("data: what several runs add to intervals", () => {
  const file = new view.DataFile(makeData({ rows: 500, kind: "combined" }).bytes.buffer.slice(0));
  const { tree, quantities } = view.readTree(file);
  const time = quantities.find((one) => one.name === "production time");
  const total = tree.total(quantities.indexOf(time));
  near(time.runArm(total), 0.04, "the whole has no share that could differ");
  near(time.runArm(total / 4), Math.hypot(0.04, 0.03 * 0.75), "with all that it calls");
  near(view.ofAlone(time).runArm(total / 4), Math.hypot(0.04, 0.3 * 0.75), "alone");
  near(time.dispersion(total / 4, 5), 0.75, "few samples are independent");
  near(time.dispersion(total / 4, 20), 0.75 * 0.75, "many are more regular");
  near(view.ofAlone(time).dispersion(total / 4, 20), 0.75, "alone: independent");
  const samples = quantities.find((one) => one.name === "samples");
  assert.equal(view.ofAlone(samples), samples);
});

test("cumulative values are sums over subtrees; children, depth and roots", () => {
  for (const tree of TREES) {
    const cum = tree.cum(1);
    for (const row of rowsOf(tree)) {
      const below = rowsOf(tree).filter((other) => isBelow(tree, other, row));
      near(cum[row], sum(below.map((other) => tree.self(1)[other])), "cum");
      near(tree.cumError(1)[row], sum(below.map((other) => tree.error(1)[other])), "error");
      assert.equal(tree.depth[row], ancestors(tree, row).length);
      const { start, list } = tree.children;
      assert.deepEqual(Array.from(list.subarray(start[row], start[row + 1])),
                       rowsOf(tree).filter((other) => tree.parent[other] === row));
    }
    near(tree.total(1), sum(Array.from(tree.self(1))), "total");
  }
});

test("errors of samples add up as squares", () => {
  const base = TREES[0];
  const tree = new Tree(base.columns, [true, true]);
  for (const row of rowsOf(tree)) {
    const below = rowsOf(tree).filter((other) => isBelow(tree, other, row));
    near(tree.cumError(1)[row], Math.sqrt(sum(below.map((o) => tree.error(1)[o] ** 2))), "error");
  }
});

test("methods: recursion counts once in cumulative values", () => {
  for (const tree of TREES) {
    const table = new view.MethodTable(tree, 8);
    for (let entry = 0; entry < table.length; ++entry) {
      const method = table.ids[entry];
      const own = (row) => tree.type[row] !== 84 && tree.method[row] === method;
      const covered = rowsOf(tree).filter((row) => own(row) || ancestors(tree, row).some(own));
      near(table.cum(1)[entry], sum(covered.map((row) => tree.self(1)[row])), "cum");
      near(table.self(1)[entry], sum(rowsOf(tree).filter(own).map((r) => tree.self(1)[r])), "self");
      assert.deepEqual(Array.from(table.rows(entry)), rowsOf(tree).filter(own));
    }
  }
});

test("edges: callers and callees of a method, a nested pair once", () => {
  for (const tree of TREES) {
    const table = new view.MethodTable(tree, 8);
    const isPair = (row, caller, callee) => tree.method[row] === callee && tree.type[row] !== 84 &&
      tree.parent[row] !== NO_ROW && tree.type[tree.parent[row]] !== 84 &&
      tree.method[tree.parent[row]] === caller;
    for (const [caller, callee] of [[0, 1], [2, 2], [3, 0]]) {
      const covered = rowsOf(tree).filter((row) =>
        [row, ...ancestors(tree, row)].some((at) => isPair(at, caller, callee)));
      const expected = sum(covered.map((row) => tree.self(1)[row]));
      const pairs = rowsOf(tree).filter((row) => isPair(row, caller, callee));
      const calls = sum(pairs.map((row) => tree.self(0)[row]));
      const views = [[caller, "callees", callee], [callee, "callers", caller]];
      for (const [entry, which, other] of views) {
        const found = view.edges(table, table.entryOf(entry), which, 0, 1)
          .find((edge) => edge.method === other) ?? { cum: 0, calls: 0 };
        near(found.cum, expected, which);
        near(found.calls, calls, `${which} calls`);
      }
    }
  }
});

/** Sums by path, as "a/b/c": what a derived tree must contain. */
function sumsByPath(tree, quantity) {
  const sums = new Map();
  const cum = tree.cum(quantity);
  for (const row of rowsOf(tree)) {
    const path = [row, ...ancestors(tree, row)].reverse().map((at) => tree.method[at]).join("/");
    sums.set(path, (sums.get(path) ?? 0) + cum[row]);
  }
  return sums;
}

test("merged callees of a method, by path", () => {
  for (const tree of TREES) {
    const table = new view.MethodTable(tree, 8);
    const tops = Array.from(table.outermostRows(table.entryOf(3)));
    const merged = view.mergedCallees(tree, tops, 8);
    const expected = new Map();
    for (const row of rowsOf(tree)) {
      const path = [row, ...ancestors(tree, row)];
      const top = path.findIndex((at) => tops.includes(at));
      if (top < 0) continue;
      const key = path.slice(0, top + 1).reverse().map((at) => tree.method[at]).join("/");
      expected.set(key, (expected.get(key) ?? 0) + tree.cum(1)[row]);
    }
    const found = sumsByPath(merged, 1);
    assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
    for (const [path, value] of expected) near(found.get(path), value, path);
  }
});

test("threads as one tree keep every sum", () => {
  for (const tree of TREES) {
    const { start, list } = tree.children;
    const roots = list.subarray(start[tree.length], start[tree.length + 1]);
    const merged = view.mergedCallees(tree, roots, 9, 8);
    near(merged.total(1), tree.total(1), "total");
    const { start: begin } = merged.children;
    assert.equal(begin[merged.length + 1] - begin[merged.length], 1);
  }
});

test("callers: the tree turned around, by path", () => {
  for (const tree of TREES) {
    const weight = tree.self(1);
    const items = Uint32Array.from(rowsOf(tree));
    const inverted = view.callers(tree, 8, { items, cumulative: false, weight, smallest: -1 });
    const expected = new Map();
    for (const row of rowsOf(tree)) {
      let key = "";
      for (const at of [row, ...ancestors(tree, row)]) {
        key = key === "" ? `${tree.method[at]}` : `${key}/${tree.method[at]}`;
        expected.set(key, (expected.get(key) ?? 0) + weight[row]);
      }
    }
    const found = sumsByPath(inverted, 1);
    assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
    for (const [path, value] of expected) near(found.get(path), value, path);
    const cut = view.callers(tree, 8, { items, cumulative: false, weight, smallest: 150 });
    near(cut.total(1), tree.total(1), "total with small callers cut");
    assert.ok(cut.length < inverted.length && cut.cut.some((x) => x === 1));
  }
});

test("search: the share counts outermost matches once", () => {
  for (const tree of TREES) {
    const methods = Uint8Array.from([1, 0, 0, 1, 0, 0, 0, 0]);
    const width = tree.cum(0);
    const own = (row) => methods[tree.method[row]] === 1;
    const covered = rowsOf(tree).filter((row) => own(row) || ancestors(tree, row).some(own));
    const found = view.matchedSum(tree, { methods, count: 2 }, width);
    near(found.sum, sum(covered.map((row) => tree.self(0)[row])), "share");
    assert.equal(found.rows, rowsOf(tree).filter(own).length);
  }
});

const QUANTITIES = [
  { name: "calls", unit: "", side: "old", whole: true, label: "" },
  { name: "time", unit: "ns", side: "old", whole: false, label: "" },
  { name: "calls", unit: "", side: "new", whole: true, label: "" },
  { name: "production time", unit: "ns", side: "new", whole: false, label: "" },
];
const AMOUNTS = {
  length: 2,
  self: (q) => Float64Array.from([[2, 0], [10, 20], [4, 5], [8, 9]][q]),
  cum: (q) => Float64Array.from([[3, 3], [30, 40], [6, 7], [80, 90]][q]),
};
const value = (text, named) =>
  Array.from(view.evaluate(view.parseExpression(text, QUANTITIES, named), AMOUNTS));

test("expressions: precedence, functions, sides, names", () => {
  assert.deepEqual(value("1 + 2 * 3 - 4 / 2"), [5, 5]);
  assert.deepEqual(value("-(1 + 2) * -3"), [9, 9]);
  assert.deepEqual(value("8 - 4 - 2"), [2, 2]);
  assert.deepEqual(value("16 / 4 / 2"), [2, 2]);
  assert.deepEqual(value("time / old(calls)"), [5, NaN]);
  assert.deepEqual(value("time / calls"), [2.5, 4]);
  assert.deepEqual(value("self(time) + cum(time)"), [40, 60]);
  assert.deepEqual(value("old(cum(calls)) + cum(old(calls))"), [6, 6]);
  assert.deepEqual(value("max(time, \"production time\" * 2)"), [16, 20]);
  assert.deepEqual(value("min(production_time, 8.5)"), [8, 8.5]);
  assert.deepEqual(value("abs(1.5e1 - 20) + .5"), [5.5, 5.5]);
  const half = view.parseExpression("time / 2", QUANTITIES);
  assert.deepEqual(value("half + 1", new Map([["half", half]])), [6, 11]);
});

test("expressions: errors name the position", () => {
  const fails = (text, position, pattern) => assert.throws(
    () => view.parseExpression(text, QUANTITIES),
    (error) => error.position === position && pattern.test(error.message), text);
  fails("time +", 6, /missing at position 7/);
  fails("time / wait", 7, /'wait' is not a metric/);
  fails("(time", 5, /'\)' is missing/);
  fails("time time", 5, /unexpected/);
  fails("sin(time)", 0, /not a function/);
  fails("time # 2", 5, /'#'/);
  fails("\"time", 0, /quote/);
  fails("max(time)", 8, /',' is missing/);
  fails("", 0, /missing/);
  fails("alert(1)", 0, /not a function/);
});

test("units of expressions", () => {
  const unit = (text) => view.unitOf(view.parseExpression(text, QUANTITIES), QUANTITIES);
  const texts = ["time / calls", "time / time", "2 * time", "calls + 1", "max(time, 3)"];
  assert.deepEqual(texts.map(unit), ["ns", "", "ns", "", "ns"]);
});

/** Names of which those with a `(` are of Java methods. */
function namesOf(texts) {
  const names = new view.Names(texts.join("\n"));
  names.learn({ parent: new Uint32Array(texts.length).fill(NO_ROW),
                method: Uint32Array.from(texts.keys()),
                type: Uint8Array.from(texts, (text) => (/\(.*\)\S/.test(text) ? 82 : 70)) });
  return names;
}

test("filters: terms and combinations against tests by row", () => {
  const tree = TREES[0];
  const names = namesOf(["java/util/A.a()V", "java/utility/B.b()V", "java/util/x/C.c()V",
    "com/D.d()V", "E.e()V", "libc.so.6.malloc", "vmlinux.read", "main (tid 1)"]);
  const context = {
    tree, names, threads: [], quantities: [{ ...QUANTITIES[0] }, { ...QUANTITIES[1] }],
    measure: tree.cum(0), computed: new Map(), marked: new Set([3]),
    named: new Map([["util", "package(java/util)"], ["self1", "self1"],
                    ["both", "util or marked"]]),
  };
  const isUtil = (row) => [0, 2].includes(tree.method[row]);
  const total = tree.total(0);
  const CASES = [
    ["package(java/util)", isUtil],
    ["package(\"java.util.*\")", isUtil],
    ["name(\"^com\")", (row) => tree.method[row] === 3],
    ["type(T)", (row) => tree.type[row] === 84],
    ["time > 50", (row) => tree.self(1)[row] > 50],
    ["(time + 1) / 2 <= 20", (row) => (tree.self(1)[row] + 1) / 2 <= 20],
    ["share >= 2", (row) => (100 * tree.cum(0)[row]) / total >= 2],
    ["below(\"D.d\")", (row) => [row, ...ancestors(tree, row)].some((at) => tree.method[at] === 3)],
    ["not util and (time > 50 or type(T))", (row) =>
      !isUtil(row) && (tree.self(1)[row] > 50 || tree.type[row] === 84)],
    ["time > 50 minus util and time > 70", (row) =>
      tree.self(1)[row] > 50 && !(isUtil(row) && tree.self(1)[row] > 70)],
    ["both", (row) => isUtil(row) || (tree.method[row] === 3 && tree.type[row] !== 84)],
  ];
  for (const [text, expected] of CASES) {
    assert.deepEqual(Array.from(view.parseFilter(text, context)),
                     rowsOf(tree).map((row) => (expected(row) ? 1 : 0)), text);
  }
  const wrong = ["self1", "time", "time > ", "package(java", "util or", "name(\"(\")", "util util"];
  for (const text of wrong) {
    assert.throws(() => view.parseFilter(text, context), /position \d+/, text);
  }
});

test("a filtered tree keeps paths and only the amounts of its rows", () => {
  for (const tree of TREES) {
    const rows = Uint8Array.from(rowsOf(tree), (row) => (tree.method[row] === 1 ? 1 : 0));
    const filtered = view.masked(tree, rows);
    const own = rowsOf(tree).filter((row) => rows[row]).map((row) => tree.self(1)[row]);
    near(filtered.total(1), sum(own), "sum");
    for (const row of rowsOf(tree)) {
      const isKept = rowsOf(tree).some((other) => rows[other] && isBelow(tree, other, row));
      assert.equal(filtered.kept[row], isKept ? 1 : 0);
    }
    const listed = Array.from(filtered.children.list).sort((a, b) => a - b);
    assert.deepEqual(listed, rowsOf(tree).filter((row) => filtered.kept[row]));
  }
});

test("correlation against the textbook formula", () => {
  const next = random(9);
  const x = Array.from({ length: 200 }, () => 1e6 + next());
  const y = x.map((a) => 3 * a + next());
  const n = x.length;
  const [mx, my] = [sum(x) / n, sum(y) / n];
  const r = sum(x.map((a, i) => (a - mx) * (y[i] - my))) /
    Math.sqrt(sum(x.map((a) => (a - mx) ** 2)) * sum(y.map((b) => (b - my) ** 2)));
  near(view.correlation(x, y).r, r, "r");
  near(view.correlation([1, 2, 3], [-2, -4, -6]).r, -1, "r");
  assert.ok(Number.isNaN(view.correlation([1, 1], [1, 2]).r));
  assert.deepEqual(view.correlation([1, NaN, 3], [1, 5, 3]), { r: 1, pairs: 2 });
});

test("contexts and spread: what differs from the method's mean", () => {
  const tree = TREES[1];
  const table = new view.MethodTable(tree, 8);
  const entry = table.entryOf(2);
  const list = view.contexts(table, entry, 0, 1);
  near(sum(list.map((one) => one.value)), table.self(1)[entry], "all contexts");
  near(sum(list.map((one) => one.expected)), table.self(1)[entry], "expected adds up");
  const excess = list.map((one) => Math.abs(one.value - one.expected));
  assert.deepEqual(excess, [...excess].sort((a, b) => b - a));
  const mean = table.self(1)[entry] / table.self(0)[entry];
  const counted = list.filter((one) => one.calls > 0);
  const variance = sum(counted.map((one) => one.calls * (one.value / one.calls - mean) ** 2)) /
    table.self(0)[entry];
  const ignored = sum(list.filter((one) => one.calls === 0).map((one) => one.value));
  if (ignored === 0) near(table.spread(0, 1)[entry], Math.sqrt(variance) / mean, "spread");
});

test("order: widest first, where a row begins, siblings", () => {
  const tree = TREES[2];
  const width = tree.cum(0);
  const order = new view.Order(tree, width, true);
  for (const row of rowsOf(tree)) {
    order.prepare(row);
    const children = Array.from(order.list.subarray(order.start[row], order.start[row + 1]));
    const widths = children.map((child) => width[child]);
    assert.deepEqual(widths, [...widths].sort((a, b) => b - a));
    near(order.inner[row], sum(widths), "inner");
    children.forEach((child, i) => {
      near(order.left(child), order.left(row) + sum(widths.slice(0, i)), "left");
      const before = widths[i - 1] > 0 ? children[i - 1] : NO_ROW;
      if (i > 0) assert.equal(order.sibling(child, -1), before);
    });
  }
});

test("links: a state and back", () => {
  const names = new view.Names("a/B.c(I)V\nx&y=z\nmain");
  const state = { ...view.INITIAL, view: "tree", row: 7, method: 1, search: "a+b&c=d", min: 0.5,
                  metrics: [["m", "time / calls"]], filters: [["f", "name(\"a&b\")"]], merge: true,
                  marked: [0, 1], logarithmic: false, only: "tid=1|2 && a > 2ms",
                  sets: [["s", "cpu=0"]], ratios: [["r", "ready / duration"]], theme: "dark", names: "jvm",
                  collapse: ["java.util", "libc.so.6"], hide: ["*.a(int, long)"] };
  assert.deepEqual(view.fromLink(view.toLink(state, names), names), state);
  assert.equal(view.toLink(view.INITIAL, names), "");
  assert.deepEqual(view.fromLink("", names), view.INITIAL);
  assert.deepEqual(view.fromLink("#view=x&row=abc&nothing=1&method=gone", names), view.INITIAL);
});

// The forms of the text reports (docs/REPORTS.md).
const FORMS = [
  ["clojure/lang/RT.load(Ljava/lang/String;)V", "clojure.lang.RT.load(String)", "RT.load"],
  ["java/util/Map$Entry.get(Ljava/util/Map$Entry;[[IJ)V",
   "java.util.Map$Entry.get(Map$Entry, int[][], long)", "Map$Entry.get"],
  ["Main.main([Ljava/lang/String;)V", "Main.main(String[])", "Main.main"],
  ["a/B.<init>()V", "a.B.<init>()", "B.<init>"],
  ["a/B.<clinit>()V", "a.B.<clinit>()", "B.<clinit>"],
  ["a/B$$Lambda$20+0x00007f66.run(ZBCSIJFD)La/C;",
   "a.B$$Lambda$20+0x00007f66.run(boolean, byte, char, short, int, long, float, double)",
   "B$$Lambda$20+0x00007f66.run"],
  ["a/B.lambda$run$0()I", "a.B.lambda$run$0()", "B.lambda$run$0"],
  ["a/KtTest.a name (of Kotlin)()V", "a.KtTest.a name (of Kotlin)()", "KtTest.a name (of Kotlin)"],
];
// What is no Java method, or has no descriptor, or a damaged one.
const OTHERS = ["a/B.c", "a/B.c(", "a/B.c()", "a/B.c(Q)V", "a/B.c(Ljava/lang/String)V", "(I)V", "",
                "a/B.c(I)VV", "main (tid 7)", "I2C/C2I adapters", "String.java:12"];

test("names: as in source code, short, and as the JVM has them", () => {
  const names = namesOf(FORMS.map(([jvm]) => jvm));
  const inForm = (form) => {
    names.form = form;
    return FORMS.map((_, method) => names.shown(method));
  };
  assert.deepEqual(inForm("full"), FORMS.map(([, full]) => full));
  assert.deepEqual(inForm("short"), FORMS.map(([, , short]) => short));
  assert.deepEqual(inForm("jvm"), FORMS.map(([jvm]) => jvm));
  names.form = "full";
  assert.deepEqual(names.parts(0), ["clojure.lang.", "RT.load", "(String)"]);
  FORMS.forEach(([jvm, full, short], method) => {
    assert.equal(names.of(method), jvm);
    assert.equal(names.short(method), short);
    for (const text of [jvm, full]) {
      const pattern = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      assert.equal(view.search(names, `^${pattern}$`).methods[method], 1, `search for ${text}`);
    }
  });
});

test("names: only those of Java methods are converted, by the kind of the frame", () => {
  const [jvm] = FORMS[0];
  const learned = (texts, type) => {
    const names = new view.Names(texts.join("\n"));
    names.learn({ parent: new Uint32Array(texts.length).fill(NO_ROW),
                  method: Uint32Array.from(texts.keys()),
                  type: new Uint8Array(texts.length).fill(type.charCodeAt(0)) });
    return texts.map((_, method) => names.shown(method));
  };
  for (const type of "IJRLWN ") assert.deepEqual(learned([jvm], type), [FORMS[0][1]], type);
  for (const type of "FKOTPMS") assert.deepEqual(learned([jvm], type), [jvm], type);
  for (const type of "IJRLWN ") assert.deepEqual(learned(OTHERS, type), OTHERS, type);
});

// Names of classes as the JVM has them, and in the forms full, short, jvm. The forms are those of
// model/tree/readable_name.h.
const CLASSES = [
  ["java/util/Map$Entry", "java.util.Map$Entry", "Map$Entry", "java/util/Map$Entry", "java.util"],
  ["Main", "Main", "Main", "Main", ""],
  ["[C", "char[]", "char[]", "CHAR[]", ""],
  ["[[J", "long[][]", "long[][]", "LONG[][]", ""],
  ["[Ljava/lang/String;", "java.lang.String[]", "String[]", "java/lang/String[]", "java.lang"],
  ["[Q", "[Q", "[Q", "[Q", ""],
];

test("names: classes of objects", () => {
  const names = new view.Names(CLASSES.map(([text]) => text).join("\n"));
  names.learnClasses(Uint32Array.from(CLASSES.keys()));
  CLASSES.forEach(([text, full, short, jvm, group], name) => {
    for (const [form, expected] of Object.entries({ full, short, jvm })) {
      names.form = form;
      assert.equal(names.shown(name), expected);
    }
    assert.equal(names.short(name), short);
    assert.equal(names.packageOf(name), group);
    for (const one of [text, full]) {
      const pattern = one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      assert.equal(view.search(names, `^${pattern}$`).methods[name], 1, one);
    }
  });
});

test("names: jitted methods of tprof, and modules above symbols", () => {
  const names = new view.Names(["JITCODE", "a/B.c()V", "/usr/lib/libc.so.6", "malloc"].join("\n"));
  names.learn({ parent: Uint32Array.of(NO_ROW, 0, NO_ROW, 2), method: Uint32Array.of(0, 1, 2, 3),
                type: Uint8Array.from("MSMS", (letter) => letter.charCodeAt(0)) });
  assert.deepEqual([1, 3].map((method) => names.shown(method)), ["a.B.c()", "malloc"]);
  assert.deepEqual([1, 3].map((method) => names.packageOf(method)), ["a", "libc.so.6"]);
  assert.equal(names.short(2), "libc.so.6");   // where its path has no room
});

test("names: packages and modules", () => {
  const texts = ["java/util/Map.get(I)V", "Main.main()V", "libc.so.6.malloc", "vmlinux.read",
                 "[ext4].read", "[vdso]+0x780", "libjvm.so.Foo::bar(int)", "ls.main", "ls+0x12",
                 "[libc.so.6]"];
  assert.deepEqual(texts.map((_, method) => namesOf(texts).packageOf(method)),
    ["java.util", "", "libc.so.6", "vmlinux", "[ext4]", "[vdso]", "libjvm.so", "ls", "ls",
     "libc.so.6"]);
  const matches = (wanted, group) => view.groupTest(wanted)(group);
  for (const wanted of ["java.util", "java/util", "java.util.*", "java/util/*", "j*.util", "*"]) {
    assert.ok(matches(wanted, "java.util"), wanted);
    assert.ok(matches(wanted, "java.util.concurrent"), wanted);
    assert.equal(matches(wanted, "java.utility"), wanted === "*", wanted);
  }
  assert.ok(matches("libc.so.6", "libc.so.6") && !matches("*", ""));
});

const COLLAPSE = ["java.util", "libc.so.6"];
const HIDE = ["D.d", "vmlinux*"];

/** What is collapsed and hidden, by method. Names as in "filters". */
function reshaping() {
  const names = namesOf(["java/util/A.a()V", "java/utility/B.b()V", "java/util/x/C.c()V",
    "com/D.d()V", "E.e()V", "libc.so.6.malloc", "libc.so.6.free", "vmlinux.read"]);
  const mapping = view.mappingOf(names, COLLAPSE, HIDE);
  const group = ["java.util", "", "java.util", "hidden", "", "libc.so.6", "libc.so.6", "hidden"];
  return { names, mapping, group };
}

/** By path, each value that must be there: a slow computation of `regrouped`. */
function reshapedPaths(tree, names, group, column, entriesOnly) {
  const sums = new Map();
  for (const row of rowsOf(tree)) {
    const path = [];
    let isEntry = true;
    for (const at of [row, ...ancestors(tree, row)].reverse()) {
      const kind = group[tree.method[at]];
      const isThread = tree.type[at] === 84;
      const isHidden = !isThread && kind === "hidden" && path.length > 0;
      const name = isThread ? `thread ${at}` : kind && kind !== "hidden"
        ? kind : `${names.of(tree.method[at])} ${tree.type[at]}`;
      isEntry = !isHidden && (isThread || !kind || kind === "hidden" || path.at(-1) !== name);
      if (isEntry) path.push(name);
    }
    const key = path.join(" > ");
    sums.set(key, (sums.get(key) ?? 0) + (entriesOnly && !isEntry ? 0 : column[row]));
  }
  return sums;
}

test("collapsed and hidden frames: every path has its values, and sums are unchanged", () => {
  const { names, mapping, group } = reshaping();
  assert.deepEqual([...mapping.counts], [["java.util", 2], ["libc.so.6", 2], ["D.d", 1],
                                         ["vmlinux*", 1]]);
  for (const tree of TREES) {
    const { tree: made, origin } = view.regrouped(tree, mapping, [true, false]);
    assert.ok(made.length < tree.length);
    const pathOf = (row) => [row, ...ancestors(made, row)].reverse().map((at) =>
      (made.type[at] === 84 ? `thread ${origin[at]}` : made.type[at] === view.GROUP
        ? names.of(made.method[at]) : `${names.of(made.method[at])} ${made.type[at]}`)).join(" > ");
    for (const quantity of [0, 1]) {
      const expected = reshapedPaths(tree, names, group, tree.self(quantity), quantity === 0);
      const found = new Map(rowsOf(made).map((row) => [pathOf(row), made.self(quantity)[row]]));
      assert.equal(found.size, made.length, "a path is one row");
      assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()));
    }
    assert.equal(made.total(1), tree.total(1), "the whole");
    near(made.totalError(1), tree.totalError(1), "its error");
    for (const row of rowsOf(made)) {
      const above = made.parent[row];
      assert.ok(above === NO_ROW || above < row, "a parent is before its children");
      assert.ok(above === NO_ROW || made.type[row] !== view.GROUP ||
                made.method[row] !== made.method[above], "consecutive frames of a group are one");
    }
    const squares = new Tree(tree.columns, [true, true]);
    near(view.regrouped(squares, mapping, [true, false]).tree.totalError(1), squares.totalError(1),
         "its error, of samples");
  }
});

test("collapsed calls over time: the stack of each moment is that of the frames left", () => {
  const file = new view.DataFile(makeData({ rows: 4000 }).bytes.buffer.slice(0));
  const model = new view.Model(file, new view.Store({ ...view.INITIAL }));
  const mapping = view.mappingOf(model.names, ["java.util", "org"], ["*.read*", "*.get*"]);
  const [before, after] = [null, mapping].map((one) =>
    new view.Timeline(file, file.header.timeline, one));
  const lanesOf = (timeline, track) => timeline.levels((name) =>
    name === timeline.info.tracks[track]).filter((one) => one.kind === "calls");
  /** The methods at a time, by depth. */
  const stackAt = (timeline, lanes, time) => lanes.map(({ first, end }) => {
    const found = rowsOf({ length: end }).slice(first).filter((i) =>
      timeline.begin[i] <= time && time < timeline.begin[i] + timeline.length[i]);
    assert.ok(found.length < 2, "calls of one depth do not overlap");
    return found.length > 0 ? timeline.method[found[0]] : -1;
  });
  const seen = { groups: 0, inner: 0, hidden: 0 };
  for (const track of [0, 1, 2]) {
    const [lanes, mapped] = [before, after].map((timeline) => lanesOf(timeline, track));
    for (let i = lanes[0].first; i < lanes.at(-1).end; ++i) {
      const time = before.begin[i] + before.length[i] / 2;
      const stack = stackAt(before, lanes, time).filter((method) => method >= 0)
        .map((method) => mapping.to[method]);
      const shown = stack.filter((method) => method !== NO_ROW);
      const isInner = (method, at) => method >= model.names.given && shown[at - 1] === method;
      const expected = shown.filter((method, at) => !isInner(method, at));
      const found = stackAt(after, mapped, time);
      assert.deepEqual(found, mapped.map((_, depth) => expected[depth] ?? -1));
      seen.hidden += stack.length - shown.length;
      seen.inner += shown.length - expected.length;
      seen.groups += expected.filter((method) => method >= model.names.given).length;
    }
  }
  assert.ok(Math.min(...Object.values(seen)) > 50, JSON.stringify(seen));
});

test("numbers: units, separators, intervals", () => {
  assert.equal(view.formatValue(1234567, "", true), "1,234,567");
  assert.deepEqual([3, 45.67, 1234, 2.5e6, 7.25e9, 3.6e12].map((ns) => view.formatValue(ns, "ns")),
                   ["3.00 ns", "45.7 ns", "1.23 us", "2.50 ms", "7.25 s", "3,600 s"]);
  // The unit is that of the rounded value.
  assert.deepEqual([999.7, 999999, 99.96, 9.996, 0.0434].map((ns) => view.formatValue(ns, "ns")),
                   ["1.00 us", "1.00 ms", "100 ns", "10.0 ns", "0.0434 ns"]);
  assert.deepEqual([-1e-9, 0.5, 1].map((part) => view.formatPercent(part, 1)),
                   ["0.00", "50.0", "100"]);
  assert.equal(view.formatValue(NaN, "ns"), "");
  assert.equal(view.formatValue(1536, "bytes"), "1.54 kB");
  const measured = { unit: "ns", whole: false, independent: false };
  const sampled = { unit: "ns", whole: false, independent: true };
  const samples = { unit: "samples", whole: true, independent: true };
  // Of measured values the whole interval must be narrower than the value (model/tree/rows.h).
  assert.equal(view.formatUncertain(10, 10, measured), "<29.6 ns");
  assert.equal(view.formatUncertain(100, 40, measured), "<178 ns");
  assert.equal(view.formatUncertain(100, 10, measured), "100 ns");
  assert.equal(view.formatUncertain(100, 10, measured, 4), "25.0 ns");
  assert.equal(view.formatError(100, 10, measured), "19.6 ns");
  // The score interval of 1 sample is from 0.18 to 5.66 samples, of 5 from 2.14 to 11.7, of 100
  // from 82.2 to 121.6.
  assert.equal(view.formatUncertain(10, 10, sampled), "<56.6 ns");
  assert.equal(view.formatUncertain(50, Math.sqrt(5) * 10, sampled), "50.0 ns");
  assert.equal(view.formatError(50, Math.sqrt(5) * 10, sampled), "47.9 ns");
  assert.equal(view.formatError(1000, 100, sampled), "197 ns");
  // With runs that differ by a tenth: from hypot(178, 100) below to hypot(216, 100) above.
  assert.equal(view.formatError(1000, 100, { ...sampled, runArm: () => 0.1 }), "221 ns");
  // Samples that are four times as regular as independent ones have half the interval.
  assert.equal(view.formatError(1000, 100, { ...sampled, dispersion: () => 0.25 }), "98.1 ns");
  // A number of samples is known, also where it says little.
  assert.equal(view.formatUncertain(100, 10, samples), "100");
  assert.equal(view.formatUncertain(1, 1, samples), "1");
  assert.equal(view.formatError(1, 1, samples), "2.74");
});

// The same cases as those of tests/unit/reports/compare_test.cc.
test("changes: within the error where compare says so", () => {
  const sideOf = ({ samples, one_sample: one, value, error }) => (samples === undefined
    ? { value, error, kind: { unit: "ns", whole: false, independent: false } }
    : { value: samples * one, error: Math.sqrt(samples) * one,
        kind: { unit: "ns", whole: false, independent: true, oneSample: one } });
  for (const { what, within, old, new: now } of
    JSON.parse(readFileSync(join(here, "changes.json"), "utf8"))) {
    assert.equal(view.isWithinError(sideOf(old), sideOf(now)), within, what);
  }
});

test("model: filters, measures and problems of a state", () => {
  const file = new view.DataFile(makeData({ rows: 2000 }).bytes.buffer.slice(0));
  const store = new view.Store({ ...view.INITIAL });
  const model = new view.Model(file, store);
  const all = model.unfiltered.total(1);
  store.set({ package: "java/util" });
  const one = model.tree.total(1);
  store.set({ package: "", filter: "not package(java/util)" });
  near(one + model.tree.total(1), all, "a filter and its opposite");
  store.set({ filter: "time >" });
  near(model.tree.total(1), all, "a wrong filter does nothing");
  assert.match(model.problems.filter, /position 7/);
  store.set({ filter: "", thread: "main (tid 77)" });
  assert.ok(model.tree.total(1) < all);
  store.set({ thread: "", metrics: [["twice", "2 * time"]], measure: "twice" });
  near(model.tree.sumOfRoots(model.measure.width(model.tree)), 2 * all, "twice");
  store.set({ measure: "", merge: true });
  near(model.tree.total(1), all, "merged");
  near(model.inverted.total(1), all, "inverted");
});

test("timeline: levels, the first call after a time, values between", () => {
  const file = new view.DataFile(makeData({ rows: 4000 }).bytes.buffer.slice(0));
  const timeline = new view.Timeline(file, file.header.timeline);
  const levels = timeline.levels(() => true);
  const lanes = levels.filter((one) => one.kind === "calls");
  assert.equal(sum(lanes.map((one) => one.end - one.first)), file.header.timeline.slices.rows);
  assert.deepEqual(levels.slice(0, 2).map((one) => one.kind), ["title", "counter"]);
  for (const lane of lanes) {
    const calls = rowsOf({ length: lane.end }).slice(lane.first);
    for (let time = 0; time < 1e9; time += 3.1e7) {
      const slow = calls.find((i) => timeline.begin[i] + timeline.length[i] > time) ?? lane.end;
      assert.equal(timeline.firstAfter(lane, time), slow);
    }
  }
  const one = timeline.levels((name) => name.startsWith("worker-1"));
  assert.ok(one.length > 1 && one.every((level) => level.track === 1));
  assert.deepEqual(timeline.marks[1], { track: 1, at: 7e8, text: 4 });
  const [counter] = timeline.counters;
  for (const [time, value] of [[-1, 0], [0, 0], [2e8, 5e8], [4e8, 1e9], [7e8, 2.5e9], [2e9, 4e9]]) {
    near(view.valueAt(counter, time), value, `at ${time}`);
  }
});

test("percentile: of the values above 0", () => {
  assert.equal(view.percentile(new Float64Array(3), 0.99), 0);
  assert.equal(view.percentile(Float64Array.from([0, 7, -1]), 0.99), 7);
  const values = Float64Array.from({ length: 1000 }, (_, i) => 1 + (i * 7) % 1000);
  assert.equal(view.percentile(values, 0.99), 990);
  assert.equal(view.percentile(values, 0.5), 500);
});

test("squarify: parts have their areas, stay inside, and do not overlap", () => {
  const next = random(4);
  for (let round = 0; round < 200; ++round) {
    const count = 1 + Math.floor(12 * next());
    const sizes = Array.from({ length: count }, () => 1 + 1000 * next() ** 5).sort((a, b) => b - a);
    const box = { x: 10 * next(), y: 10 * next(), width: 1 + 99 * next(), height: 1 + 99 * next() };
    const parts = view.squarify(sizes, box);
    const scale = box.width * box.height / sum(sizes);
    parts.forEach((part, i) => {
      near(part.width * part.height, sizes[i] * scale, "area");
      assert.ok(part.x >= box.x - 1e-6 && part.y >= box.y - 1e-6);
      assert.ok(part.x + part.width <= box.x + box.width + 1e-6);
      assert.ok(part.y + part.height <= box.y + box.height + 1e-6);
      for (const other of parts.slice(0, i)) {
        const common = (from, size) => Math.min(part[from] + part[size], other[from] + other[size]) -
          Math.max(part[from], other[from]);
        assert.ok(common("x", "width") < 1e-6 || common("y", "height") < 1e-6, "overlap");
      }
    });
  }
  assert.deepEqual(view.squarify([], { x: 0, y: 0, width: 9, height: 9 }), []);
  const square = view.squarify([1, 1, 1, 1], { x: 0, y: 0, width: 8, height: 8 });
  for (const { width, height } of square) assert.deepEqual([width, height], [4, 4]);
});

test("heap: what tells rows from others of their class", () => {
  const tree = new Tree({
    parent: Uint32Array.of(NO_ROW, 0, 0, 0), method: Uint32Array.of(0, 0, 0, 1), thread: null,
    type: Uint8Array.from("ocgx", (letter) => letter.charCodeAt(0)), errors: [null],
    selfs: [Float64Array.of(1, 2, 3, 4)], labels: ["0x10 \"a\"", "", "", ""],
    joined: Float64Array.of(1, 1, 12345, 2),
  }, [false]);
  const texts = rowsOf(tree).map((row) =>
    view.withLabel(["a.", row === 3 ? "others" : "B", ""], tree, row).join(""));
  assert.deepEqual(texts, ['a.B 0x10 "a"', "class a.B", "a.B (12,345)", "a.others (2)"]);
  assert.deepEqual(view.withLabel(["", "m", "()"], TREES[0], 3), ["", "m", "()"]);
});

test("heap: a group is found in the map by the names of its classes", () => {
  const texts = ["java/util/Map", "java/util/Map$Entry", "[[Ljava/util/Map;", "java/util/zip/ZipFile",
                 "java.util", "java.util.zip", "(default)", "Main", "[LMain;", "[B", "[[I", "others",
                 "others (12)", "(boot loader)"];
  const names = new view.Names(texts.join("\n"));
  names.learnClasses(Uint32Array.from(texts.keys()).filter((id) => /^[^(]*$/.test(texts[id])));
  const found = (by, group) =>
    texts.filter((_, id) => view.search(names, view.searchOf(by, group)).methods[id]);
  assert.deepEqual(found("class", "java/util/Map"), ["java/util/Map"]);
  assert.deepEqual(found("class", "[B"), ["[B"]);
  assert.deepEqual(found("package", "java.util"), texts.slice(0, 3));
  assert.deepEqual(found("package", "java.util.zip"), ["java/util/zip/ZipFile"]);
  assert.deepEqual(found("package", "(default)"), ["Main", "[LMain;"]);
  assert.deepEqual(found("package", "(primitive arrays)"), ["[B", "[[I"]);
  for (const [by, group] of [["loader", "app.Loader 0x10"], ["class", "others (12)"]]) {
    assert.equal(view.searchOf(by, group), "");
  }
});

test("locks: what JLM computes, and who waits for whom", () => {
  const counts = { gets: 30, nonrec: 20, rec: 10, slow: 5, wait_ns: 70, hold_ns: 200 };
  const locks = {
    timed: true, elapsed_ns: 1000, contexts: [], cycles: [], cycles_all: 0,
    locks: [[3, 9], [], [5]].map((times, name) => ({ ...counts, name, type: "monitor", held: true, contexts: [],
      contexts_all: 0,
      waits: times.map((time) => ({ waiter: 0, owner: null, count: 1, time_ns: time })),
      waits_all: times.length })),
  };
  assert.equal(view.missPercent(counts), 25);
  assert.equal(view.utilisation(counts, locks), 20);
  assert.equal(view.meanHold(counts), 10);
  assert.ok(Number.isNaN(view.missPercent({ ...counts, nonrec: 0 })));
  assert.deepEqual(view.pairsOf(locks).map((one) => [one.time_ns, one.lock]), [[9, 0], [5, 2], [3, 0]]);
  assert.deepEqual(view.pairsOf(locks, 2).map((one) => one.time_ns), [5]);
  assert.deepEqual(view.pairsOf(locks, 1), []);
});

test("distributions: by method and by row; calls by powers of two of their time", async () => {
  const { bytes } = makeData({ rows: 2000, distributions: true });
  const file = new view.DataFile(bytes.buffer.slice(bytes.byteOffset,
                                                    bytes.byteOffset + bytes.byteLength));
  const found = view.readDistributions(file);
  const tree = view.readTree(file).tree;
  const row = tree.method.findIndex((method) => method % 3 === 0);
  assert.equal(found.ofMethod(1), undefined);
  assert.equal(found.ofRow(tree.method.findIndex((method) => method % 3 === 1)), undefined);
  for (const one of [found.ofMethod(tree.method[row]), found.ofRow(row)]) {
    for (const times of [one.cpu, one.elapsed]) {
      const octaves = view.octavesOf(times);
      assert.equal(sum(octaves.map(({ calls }) => calls)), one.calls);
      octaves.forEach(({ octave }, i) => assert.equal(octave, octaves[0].octave + i));
      for (const { octave, calls } of octaves) {
        const inside = times.buckets.filter(([mean]) => mean >= 2 ** octave && mean < 2 ** (octave + 1));
        assert.equal(calls, sum(inside.map(([, count]) => count)));
      }
    }
  }
  assert.deepEqual(view.octavesOf({ buckets: [[0, 2], [1, 3]] }), [{ octave: 0, calls: 5 }]);
  assert.deepEqual(view.octavesOf({ buckets: [] }), []);
  assert.equal(view.readDistributions(new view.DataFile(makeData({ rows: 200 }).bytes.buffer)), null);
});

test("lines: those of a method that the data have", async () => {
  const { bytes, names } = makeData({ rows: 2000, lines: true });
  const file = new view.DataFile(bytes.buffer.slice(bytes.byteOffset,
                                                    bytes.byteOffset + bytes.byteLength));
  const lines = view.readLines(file);
  assert.equal(lines.metric.kind, "samples");
  const found = lines.of(1);
  assert.match(found.file, /^[A-Z]\w+\.java$/);
  const numbers = found.lines.map(({ line }) => line);
  assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b));
  for (const { own, all, calls, called } of found.lines) {
    assert.ok(own <= all && all <= lines.whole);
    assert.equal(calls, sum(called.map((call) => call.calls)));
    for (const { method } of called) assert.ok(method < names.length);
  }
  assert.equal(lines.of(names.length), undefined);
  assert.equal(view.readLines(new view.DataFile(makeData({ rows: 200 }).bytes.buffer)), null);
});

test("scales: places, values and ticks", () => {
  const scale = (kind, values, more = {}) =>
    view.Scale.of(values, { kind, whole: false, begin: 80, end: 780, ...more });
  for (const one of [scale("linear", [-3, 8]), scale("logarithmic", [0.5, 3e6, -1, NaN]),
                     scale("symmetric", [-400, 7, 90000], { linear: 1 })]) {
    for (let place = 80; place <= 780; place += 100) near(one.at(one.valueAt(place)), place, "place");
    const ticks = one.ticks();
    assert.ok(ticks.length >= 2 && ticks.length <= 15, String(ticks));
    assert.deepEqual(ticks, ticks.toSorted((a, b) => a - b));
    for (const tick of ticks) assert.ok(one.at(tick) >= 80 && one.at(tick) <= 780);
  }
  assert.deepEqual(scale("symmetric", [-400, 7, 90000], { linear: 1 }).ticks(),
                   [-100, -10, -1, 0, 1, 10, 100, 1000, 10000, 100000]);
  assert.deepEqual(scale("linear", [1, 2], { whole: true }).ticks(), [0, 1, 2]);
  const some = scale("linear", [-1, 1]).ticks();
  assert.ok(some.every((tick) => !Object.is(tick, -0)));
  assert.ok(scale("linear", [5]).at(0) < scale("linear", [5]).at(5), "0 is on the axis");
  // A line through 0 stays straight where both axes are linear up to the same value.
  const axes = [scale("symmetric", [300], { linear: 100 }), scale("symmetric", [9e4], { linear: 100 })];
  for (const x of [20, 100, 250]) {
    const [a, b] = axes.map((one) => one.at(x) - one.at(0));
    near(a / b, (axes[0].at(1) - axes[0].at(0)) / (axes[1].at(1) - axes[1].at(0)), "slope");
  }
});

test("scales: values that span decades", () => {
  assert.equal(view.linearPart([]), 0);
  assert.equal(view.linearPart([0, NaN]), 0);
  assert.equal(view.linearPart([3, 100]), 0);
  assert.equal(view.linearPart([3, -400, 0]), 1);
  assert.equal(view.linearPart([250, 131072, NaN]), 100);
});

test("optimize: benefits, runs, figures, titles", () => {
  const guard = { figure: "CPU time", benefit: 0, low: -0.05, high: 0, unit: "s", guard: true };
  const of = (predictions, observed) => view.benefitOf({ predictions, observed });
  const faults = { figure: "page faults", benefit: 500, low: 500, high: 500, unit: "", guard: false };
  assert.equal(of([guard], []), null);
  assert.deepEqual(of([guard, faults], [{ ...guard, runs: 4 }]),
                   { figure: "page faults", unit: "", runs: 0, observed: null,
                     predicted: { value: 500, low: 500, high: 500 } });
  const pauses = { figure: "pauses", benefit: 0.25, low: null, high: 0.5, unit: "s", guard: false };
  assert.deepEqual(of([pauses], [{ figure: "pauses", benefit: -0.5, low: -1, high: 1, runs: 7 }]),
                   { figure: "pauses", unit: "ns", runs: 7, observed: { value: -5e8, low: -1e9, high: 1e9 },
                     predicted: { value: 2.5e8, low: NaN, high: 5e8 } });
  const run = (kind, applied, left) => view.runKindOf({ kind, applied, left_out: left });
  assert.deepEqual([run("measured", [], []), run("trial", ["a"], []), run("trial", ["a"], ["b"]),
                    run("trial", [], ["b"]), run("plain", [], [])],
                   ["measured", "with", "some", "without", "validated"]);
  const runs = [{ number: 1, figures: [{ name: "pauses", value: 2, unit: "s" }] },
                { number: 2, figures: [] },
                { number: 3, figures: [{ name: "faults", value: 9, unit: "" },
                                       { name: "pauses", value: null, unit: "s" }] }];
  const figures = view.figuresOf({ runs });
  assert.deepEqual(figures.map(({ name, unit }) => [name, unit]), [["pauses", "ns"], ["faults", ""]]);
  assert.deepEqual(figures.map((one) => one.runs.map(({ number }) => number)), [[1, 3], [3]]);
  assert.deepEqual(Array.from(figures[0].values), [2e9, NaN]);
  const program = (name, words) => ({ name, arguments: words });
  assert.deepEqual(view.programTitles([program("a", "1"), program("b", "1"), program("b", "2"),
                                       program("c", ""), program("c", "")]),
                   ["a", "b (1)", "b (2)", "c () 4", "c () 5"]);
});

test("link: a page begins with its first tab", () => {
  const names = namesOf(["A.a()V"]);
  assert.equal(view.toLink(view.INITIAL, names), "");
  assert.equal(view.toLink({ ...view.INITIAL, row: 3 }, names), "#row=3");
  assert.equal(view.toLink({ ...view.INITIAL, view: "tree", row: 3 }, names), "#view=tree&row=3");
  assert.equal(view.fromLink("#row=3", names).view, "");
});

test("ruler: steps of 1, 2 and 5", () => {
  for (const [least, step] of [[1, 1], [1.1, 2], [2, 2], [3, 5], [7, 10], [120, 200], [0.03, 0.05]]) {
    near(view.rulerStep(least), step, `at least ${least}`);
  }
});

/** Stretches, and for each row an object with its values and names, for slow and obvious tests. */
async function someStretches(rows = 3000) {
  const data = makeStretchData({ rows, threads: 12, seed: 4 });
  const file = new view.DataFile(await view.inflate(new Uint8Array(deflateSync(data.bytes))));
  const { info, columns } = { info: file.header.stretches, columns: data.made.columns };
  const names = new view.Names(file.text(file.header.methods));
  const stretches = new view.Stretches(file, info);
  const objects = columns.begin.map((_, i) => {
    const one = Object.fromEntries(Object.entries(columns).map(([key, values]) => [key, values[i]]));
    return { ...one, info: info.threads[one.thread], wait: info.reasons[one.reason][0] };
  });
  return { stretches, names, objects, info, parent: data.made.parent };
}

test("stretches: the columns that were written, with begins from the sums of times", async () => {
  const { stretches, objects } = await someStretches();
  objects.forEach((one, row) => {
    for (const key of ["begin", "duration", "waited", "ready", "thread", "processor", "reason",
                       "context", "waker", "call"]) {
      assert.equal(stretches[key][row], one[key], `${key} ${row}`);
    }
  });
  assert.deepEqual(stretches.metrics.map(({ name }) => name),
                   ["duration", "waited", "ready", "interrupts", "kernel", "instructions"]);
  assert.deepEqual([...stretches.metrics[5].values], objects.map((one) => one.instructions));
});

test("stretches: rows at a time, and those of processors in order", async () => {
  const { stretches, objects } = await someStretches();
  const next = random(3);
  const end = (one) => one.begin + one.duration;
  for (let i = 0; i < 300; ++i) {
    const [thread, time] = [Math.floor(12 * next()), stretches.info.end * (1.1 * next() - 0.05)];
    const expected = objects.findIndex((one) => one.thread === thread && one.begin <= time
      && time < end(one) + one.waited + one.ready);
    assert.equal(stretches.rowAt(thread, time), expected);
  }
  const { byProcessor: order } = stretches;
  for (let cpu = 0; cpu < order.processors; ++cpu) {
    const expected = Array.from(objects.keys()).filter((i) => objects[i].processor === cpu)
      .sort((a, b) => objects[a].begin - objects[b].begin);
    assert.deepEqual([...order.row.subarray(order.first[cpu], order.first[cpu + 1])], expected);
    const time = stretches.info.end * next();
    const first = expected.findIndex((i) => end(objects[i]) > time);
    assert.equal(order.row[order.firstAt(cpu, time)], expected[first]);
  }
});

test("selections: terms and combinations against tests by row", async () => {
  const { stretches, names, objects, parent } = await someStretches();
  const method = (context) => names.of(stretches.contextMethod[context]);
  const path = (context) => (context === 0 ? [] : [context, ...path(parent[context])]);
  const callName = ["", "futex", "epoll_wait", "read"];
  const cases = {
    "thread=main": (one) => one.info.name === "main",
    "thread~WORKER": () => false,
    "thread~worker": (one) => one.info.name.startsWith("worker"),
    "thread!~\"^w|m\"": (one) => !/^w|m/.test(one.info.name),
    "process!=java": (one) => one.info.process !== "java",
    "tid=100|103": (one) => [100, 103].includes(one.info.tid),
    "cpu=0 && wait=park": (one) => one.processor === 0 && one.wait === "park",
    "thread~main && wait=park && duration>1us": (one) => one.info.name === "main"
      && one.wait === "park" && one.duration > 1000,
    "waited >= 1ms || ready > 0.001s and cpu=1": (one) => one.waited >= 1e6
      || (one.ready > 1e6 && one.processor === 1),
    "!(wait=lock or wait=poll)": (one) => one.wait !== "lock" && one.wait !== "poll",
    "(duration + ready) / 2 > waited": (one) => (one.duration + one.ready) / 2 > one.waited,
    "((duration > 1us))": (one) => one.duration > 1000,
    "1us < duration": (one) => one.duration > 1000,
    "instructions / duration >= 2": (one) => one.instructions / one.duration >= 2,
    "interrupts != 0": (one) => one.interrupts !== 0,
    "begin < 2ms && next > 1ms": (one) => one.begin < 2e6
      && one.begin + one.duration + one.waited + one.ready > 1e6,
    "all minus slow": (one) => !(one.duration > 5000),
    "not slow and waker=interrupt": (one) => one.duration <= 5000 && one.waker === 1,
    "call=futex|read": (one) => ["futex", "read"].includes(callName[one.call]),
    "method~Parser": (one) => one.context > 0 && method(one.context).includes("Parser"),
    "context~Parser": (one) => path(one.context).some((at) => method(at).includes("Parser")),
    "context=#7": (one) => path(one.context).includes(7),
    "method=#7": (one) => one.context === 7,
    "method=\"\"": (one) => one.context === 0,
  };
  const saved = new Map([["slow", "duration > 5us"], ["loop", "loop && cpu=0"]]);
  const metrics = [...stretches.metrics, ...stretches.places];
  const context = { stretches, names, metrics, saved };
  for (const [text, expected] of Object.entries(cases)) {
    const found = view.select(text, context);
    objects.forEach((one, row) => assert.equal(found[row] === 1, expected(one), `${text}: ${row}`));
  }
  for (const [text, message] of Object.entries({
    "": /term is missing at position 1/, "thread=": /text is missing at position 8/,
    "duration": /comparison is missing at position 9/, "cpu=0 &&": /term is missing/,
    "cpu=0 && gone > 1": /'gone' is not a metric.*at position 10/, "(cpu=0": /'\)' is missing/,
    "cpu=0)": /'\)' is unexpected at position 6/, "thread~[": /at position/, loop: /contains itself/,
  })) assert.throws(() => view.select(text, context), message, text);
});

test("sets: union, intersection and difference by a click", async () => {
  const { stretches, names } = await someStretches(400);
  const context = { stretches, names, metrics: stretches.metrics, saved: new Map() };
  const of = (text) => view.select(text, context);
  const [a, b] = ["cpu=0 or cpu=1", "wait=park or duration > 1us"];
  const [left, right] = [of(a), of(b)];
  for (const [how, both] of Object.entries({ and: (x, y) => x & y, or: (x, y) => x | y,
                                             minus: (x, y) => x & ~y, only: (_, y) => y })) {
    assert.deepEqual(of(view.combined(a, how, b)), left.map((x, i) => both(x, right[i])), how);
  }
  assert.equal(view.combined("", "and", "cpu=0"), "cpu=0");
  assert.deepEqual(of(view.combined("", "minus", a)), left.map((x) => 1 - x));
});

test("statistics: moments, the rest, groups", async () => {
  const { stretches, names, objects } = await someStretches();
  const selection = new view.StretchSelection(stretches, names);
  selection.set({ only: "wait=park", sets: [], everything: false,
                  ratios: [["ipc", "instructions / duration"], ["part", "1 / interrupts"]] });
  assert.equal(selection.problem, "");
  const scope = objects.filter((one) => one.info.program);
  const [chosen, rest] = [true, false].map((is) => scope.filter((one) => (one.wait === "park") === is));
  assert.equal(selection.count, chosen.length);
  const simple = (values) => {
    const mean = sum(values) / values.length;
    return { sum: sum(values), min: Math.min(...values), max: Math.max(...values), mean,
             deviation: Math.sqrt(sum(values.map((x) => (x - mean) ** 2)) / (values.length - 1)) };
  };
  const getters = { duration: (one) => one.duration, waited: (one) => one.waited,
                    ipc: (one) => one.instructions / one.duration,
                    part: (one) => (one.interrupts === 0 ? NaN : 1 / one.interrupts) };
  for (const [name, get] of Object.entries(getters)) {
    const values = (list) => list.map(get).filter(Number.isFinite);
    const metric = selection.metrics.find((one) => one.name === name);
    const { part, rest: others, difference } = selection.statisticsOf(metric);
    const [x, y] = [simple(values(chosen)), simple(values(rest))];
    for (const key of ["sum", "min", "max"]) near(part[key], x[key], `${name} ${key}`);
    near(view.meanOf(part), x.mean, `${name} mean`);
    near(view.deviationOf(part), x.deviation, `${name} deviation`);
    near(view.deviationOf(others), y.deviation, `${name} deviation of the rest`);
    near(difference.value, x.mean - y.mean, `${name} difference`);
    near(difference.arm, 1.959964 * Math.sqrt(x.deviation ** 2 / values(chosen).length +
                                              y.deviation ** 2 / values(rest).length), "interval");
  }
  const groups = view.groupBy(stretches, stretches.processor, 8, selection.rows);
  for (let cpu = 0; cpu < 8; ++cpu) {
    const own = chosen.filter((one) => one.processor === cpu);
    assert.equal(groups.count[cpu], own.length);
    near(groups.waited[cpu], sum(own.map((one) => one.waited)), "waited");
    assert.equal(groups.longest[cpu], Math.max(0, ...own.map((one) => one.waited)));
  }
  selection.set({ only: "cpu=", sets: [], ratios: [], everything: false });
  assert.match(selection.problem, /text is missing/);
  assert.equal(selection.count, chosen.length, "what was selected stays");
});

/** The parts of each pixel by slot, from what a lane shows. */
function pixelsOf(pixels, range, slots) {
  const found = Array.from({ length: range.width }, () => new Float64Array(slots));
  const seen = new Set();
  pixels.visit(pixels.lane, range, {
    solid: (left, right, slot) => {
      assert.ok(left < right);
      for (let x = left; x < right; ++x) found[x][slot] += 1;
    },
    mixed: (x, parts) => {
      assert.ok(!seen.has(x), `pixel ${x} is drawn twice`);
      seen.add(x);
      parts.forEach((part, slot) => { found[x][slot] += part; });
    },
  });
  return found;
}

test("pixels: the time of each state in each pixel, at every zoom", async () => {
  const { stretches, names, objects, info } = await someStretches(20000);
  const reasons = info.reasons.map(([name]) => name);
  const slotOf = view.waitSlots(reasons, [["park", "wait"], ["lock"]]);
  assert.deepEqual([...slotOf.subarray(0, 5)], [1, 3, 2, 2, 4]);
  const context = { stretches, names, metrics: stretches.metrics, saved: new Map() };
  for (const mask of [null, view.select("duration > 1us", context)]) {
    const states = new view.StatePixels(stretches, slotOf, 5, mask);
    const cpus = new view.ProcessorPixels(stretches.byProcessor,
                                          Uint8Array.from({ length: 12 }, (_, i) => i), 12, mask);
    for (const [part, width] of [[1, 5], [1, 90], [0.3, 90], [0.02, 90], [0.0005, 90]]) {
      const range = { from: 0.4 * (1 - part) * info.end, to: (0.4 + 0.6 * part) * info.end, width };
      const scale = range.width / (range.to - range.from);
      const expected = (slots, intervals) => {
        const sums = Array.from({ length: range.width }, () => new Float64Array(slots));
        for (const [begin, end, slot] of intervals) {
          const [a, b] = [begin, end].map((time) => (time - range.from) * scale);
          for (let x = Math.max(0, Math.floor(a)); x < Math.min(range.width, b); ++x) {
            sums[x][slot] += Math.max(0, Math.min(b, x + 1) - Math.max(a, x));
          }
        }
        return sums;
      };
      const compare = (found, wanted) => found.forEach((parts, x) => parts.forEach((value, slot) =>
        assert.ok(Math.abs(value - wanted[x][slot]) < 1e-4, `${x} ${slot}: ${value}, ${wanted[x][slot]}`)));
      states.lane = 1;
      compare(pixelsOf(states, range, 10), expected(10, objects.flatMap((one, row) => {
        if (one.thread !== 1) return [];
        const shift = mask && mask[row] === 0 ? 5 : 0;
        const [end, woken] = [one.begin + one.duration, one.begin + one.duration + one.waited];
        return [[one.begin, end, shift], [end, woken, slotOf[one.reason] + shift],
                [woken, woken + one.ready, 1 + shift]];
      })));
      cpus.lane = 2;
      compare(pixelsOf(cpus, range, 24), expected(24, objects.flatMap((one, row) =>
        (one.processor !== 2 ? [] : [[one.begin, one.begin + one.duration,
                                      one.thread + (mask && mask[row] === 0 ? 12 : 0)]]))));
    }
  }
});

test("strips: amounts of each interval, of the whole and of a part of the recording", async () => {
  const { stretches, names, objects, info } = await someStretches();
  const selection = new view.StretchSelection(stretches, names);
  selection.set({ only: "wait!=poll", sets: [], ratios: [], everything: true });
  const strips = view.stripsOf(selection);
  const values = new view.StripValues(selection);
  const bounds = {
    utilisation: (one) => [one.begin, one.begin + one.duration, one.duration],
    waited: (one) => [one.begin + one.duration, one.begin + one.duration + one.waited, one.waited],
    instructions: (one) => [one.begin, one.begin + one.duration, one.instructions],
    dispatches: (one) => [one.begin, one.begin + 1e-6, 1],
  };
  for (const [name, of] of Object.entries(bounds)) {
    for (const [from, to] of [[0, info.end], [0.31 * info.end, 0.33 * info.end]]) {
      const range = { from, to, width: 40 };
      const sums = new Float64Array(40);
      objects.forEach((one) => {
        if (one.wait === "poll") return;
        const [begin, end, value] = of(one);
        for (let x = 0; x < 40; ++x) {
          const [a, b] = [x, x + 1].map((i) => from + i / 40 * (to - from));
          const inside = Math.min(end, b) - Math.max(begin, a);
          if (inside > 0) sums[x] += value * inside / (end - begin);
        }
      });
      const found = values.of(strips.find((one) => one.name === name), selection.mask, range);
      // The whole recording is kept in 65,536 intervals, whose edges are not those of pixels.
      const least = from === 0 ? 0.002 * sum([...sums]) : 1e-6;
      found.forEach((value, x) => assert.ok(Math.abs(value - sums[x]) <= least + 1e-6 * sums[x],
                                            `${name} ${x}: ${value}, ${sums[x]}`));
    }
  }
});

test("scale: rows, names, what is plotted", () => {
  const row = (name, level, callers) => ({
    level, contexts: level === 0 && callers === null ? 2 : 1, calls_grow: "n^2.00", exponent: 2,
    time_exponent: level === 0 ? 1.9 : null, time_exponent_low: 1.8, time_exponent_high: 2,
    share: 0.5, share_at_10n: 0.9, calls: [10, 40], time_ns: [1, 4], time_ns_low: [0, 3],
    time_ns_high: [2, 5], name, callers,
  });
  const texts = [];
  const names = { addMethod: (text) => texts.push(text) - 1 };
  const scaled = view.scaledOf({ sizes: [1, 2], has_times: true, rows: [
    row("a/T.find(I)V", 0, null), row("a/T.find(I)V", 1, "a/M.run()V < a/M.main()V"),
    row("a/T.find(I)V", 1, "a/M.main()V"), row("a/M.run()V", 0, "a/M.main()V")] }, names);
  assert.deepEqual(texts, ["a/T.find(I)V", "a/M.run()V", "a/M.main()V"]);
  assert.deepEqual(scaled.rows.map(({ name }) => name), [0, 0, 0, 1]);
  assert.deepEqual(scaled.rows.map(({ callers }) => callers), [[], [1, 2], [2], [2]]);
  assert.deepEqual(view.plottedRows(scaled.rows, 1, -1), [0]);
  assert.deepEqual(view.plottedRows(scaled.rows, 2, 1), [0, 3, 1]);
  assert.deepEqual(view.plottedRows(scaled.rows, 2, 3), [0, 3]);
  assert.deepEqual(view.timeSeries(scaled.rows[0]), { values: [1, 4], low: [0, 3], high: [2, 5] });
  assert.deepEqual(view.callsSeries(scaled.rows[0]).values, [10, 40]);
  assert.equal(view.timeText(scaled.rows[0]), "n^1.90 ± 0.10");
  assert.equal(view.timeText(scaled.rows[1]), "");
});

test("samples: at equal distances, at most as many as wanted", () => {
  const rows = view.rowsIn(Uint8Array.from({ length: 100 }, (_, i) => i % 3 === 0));
  assert.deepEqual([...rows.subarray(0, 4)], [0, 3, 6, 9]);
  assert.equal(rows.length, 34);
  assert.deepEqual([...view.sampleOf(rows, 100, 10)], [0, 12, 24, 36, 48, 60, 72, 84, 96]);
  assert.deepEqual([...view.sampleOf(null, 5, 10)], [0, 1, 2, 3, 4]);
});

test("processors: rows that are nearer to each other than the unit by which they are sorted", () => {
  const next = random(9);
  const length = 500;
  const columns = (make) => Float64Array.from({ length }, make);
  const begin = columns(() => 1e15 + Math.floor(1000 * next()) * 16);   // of 12 days
  const order = new view.ProcessorOrder({
    length, begin, duration: columns(() => 1), thread: new Uint32Array(length),
    processor: Uint32Array.from(begin, (_, row) => row % 3), info: { end: 2e15, processors: 2 } });
  assert.equal(order.processors, 3);
  for (let cpu = 0; cpu < 3; ++cpu) {
    const rows = [...order.row.subarray(order.first[cpu], order.first[cpu + 1])];
    assert.deepEqual(rows.toSorted((a, b) => a - b),
                     Array.from({ length }, (_, row) => row).filter((row) => row % 3 === cpu));
    rows.forEach((row, i) => {
      assert.ok(i === 0 || begin[rows[i - 1]] <= begin[row]);
      assert.equal(order.begin[order.first[cpu] + i], begin[row]);
    });
  }
});

test("spans of columns, their times and their sums", () => {
  const intervals = {
    begin: 1, ends: Float64Array.of(2, 4, 5), metric: "time", unit: "ns", methods: Uint32Array.of(7, 9),
    own: Float64Array.of(10, 20, 30, 1, 0, 2), calls: Float64Array.of(1, 2, 3, 4, 5, 6),
  };
  assert.deepEqual(view.parseSpan("1-2", 3), { first: 1, last: 2 });
  for (const text of ["", "2-1", "0-3", "a-b", "1", "-1-2"]) {
    assert.deepEqual(view.parseSpan(text, 3), { first: 0, last: 2 }, text);
  }
  assert.equal(view.spanText({ first: 1, last: 2 }), "1-2");
  assert.deepEqual(view.timesOf(intervals, { first: 0, last: 0 }), [1, 2]);
  assert.deepEqual(view.timesOf(intervals, { first: 1, last: 2 }), [2, 5]);
  for (const [time, column] of [[0, 0], [1.9, 0], [2, 1], [3.9, 1], [4.5, 2], [99, 2]]) {
    assert.equal(view.columnAt(intervals, time), column, String(time));
  }
  assert.deepEqual(view.sumsOf(intervals, { first: 1, last: 2 }), [
    { method: 7, own: 50, calls: 5, all: 60 }, { method: 9, own: 2, calls: 11, all: 3 }]);
  assert.deepEqual(view.sumsOf({ ...intervals, own: null }, { first: 0, last: 0 })[1],
                   { method: 9, own: 0, calls: 4, all: 15 });
  assert.deepEqual(Array.from(view.ratesOf(intervals, intervals.own, 0)), [10, 10, 30]);
});
