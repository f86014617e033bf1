// Writes an HTML file with a made-up result of `jprof scale`.
//
//   node test/generate_growth.mjs OUT.html [--view FILE]
//
// --view: the built template (default: build/view.html of this folder).
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Encoder, makePage } from "./generate.mjs";

const SIZES = [1000, 2000, 4000, 8000];
const MAIN = "app/Main.main([Ljava/lang/String;)V";

function row(name, calls, grow, exponent, share, later, { level = 0, contexts = 1, callers = MAIN } = {}) {
  const time = SIZES.map((n) => calls(n) * 5);
  return {
    level, contexts, law: "power", calls_grow: grow, exponent, misfit: 0, name, callers, share,
    share_at_10n: later, calls: SIZES.map(calls), time_exponent: exponent + 0.02,
    time_exponent_low: exponent - 0.1, time_exponent_high: exponent + 0.14, time_ns: time,
    time_ns_low: time.map((one) => 0.8 * one), time_ns_high: time.map((one) => 1.2 * one),
  };
}

const rows = [
  row("app/Table.find(I)I", (n) => n * n, "n^2.00", 2, 0.6, 0.92, { contexts: 2, callers: null }),
  row("app/Table.find(I)I", (n) => n * (n - 1), "n^2.00", 2, 0.6, 0.919, { level: 1 }),
  row("app/Table.find(I)I", (n) => n, "n^1.00", 1, 0, 0.001,
      { level: 1, callers: `app/Table.add(I)V < ${MAIN}` }),
  row("app/Sort.less(II)Z", (n) => Math.round(n * Math.log2(n)), "n log n", 1.11, 0.3, 0.06),
  row("app/<b>Evil<b>.run()V", () => 7, "n^0", 0, 0.1, 0.02),
  { ...row("app/Once.here()V", (n) => (n === 1000 ? 3 : 0), null, null, 0, 0), time_exponent: null,
    time_exponent_low: null, time_exponent_high: null },
];

function main() {
  const [out, ...rest] = process.argv.slice(2);
  if (!out || out.startsWith("-")) {
    console.error("usage: generate_growth.mjs OUT.html [--view FILE]");
    process.exit(2);
  }
  const here = dirname(fileURLToPath(import.meta.url));
  const template = rest[0] === "--view" ? rest[1] : join(here, "..", "build", "view.html");
  const encoder = new Encoder();
  // Columns of rows are left out where there are no rows, as jprof does.
  const columns = { self: [encoder.add(new Float64Array(0))], error: [null] };
  const header = {
    kind: "scale", title: "app.jprof", facts: [["command", "java app.Main {n}"]], losses: [],
    notes: [], threads: [], frames: {},
    metrics: [{ name: "calls", unit: "", kind: "count", exact: true }],
    trees: [{ name: "", rows: 0, has_calls: false, metrics: [0], columns }],
    methods: encoder.add(""),
    scale: encoder.add(JSON.stringify({ sizes: SIZES, has_times: true, rows })),
  };
  writeFileSync(out, makePage(readFileSync(template, "utf8"), encoder.finish(header)));
}
main();
