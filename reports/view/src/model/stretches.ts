// Provides the stretches in which threads ran, and the times between them, as columns. A row is a
// stretch with the time after it: the thread ran, then it waited until it was ready to run, then it
// was ready until it ran again. Rows are sorted by thread and begin, so the rows of a thread are a
// range, and the times of a thread have no holes.

import type { DataFile, Section } from "./data.js";
import type { Quantity } from "./expression.js";

/** Whole numbers as planes: the lowest byte of all rows first. */
export interface Planes {
  bytes: number;
  data: Section;
}

export interface ThreadInfo {
  name: string;
  process: string;
  pid: number;
  tid: number;
  program: boolean;   // it is one of the program that was recorded
  begin: number;      // of its first stretch
  rows: number;
}

/** What a program has marked, or another event that it has written. */
export interface Mark {
  time: number;       // ns
  text: string;
  thread: number;     // that wrote it, or -1
}

export interface StretchesInfo {
  rows: number;
  end: number;        // ns
  processors: number;
  start_unix_ns: number;
  has_calls: boolean;
  threads: ThreadInfo[];
  reasons: [name: string, meaning: string][];
  calls: string[];
  contexts: { rows: number; parent: Planes; method: Planes };
  counters: { name: string; values: Planes }[];
  marks: Mark[];      // in the order of time
  columns: Record<"duration" | "waited" | "ready" | "processor" | "reason" | "context" | "waker"
    | "call" | "interrupts" | "kernel", Planes>;
}

export const NOBODY = 0;             // in the column of wakers
export const INTERRUPT = 1;
export const FIRST_THREAD = 2;
export const PREEMPTED = 0;          // in the column of reasons

/** Reads numbers of any size. */
function readNumbers(file: DataFile, { bytes, data }: Planes, rows: number): Float64Array {
  const planes = file.u8(data);
  const values = new Float64Array(rows);
  for (let plane = 0; plane < bytes; ++plane) {
    const weight = 256 ** plane;
    const first = plane * rows;
    for (let row = 0; row < rows; ++row) values[row]! += planes[first + row]! * weight;
  }
  return values;
}
/** Reads numbers below 2^32. */
function readIndices(file: DataFile, { bytes, data }: Planes, rows: number): Uint32Array {
  const planes = file.u8(data);
  const values = new Uint32Array(rows);
  for (let plane = 0; plane < bytes; ++plane) {
    const first = plane * rows;
    for (let row = 0; row < rows; ++row) values[row]! |= planes[first + row]! << (8 * plane);
  }
  return values;
}

/** A column of numbers that expressions can use. */
export interface StretchMetric extends Quantity {
  help: string;
  values: Float64Array;
}

export class Stretches {
  readonly length: number;
  readonly thread: Uint32Array;
  readonly processor: Uint32Array;
  readonly reason: Uint8Array;
  readonly context: Uint32Array;     // 0: none
  readonly waker: Uint32Array;
  readonly call: Uint32Array;        // 0: none, else its number plus 1
  readonly begin: Float64Array;
  readonly duration: Float64Array;
  readonly waited: Float64Array;
  readonly ready: Float64Array;
  readonly contextParent: Uint32Array;
  readonly contextMethod: Uint32Array;
  readonly first: Uint32Array;       // by thread, and the number of all rows behind the last
  readonly metrics: StretchMetric[];

  constructor(file: DataFile, readonly info: StretchesInfo) {
    const { rows, columns, contexts } = info;
    this.length = rows;
    const times = (planes: Planes) => readNumbers(file, planes, rows);
    const numbers = (planes: Planes, length = rows) => readIndices(file, planes, length);
    this.duration = times(columns.duration);
    this.waited = times(columns.waited);
    this.ready = times(columns.ready);
    this.processor = numbers(columns.processor);
    this.reason = Uint8Array.from(numbers(columns.reason));
    this.context = numbers(columns.context);
    this.waker = numbers(columns.waker);
    this.call = numbers(columns.call);
    this.contextParent = numbers(contexts.parent, contexts.rows);
    this.contextMethod = numbers(contexts.method, contexts.rows);
    this.thread = new Uint32Array(rows);
    this.begin = new Float64Array(rows);
    this.first = new Uint32Array(info.threads.length + 1);
    this.placeThreads();
    this.metrics = this.makeMetrics(times);
  }

  private placeThreads(): void {
    const { begin, duration, waited, ready, first } = this;
    let row = 0;
    this.info.threads.forEach((info, thread) => {
      first[thread] = row;
      const end = row + info.rows;
      this.thread.fill(thread, row, end);
      for (let at = info.begin; row < end; ++row) {
        begin[row] = at;
        at += duration[row]! + waited[row]! + ready[row]!;
      }
    });
    first[this.info.threads.length] = row;
  }

  /** Returns for how long each thread ran. */
  get ran(): Float64Array {
    return this.sums ??= Float64Array.from(this.info.threads, (_, thread) => {
      let sum = 0;
      for (let row = this.first[thread]!; row < this.first[thread + 1]!; ++row) sum += this.duration[row]!;
      return sum;
    });
  }
  private sums: Float64Array | null = null;

  private makeMetrics(times: (planes: Planes) => Float64Array): StretchMetric[] {
    const { info: { columns, counters, has_calls: hasCalls } } = this;
    const metric = (name: string, unit: string, help: string,
                    values: Float64Array): StretchMetric =>
      ({ name, label: name, unit, side: "", whole: unit === "", help, values });
    const time = (name: string, help: string, values: Float64Array) =>
      metric(name, "ns", help, values);
    const list = [
      time("duration", "For how long the thread ran, with interrupts", this.duration),
      time("waited", "For how long it then waited, until it was ready to run", this.waited),
      time("ready", "For how long it then was ready, and other threads had the processors",
           this.ready),
    ];
    if (columns.interrupts.bytes > 0) {
      list.push(time("interrupts", "Time of interrupts while it ran", times(columns.interrupts)));
    }
    if (hasCalls && columns.kernel.bytes > 0) {
      list.push(time("kernel", "Time in system calls", times(columns.kernel)));
    }
    for (const { name, values } of counters) {
      list.push(metric(name, "", `${name} while it ran`, times(values)));
    }
    return list;
  }

