// Decodes the data element of the page. docs/VIEW.md describes the format.

import { learnFrameKinds } from "./names.js";
import type { SeriesInfo } from "./series.js";
import type { StretchesInfo } from "./stretches.js";

export type MetricKind = "time" | "count" | "samples" | "weighted";

/** How runs differ: model/combined/time_estimate.h. The arms are halves of 95 % intervals, relative. */
export interface BetweenRuns {
  total: number;
  share: number;      // of a context with all that it calls
  own_share: number;  // of a context alone
  dispersion: number;
}

export interface MetricInfo {
  name: string;
  unit: string;
  kind: MetricKind;
  calibrated?: boolean;
  period?: number;
  period_unit?: string;
  exact?: boolean;
  has_error?: boolean;
  one_sample?: number;
  own?: string;         // what a row's value alone is called, if not "self"
  with_below?: string;  // what it is called with all below the row, if not "cumulative"
  beside?: boolean;     // tables show it beside the chosen metric
  between_runs?: BetweenRuns;
}

export interface Section {
  type: "u8" | "u32" | "f32" | "f64" | "text";
  offset: number;
  length: number;
}

export interface TreeInfo {
  name: string;
  rows: number;
  has_calls: boolean;
  metrics: number[];
  columns: {
    parent?: Section;
    method?: Section;
    type?: Section;
    thread?: Section | null;
    calls?: Section | null;
    self: Section[];
    error?: (Section | null)[];
    labels?: Section;   // of a heap dump: what tells a row from others of its class
    joined?: Section;   // of a heap dump: objects that a row stands for
  };
}

/** What happened when. Times are in ns from the beginning of the recording. */
export interface TimelineInfo {
  clock: string;                // a sentence about what the times are
  end: number;
  tracks: string[];             // names of threads, as in `threads` where they are the same
  shortest: number;             // calls that are not in `slices` took no more
  left_out: number;             // their number
  slices: {                     // by track, depth and begin
    rows: number;
    track: Section; depth: Section; begin: Section; length: Section; method: Section; type: Section;
  };
  marks: { rows: number; track: Section; at: Section; text: Section };
  counters: { name: string; track: number; at: Section; value: Section }[];
}

/** A fact about how much the profile can be trusted. */
export interface Quality {
  name: string;
  severity: "info" | "minor" | "major" | "severe";
  value: number | null;
  text: string;      // the fact in one line
  means: string;     // for the numbers
  advice: string;
}

/** Sums of a heap dump by class, package or loader. Names are indices. */
export interface GroupInfo {
  by: "class" | "package" | "loader";
  name: Section;
  objects: Section;
  shallow: Section;
  retained: Section;
}

/** An object on the way from a suspect to what it holds; its row, if it has one. */
export interface Link {
  text: string;
  retained: number;
  row: number | null;
}

/** What holds much of a heap: an object, or all objects of a class that nothing else holds. */
export interface Suspect extends Link {
  chain: Link[];             // from the object to where what it holds spreads
  chain_left_out: number;
}

export interface HeapInfo {
  least: number;             // bytes: what retains less has no row of its own
  levels: number;            // of the tree at most
  groups: GroupInfo[];
  suspect_share: number;     // of the live bytes, from 0 to 1
  suspects: Suspect[];
}

export interface Header {
  title: string;
  kind: "tree" | "combined" | "compare" | "tprof" | "heap" | "timeline" | "optimize" | "scale";
  facts: [string, string][];
  losses: string[];
  notes: string[];
  quality?: Quality[];
  metrics: MetricInfo[];
  threads: string[];
  trees: TreeInfo[];
  frames: Record<string, string>;  // the letters of the kinds of frames: what they mean
  methods: Section;
  annotations?: Section | null;
  timeline?: TimelineInfo;
  heap?: HeapInfo;
  locks?: Section;   // JSON: model/locks.ts
  lines?: Section;   // JSON: model/lines.ts
  distributions?: Section;   // JSON: model/distributions.ts
  stretches?: StretchesInfo;
  optimized?: Section;   // JSON: model/optimized.ts
  scale?: Section;       // JSON: model/scaled.ts
  series?: SeriesInfo;
}

const MAGIC = 0x3156504a;  // 'J','P','V','1'

interface NativeBase64 {
  fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}

/** Decodes standard base64 without line breaks, by the browser's own decoder where it exists. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as NativeBase64).fromBase64;
  return native ? native.call(Uint8Array, text) : decodeBase64ByTable(text);
}

export function decodeBase64ByTable(text: string): Uint8Array<ArrayBuffer> {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const values = new Uint8Array(128);
  for (let i = 0; i < 64; ++i) values[alphabet.charCodeAt(i)] = i;
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 61) --end;  // '='
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  let to = 0;
  let at = 0;
  for (; at + 4 <= end; at += 4) {
    const bits = (values[text.charCodeAt(at)]! << 18) | (values[text.charCodeAt(at + 1)]! << 12) |
        (values[text.charCodeAt(at + 2)]! << 6) | values[text.charCodeAt(at + 3)]!;
    bytes[to++] = bits >> 16;
    bytes[to++] = bits >> 8;
    bytes[to++] = bits;
  }
  if (to < bytes.length) {
    const code = (i: number) => (i < end ? values[text.charCodeAt(i)]! : 0);
    const bits = (code(at) << 18) | (code(at + 1) << 12) | (code(at + 2) << 6);
    bytes[to++] = bits >> 16;
    if (to < bytes.length) bytes[to] = bits >> 8;
  }
  return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser has no DecompressionStream: use a version of 2023 or later.");
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** Provides the inflated data: its header, and its sections as views of one buffer. */
export class DataFile {
  readonly header: Header;
  private readonly base: number;

  constructor(private readonly buffer: ArrayBuffer) {
    const words = new DataView(buffer);
    if (buffer.byteLength < 8 || words.getUint32(0, true) !== MAGIC) {
      throw new Error("The data of this page are not those of a jprof view (magic number).");
    }
    const length = words.getUint32(4, true);
    this.base = 8 + length;
    if (this.base > buffer.byteLength || this.base % 8 !== 0) {
      throw new Error("The data of this page are cut off or damaged (header).");
    }
    const text = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
    this.header = JSON.parse(text) as Header;
    learnFrameKinds(this.header.frames);
  }

  u8(section: Section): Uint8Array {
    return new Uint8Array(this.buffer, this.begin(section, 1), section.length);
  }
  u32(section: Section): Uint32Array {
    return new Uint32Array(this.buffer, this.begin(section, 4), section.length);
  }
  f32(section: Section): Float32Array {
    return new Float32Array(this.buffer, this.begin(section, 4), section.length);
  }
  f64(section: Section): Float64Array {
    return new Float64Array(this.buffer, this.begin(section, 8), section.length);
  }
  text(section: Section): string {
    return new TextDecoder().decode(this.u8(section));
  }

  private begin(section: Section, size: number): number {
    const begin = this.base + section.offset;
    if (begin + section.length * size > this.buffer.byteLength) {
      throw new Error("The data of this page are cut off or damaged (section).");
    }
    return begin;
  }
}
