// What the page calls its rows and values: those of a heap dump are objects, not calls.

import type { MetricInfo } from "./data.js";

export interface Words {
  rows: string;
  methods: string;
  alone: string;   // explains values of a row alone
  below: string;   // explains values with all below the row
}

const CALLS: Words = {
  rows: "contexts", methods: "methods", alone: "without what it calls",
  below: "with all that it calls",
};
const HEAP: Words = {
  rows: "rows", methods: "classes", alone: "without what it holds",
  below: "with all that only it holds",
};

export function wordsOf(kind: string): Words {
  return kind === "heap" ? HEAP : CALLS;
}

/** Returns what values of a metric are called: of a row alone, and with all below it. */
export function titlesOf({ name, own, with_below: below }: MetricInfo): [own: string, below: string] {
  return [own ?? (name.length > 10 ? "self" : `self ${name}`), below ?? "cumulative"];
}
