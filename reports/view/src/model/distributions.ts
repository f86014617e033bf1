// Provides how long single calls took, as reports/view/distribution_view.cc writes it.

import type { DataFile } from "./data.js";

/** Times in ns, without the profiler's share. */
export interface CallTimes {
  min: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
  mean: number;
  removed: number;                // the profiler's part of the measured time, from 0 to 1
  below: string[];                // names of those of the above that are only upper ends
  buckets: [mean: number, calls: number][];  // in ascending order
}

export interface Distribution {
  calls: number;
  cpu: CallTimes;
  elapsed: CallTimes;
}

interface DistributionsData {
  methods: ({ method: number } & Distribution)[];
  rows: ({ row: number } & Distribution)[];
}

/** How many calls took from 2^octave ns to less than twice that. */
export interface Octave {
  octave: number;
  calls: number;
}

/** Returns the octaves from the first to the last one with calls. */
export function octavesOf({ buckets }: CallTimes): Octave[] {
  const calls = new Map<number, number>();
  for (const [mean, count] of buckets) {
    const octave = Math.floor(Math.log2(Math.max(1, mean)));
    calls.set(octave, (calls.get(octave) ?? 0) + count);
  }
  const first = Math.min(...calls.keys());
  return calls.size === 0 ? []
    : Array.from({ length: Math.max(...calls.keys()) - first + 1 },
                 (_, i) => ({ octave: first + i, calls: calls.get(first + i) ?? 0 }));
}

export class Distributions {
  private readonly byMethod: Map<number, Distribution>;
  private readonly byRow: Map<number, Distribution>;

  constructor({ methods, rows }: DistributionsData) {
    this.byMethod = new Map(methods.map((one) => [one.method, one]));
    this.byRow = new Map(rows.map((one) => [one.row, one]));
  }
  ofMethod(method: number): Distribution | undefined {
    return this.byMethod.get(method);
  }
  /** Rows are those of the data, without filters. */
  ofRow(row: number): Distribution | undefined {
    return this.byRow.get(row);
  }
}

export function readDistributions(file: DataFile): Distributions | null {
  const { distributions } = file.header;
  if (!distributions) return null;
  return new Distributions(JSON.parse(file.text(distributions)) as DistributionsData);
}
