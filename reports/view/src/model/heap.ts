// Provides what the page of a heap dump has beside its tree: sums by class, package and loader, and
// what tells a row from others of its class.

import type { DataFile, GroupInfo } from "./data.js";
import { withSeparators } from "./format.js";
import type { Parts } from "./names.js";
import type { Tree } from "./tree.js";

const [CLASS, GROUP, OTHERS] = ["c", "g", "x"].map((letter) => letter.charCodeAt(0));

/** Returns the name of a row, given that of its class. Names of other trees stay as they are. */
export function withLabel([before, main, after]: Parts, tree: Tree, row: number): Parts {
  const { labels, joined, type } = tree.columns;
  if (!labels || !joined) return [before, main, after];
  if (type[row] === CLASS) return [`class ${before}`, main, after];
  const isSeveral = type[row] === GROUP || type[row] === OTHERS;
  const label = isSeveral ? `(${withSeparators(joined[row]!)})` : labels[row]!;
  return [before, main, label === "" ? after : `${after} ${label}`];
}

/** Sums of objects by class, package or loader, in columns. */
export interface Groups {
  by: string;
  names: Uint32Array;
  objects: Float64Array;
  shallow: Float64Array;
  retained: Float64Array;   // NaN where it is not known
}

export function readGroups(file: DataFile, info: GroupInfo): Groups {
  return { by: info.by, names: file.u32(info.name), objects: file.f64(info.objects),
           shallow: file.f64(info.shallow), retained: file.f64(info.retained) };
}

/** Returns the expression that finds the classes of a group by the JVM's names, or an empty text if
 * names do not tell which these are. */
export function searchOf(by: string, group: string): string {
  const literal = group.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (by === "loader" || group.startsWith("others (")) return "";
  if (by === "class") return `^${literal}$`;
  if (group === "(primitive arrays)") return "^\\[+[BCDFIJSZ]$";
  if (group === "(default)") return "^(?!others$)([^/.([]+|\\[+L[^/]+;)$";
  return `^(\\[+L)?${literal.replaceAll("\\.", "/")}/[^/]+$`;
}
