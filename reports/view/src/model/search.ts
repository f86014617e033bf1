// Searches by regular expression: which methods match, and what share of the total their rows are.
// A match below another match is not counted again.

import type { Names } from "./names.js";
import { NO_ROW, type Tree } from "./tree.js";

export interface Matches {
  methods: Uint8Array;   // by method: 1 where the name matches
  count: number;         // methods
}

/** Returns the matches. Throws the browser's SyntaxError for what is not a regular expression. */
export function search(names: Names, text: string): Matches | null {
  if (text === "") return null;
  const pattern = new RegExp(text, /[A-Z]/.test(text) ? "" : "i");
  const methods = new Uint8Array(names.length);
  let count = 0;
  for (let method = 0; method < methods.length; ++method) {
    if (names.matches(method, pattern)) count += methods[method] = 1;
  }
  return { methods, count };
}

/** Returns the sum of the outermost matching rows, and the number of all matching rows. */
export function matchedSum(tree: Tree, matches: Matches,
                           cum: Float64Array): { sum: number; rows: number } {
  const inside = new Uint8Array(tree.length);
  let sum = 0;
  let rows = 0;
  for (let row = 0; row < inside.length; ++row) {
    const above = tree.parent[row]!;
    const below = above !== NO_ROW && inside[above] === 1;
    const match = matches.methods[tree.method[row]!] === 1 && (!tree.kept || tree.kept[row] === 1);
    if (match) ++rows;
    if (match && !below) sum += cum[row]!;
    inside[row] = below || match ? 1 : 0;
  }
  return { sum, rows };
}