  /** Returns the metrics of which only differences mean something: when a row begins and ends. */
  get places(): StretchMetric[] {
    const place = (name: string, help: string, values: Float64Array): StretchMetric =>
      ({ name, label: name, unit: "ns", side: "", whole: false, help, values });
    return this.placed ??= [
      place("begin", "When it began, since the recording did", this.begin),
      place("end", "When the thread stopped", this.begin.map((at, row) => at + this.duration[row]!)),
      place("next", "When the thread ran again", this.begin.map((_, row) => this.next(row))),
    ];
  }
  private placed: StretchMetric[] | null = null;

  /** Returns when the next stretch of the thread begins, or when the thread or the recording ends. */
  next(row: number): number {
    return this.begin[row]! + this.duration[row]! + this.waited[row]! + this.ready[row]!;
  }

  /** Returns the row of a thread at a time, or -1. */
  rowAt(thread: number, time: number): number {
    const row = this.firstAt(thread, time);
    return row < this.first[thread + 1]! && this.begin[row]! <= time && time < this.next(row)
      ? row : -1;
  }
  /** Returns the first row of a thread that does not end, with the time after it, before a time. */
  firstAt(thread: number, time: number): number {
    const last = this.first[thread + 1]!;
    let [low, high] = [this.first[thread]!, last];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low > this.first[thread]! ? low - 1 : low;
  }

  /** Returns the methods of a context, the innermost first. */
  pathOf(context: number): number[] {
    const path: number[] = [];
    for (let at = context; at > 0; at = this.contextParent[at]!) path.push(this.contextMethod[at]!);
    return path;
  }

  /** Returns the rows of each processor by begin. */
  get byProcessor(): ProcessorOrder {
    return this.order ??= new ProcessorOrder(this);
  }
  private order: ProcessorOrder | null = null;
}

const RADIX = 11;                    // bits of a digit

/** The rows sorted by processor and begin, with copies of the columns that drawing reads. */
export class ProcessorOrder {
  readonly row: Uint32Array;
  readonly thread: Uint32Array;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly first: Uint32Array;       // by processor, and the number of all rows behind the last

  constructor({ length, begin, duration, thread, processor, info }: Stretches) {
    const sorted = sortedBy(begin, length, info.end);
    const counts: number[] = new Array<number>(info.processors).fill(0);
    for (let row = 0; row < length; ++row) {
      const one = processor[row]!;
      while (counts.length <= one) counts.push(0);
      ++counts[one]!;
    }
    this.first = new Uint32Array(counts.length + 1);
    counts.forEach((count, i) => { this.first[i + 1] = this.first[i]! + count; });
    const place = this.first.slice();
    this.row = new Uint32Array(length);
    this.thread = new Uint32Array(length);
    this.begin = new Float64Array(length);
    this.end = new Float64Array(length);
    for (let i = 0; i < length; ++i) {
      const row = sorted[i]!;
      const one = processor[row]!;
      let to = place[one]!++;
      // Rows that are nearer to each other than the unit by which they were sorted.
      for (; to > this.first[one]! && this.begin[to - 1]! > begin[row]!; --to) this.move(to - 1, to);
      this.row[to] = row;
      this.thread[to] = thread[row]!;
      this.begin[to] = begin[row]!;
      this.end[to] = begin[row]! + duration[row]!;
    }
  }

  private move(from: number, to: number): void {
    this.row[to] = this.row[from]!;
    this.thread[to] = this.thread[from]!;
    this.begin[to] = this.begin[from]!;
    this.end[to] = this.end[from]!;
  }

  get processors(): number {
    return this.first.length - 1;
  }
  /** Returns the first place in the order of the processor that ends after a time. */
  firstAt(processor: number, time: number): number {
    let [low, high] = [this.first[processor]!, this.first[processor + 1]!];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Returns the rows sorted by time in units of 2^-32 of the largest: by digits, which takes a tenth of
 * the time of comparisons. Equal rows stay in their order. */
function sortedBy(time: Float64Array, length: number, largest: number): Uint32Array {
  const unit = Math.max(1, (largest + 1) / 2 ** 32);
  let [row, to] = [new Uint32Array(length), new Uint32Array(length)];
  let [key, keyTo] = [new Uint32Array(length), new Uint32Array(length)];
  for (let i = 0; i < length; ++i) {
    row[i] = i;
    key[i] = Math.min(2 ** 32 - 1, time[i]! / unit);
  }
  for (let shift = 0; shift < 32; shift += RADIX) {
    sortByDigit(row, key, to, keyTo, shift);
    [row, to] = [to, row];
    [key, keyTo] = [keyTo, key];
  }
  return row;
}
function sortByDigit(row: Uint32Array, key: Uint32Array, to: Uint32Array, keyTo: Uint32Array,
                     shift: number): void {
  const mask = (1 << RADIX) - 1;
  const place = new Uint32Array(mask + 2);
  const { length } = row;
  for (let i = 0; i < length; ++i) ++place[((key[i]! >>> shift) & mask) + 1]!;
  for (let i = 0; i <= mask; ++i) place[i + 1]! += place[i]!;
  for (let i = 0; i < length; ++i) {
    const one = key[i]!;
    const next = place[(one >>> shift) & mask]!++;
    to[next] = row[i]!;
    keyTo[next] = one;
  }
}
