// Formats one line about a row or a method: its name, type and values.

import { el, methodName, pair } from "./dom.js";
import { formatPercent, formatUncertain, formatValue, ofAlone } from "./model/format.js";
import type { Model } from "./model/model.js";
import { TYPE_NAMES } from "./model/names.js";
import { oldOf } from "./model/metrics.js";
import { titlesOf } from "./model/words.js";
import type { Tree } from "./model/tree.js";

/** Formats a number of calls. Frames of sampled stacks that nothing counts have none. */
export function callsText(calls: number): string {
  return calls === 0 ? "not counted" : formatValue(calls, "", true);
}

export function describeRow(model: Model, tree: Tree, row: number): (Node | string)[] {
  const { measure, quantity, calls } = model;
  const letter = String.fromCharCode(tree.type[row]!);
  const info = model.quantities[quantity]!;
  const parts: [string, string][] = [];
  const amount = (value: number, error: number) => formatUncertain(value, error, info);
  const [own, below] = info.metric?.own ? titlesOf(info.metric) : [`self ${info.label}`, "cumulative"];
  parts.push([own,
              formatUncertain(tree.self(quantity)[row]!, tree.error(quantity)?.[row] ?? 0,
                              ofAlone(info))]);
  parts.push([below,
              amount(tree.cum(quantity)[row]!, tree.cumError(quantity)?.[row] ?? 0)]);
  const before = oldOf(model.quantities, quantity);
  if (before >= 0) parts.push(["before", amount(tree.cum(before)[row]!, 0)]);
  if (calls >= 0) parts.push(["calls", callsText(tree.self(calls)[row]!)]);
  for (const q of model.beside) {
    const { name, metric, unit, whole } = model.quantities[q]!;
    parts.push([metric?.with_below ?? name, formatValue(tree.cum(q)[row]!, unit, whole)]);
  }
  const width = measure.width(tree);
  parts.push([`of ${measure.label}`, `${formatPercent(width[row]!, tree.sumOfRoots(width))} %`]);
  return [
    el("span", { class: "type" }, TYPE_NAMES[letter] ?? letter), " ",
    el("code", {}, methodName(model.rowParts(tree, row))), " ",
    ...parts.flatMap(([name, value]) => [pair(name, value), " "]),
  ];
}
