// Provides the source lines of methods, as reports/view/line_view.cc writes them.

import type { DataFile, MetricInfo } from "./data.js";

/** The calls of one method at one bytecode. Methods are indices of names. */
export interface CallAtLine {
  method: number;
  type: string;      // the letter of its kind of frame
  bytecode: number;
  calls: number;     // exact; 0 if nothing counted them
  all: number;       // with all that the method calls
}

export interface SourceLine {
  line: number;      // 0: not known
  text: string;      // of the source, or empty
  calls: number;     // made at the line
  own: number;       // samples at the line itself
  all: number;       // with all that is called there
  called: CallAtLine[];
}

export interface MethodLines {
  method: number;
  file: string;      // of its source, or empty
  lines: SourceLine[];
  left_out: number;  // lines with less than what the page has
}

/** Values are in the unit of the metric, or 0 without one. */
export interface LinesData {
  metric: MetricInfo | null;
  whole: number;     // of the metric
  has_calls: boolean;
  methods: MethodLines[];
}

export class Lines {
  readonly metric: MetricInfo | null;
  readonly whole: number;
  readonly hasCalls: boolean;
  private readonly byMethod: Map<number, MethodLines>;

  constructor({ metric, whole, has_calls, methods }: LinesData) {
    this.metric = metric;
    this.whole = whole;
    this.hasCalls = has_calls;
    this.byMethod = new Map(methods.map((one) => [one.method, one]));
  }
  of(method: number): MethodLines | undefined {
    return this.byMethod.get(method);
  }
}

export function readLines(file: DataFile): Lines | null {
  const { lines } = file.header;
  return lines ? new Lines(JSON.parse(file.text(lines)) as LinesData) : null;
}
