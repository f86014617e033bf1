// Writes an HTML file with synthetic stretches of threads in the format of docs/VIEW.md. The data
// depend on the arguments only.
//
//   node test/generate_stretches.mjs OUT.html [--rows N] [--threads N] [--view FILE] [--seed N]
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Encoder, makeMethods, makePage, random } from "./generate.mjs";

const REASONS = ["preempted", "lock", "park", "wait", "sleep", "input", "poll", "collection", "futex",
                 "fault", "child", "stopped", "other", "exit", "runs"];
const PROCESSORS = 8;

/** Returns stretches as arrays of numbers by column, thread by thread, with each row's begin. Those
 * of a processor do not overlap: it gives its time to threads in turn. */
export function makeStretches({ rows, threads = 64, contexts = 400, seed = 1 }) {
  const next = random(seed);
  const columns = Object.fromEntries(["thread", "begin", "duration", "waited", "ready", "processor",
    "reason", "context", "waker", "call", "interrupts", "kernel", "instructions"]
    .map((name) => [name, []]));
  const list = Array.from({ length: threads }, () => []);
  const free = new Float64Array(PROCESSORS);          // when each processor is
  const able = Float64Array.from({ length: threads }, () => Math.floor(1e6 * next()));
  for (let i = 0; i < rows; ++i) {
    const thread = Math.floor(next() * next() * threads);
    const processor = Math.floor(next() * PROCESSORS);
    const begin = Math.max(free[processor], able[thread]);
    const duration = 300 + Math.floor(4e5 * next() ** 8);
    const waits = next() < 0.8;
    const waited = waits ? 1000 + Math.floor(5e6 * next() ** 10) : 0;
    list[thread].push({ begin, duration, waited, processor,
                        reason: waits ? 1 + Math.floor(12 * next() ** 2) : 0 });
    free[processor] = begin + duration + Math.floor(2000 * next() ** 4);
    able[thread] = begin + duration + waited;
  }
  const first = [];
  list.forEach((own, thread) => {
    first.push(own[0]?.begin ?? 0);
    own.forEach((one, i) => {
      const woken = one.begin + one.duration + one.waited;
      const ready = i + 1 < own.length ? own[i + 1].begin - woken : 0;
      const isWait = one.reason !== 0;
      const add = (name, value) => columns[name].push(value);
      add("thread", thread);
      for (const name of ["begin", "duration", "waited", "processor", "reason"]) add(name, one[name]);
      add("ready", ready);
      add("context", next() < 0.7 ? 1 + Math.floor(next() * next() * (contexts - 1)) : 0);
      add("waker", !isWait ? 0 : next() < 0.3 ? 1 : 2 + Math.floor(next() * threads));
      add("call", isWait ? 1 + Math.floor(next() * 3) : 0);
      add("interrupts", next() < 0.05 ? Math.min(one.duration, Math.floor(3000 * next())) : 0);
      add("kernel", Math.floor(one.duration * next() ** 3));
      add("instructions", Math.floor(one.duration * (1 + 2 * next())));
    });
  });
  const parent = Array.from({ length: contexts }, (_, i) => (i < 2 ? 0 : Math.floor(next() * i)));
  return { columns, first, parent, counts: list.map((own) => own.length), contexts,
           ran: list.map((own) => own.reduce((all, one) => all + one.duration, 0)) };
}

export function encodePlanes(encoder, values) {
  const largest = values.reduce((most, one) => Math.max(most, one), 0);
  let bytes = 0;
  while (256 ** bytes <= largest) ++bytes;
  const planes = new Uint8Array(bytes * values.length);
  for (let plane = 0; plane < bytes; ++plane) {
    for (let i = 0; i < values.length; ++i) {
      planes[plane * values.length + i] = Math.floor(values[i] / 256 ** plane) % 256;
    }
  }
  return { bytes, data: encoder.add(planes) };
}

/** Returns the header's member `stretches`. */
export function encodeStretches(encoder, made, methods, next = random(7)) {
  const { columns, first, parent, counts, contexts } = made;
  const end = columns.begin.reduce((last, begin, i) =>
    Math.max(last, begin + columns.duration[i]), 0);
  const planes = (name) => encodePlanes(encoder, columns[name]);
  return {
    rows: columns.begin.length, end, processors: PROCESSORS, start_unix_ns: 1.7e18, has_calls: true,
    threads: counts.map((rows, i) => ({
      name: i === 0 ? "main" : i < counts.length / 2 ? `worker-${i}` : `other-${i}`,
      process: i < counts.length * 0.8 ? "java" : "postgres",
      pid: i < counts.length * 0.8 ? 77 : 99, tid: 100 + i, program: i < counts.length * 0.8,
      begin: first[i], rows })),
    reasons: REASONS.map((name) => [name, `because of ${name}`]),
    calls: ["futex", "epoll_wait", "read"],
    contexts: { rows: contexts, parent: encodePlanes(encoder, parent),
                method: encodePlanes(encoder, parent.map(() => Math.floor(next() * methods))) },
    counters: [{ name: "instructions", values: planes("instructions") }],
    marks: [{ time: 0, text: "the begin", thread: 0 }, { time: 5e8, text: "half a second", thread: -1 }],
    columns: Object.fromEntries(["duration", "waited", "ready", "processor", "reason", "context",
      "waker", "call", "interrupts", "kernel"].map((name) => [name, planes(name)])),
  };
}

export function makeStretchData({ rows = 20000, threads = 64, seed = 1 } = {}) {
  const encoder = new Encoder();
  const methods = makeMethods(200, random(seed));
  const made = makeStretches({ rows, threads, seed });
  const header = {
    title: "synthetic.jprof", kind: "timeline", facts: [["command", "java -jar app.jar"]], losses: [],
    notes: [], threads: [], frames: { P: "process", T: "thread" },
    metrics: [{ name: "time", unit: "ns", kind: "time" }],
    stretches: encodeStretches(encoder, made, methods.names.length),
  };
  const tree = made.counts.map((_, i) => i + 1);
  header.trees = [{ name: "", rows: tree.length + 1, has_calls: false, metrics: [0], columns: {
    parent: encoder.add(Uint32Array.of(0xffffffff, ...tree.map(() => 0))),
    method: encoder.add(Uint32Array.of(0, ...tree).map((i) => methods.names.length + i)),
    type: encoder.add(Uint8Array.of(80, ...tree.map(() => 84))),
    self: [encoder.add(Float64Array.of(0, ...made.ran))], error: [null] } }];
  const names = [...header.stretches.threads.map(({ name, tid }) => `${name} (tid ${tid})`)];
  header.methods = encoder.add([...methods.names, "java (pid 77)", ...names].join("\n"));
  return { header, made, names: methods.names, bytes: encoder.finish(header) };
}

function main() {
  const [out, ...rest] = process.argv.slice(2);
  const option = (name, otherwise) =>
    (rest.includes(name) ? rest[rest.indexOf(name) + 1] : otherwise);
  if (!out || out.startsWith("-")) {
    console.error("usage: generate_stretches.mjs OUT.html [--rows N] [--threads N] [--view FILE] " +
                  "[--seed N]");
    process.exit(2);
  }
  const here = dirname(fileURLToPath(import.meta.url));
  const view = option("--view", join(here, "..", "build", "view.html"));
  const number = (name, otherwise) => Number(option(name, otherwise));
  const { bytes } = makeStretchData({ rows: number("--rows", 20000), threads: number("--threads", 64),
                                      seed: number("--seed", 1) });
  writeFileSync(out, makePage(readFileSync(view, "utf8"), bytes));
}
if (process.argv[1] === fileURLToPath(import.meta.url)) main();
