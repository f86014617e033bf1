// Writes an HTML file with programs that `jprof optimize` could know, with directives of each state.
//
//   node test/generate_directives.mjs OUT.html [--view FILE]
//
// --view: the built template (default: build/view.html of this folder).
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Encoder, makePage, random } from "./generate.mjs";

const FAULTS = "page faults";
const next = random(7);

function estimate(figure, benefit, arm) {
  return { figure, benefit, low: benefit - arm, high: benefit + arm };
}

function directive(key, text, state, predicted, observed, arm, reason = "") {
  const guard = { ...estimate("CPU time", 0, 0.05), unit: "s", guard: true };
  return {
    agent: "pages", kind: "site", key, text, state, reason, cost: "1.2 MiB more memory",
    claims: "huge pages", amount: 3,
    predictions: [{ ...estimate(FAULTS, predicted, 0), unit: "", guard: false }, guard],
    observed: observed === null ? [] : [{ ...estimate(FAULTS, observed, arm), runs: 12 }],
  };
}

const directives = [
  directive("app+0x11f0<app+0x1200", "128 huge pages (Table::Grow, table.cc:120, called by Index::Add)",
            "validated", 131072, 130100, 600, "page faults fell by 130,100, 131,072 predicted"),
  directive("app+0x22f0", "64 huge pages (ReadAll, io.c:40)", "withdrawn", 65536, 12000, 9000,
            "page faults fell by 12,000, 65,536 predicted: less than half"),
  directive("app+0x33f0", "4 huge pages (Node::New, node.cc:7)", "applied", 2048, 1500, 1400),
  directive("app+0x44f0", "2 huge pages (<b>Small</b>, x.c:1)", "withdrawn", 700, -900, 300,
            "page faults fell by -900, 700 predicted: less than half"),
  directive("app+0x55f0", "1 huge page (Later, x.c:3)", "proposed", 290, null, 0),
  { ...directive("options", "-Xmn160m -Xms251m", "withdrawn", 0, null, 0, "it may do harm"),
    agent: "jvm-heap", kind: "java-heap",
    predictions: [{ ...estimate("collection pauses", 0.036, 0.012), unit: "s", guard: false }],
    observed: [{ ...estimate("collection pauses", -0.049, 0.327), runs: 12 }] },
];

function run(number) {
  const keys = directives.slice(0, 4).map(({ key }) => key);
  const kind = number === 1 ? "measured" : number > 24 ? "plain" : "trial";
  const applied = kind !== "trial" || number % 6 === 3 ? [] : number % 6 === 2 ? keys
    : keys.filter((_, i) => (number >> i) % 2 === 1);
  const had = kind === "plain" || applied.includes(keys[0]);
  return {
    number, kind, state: "ended", agent: "pages", compared: number !== 9, exit_code: 0, applied,
    left_out: kind === "trial" ? keys.filter((key) => !applied.includes(key)) : [],
    figures: [{ name: FAULTS, value: (had ? 70000 : 200000) + Math.floor(3000 * next()), unit: "" },
              { name: "CPU time", value: 1.2 + 0.1 * next(), unit: "s" }],
  };
}

function main() {
  const [out, ...rest] = process.argv.slice(2);
  if (!out || out.startsWith("-")) {
    console.error("usage: generate_directives.mjs OUT.html [--view FILE]");
    process.exit(2);
  }
  const here = dirname(fileURLToPath(import.meta.url));
  const template = rest[0] === "--view" ? rest[1] : join(here, "..", "build", "view.html");
  const runs = Array.from({ length: 30 }, (_, i) => run(i + 1));
  const programs = [{ name: "app", identity: "build-id:1", arguments: "1", directives, runs },
                    { name: "quiet", identity: "build-id:2", arguments: "1", directives: [],
                      runs: runs.slice(0, 1) }];
  const encoder = new Encoder();
  // Columns of rows are left out where there are no rows, as jprof does.
  const columns = { self: [encoder.add(new Float64Array(0))], error: [null] };
  const header = {
    kind: "optimize", title: "jprof optimize", facts: [], losses: [], notes: [], threads: [],
    frames: {}, metrics: [{ name: "benefit", unit: "", kind: "count", exact: true }],
    trees: [{ name: "", rows: 0, has_calls: false, metrics: [0], columns }],
    methods: encoder.add(""), optimized: encoder.add(JSON.stringify({ programs, agents: [] })),
  };
  writeFileSync(out, makePage(readFileSync(template, "utf8"), encoder.finish(header)));
}
main();
