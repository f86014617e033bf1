// Shows the top of the page: what was measured, what is missing, and the five hottest methods.

import { byId, el, pair } from "./dom.js";
import { callsText } from "./details.js";
import { formatPercent, formatUncertain, formatValue, ofAlone } from "./model/format.js";
import { TYPE_NAMES } from "./model/names.js";
import { matchedSum } from "./model/search.js";
import { showQuality } from "./quality.js";
import type { Changed } from "./model/state.js";
import { DATA_KEYS, hasAny, type Context } from "./view.js";

const KINDS = {
  tree: "call tree", combined: "exact calls and true times", compare: "comparison",
  tprof: "ticks by process, thread and module",
};
const HOTTEST = 5;

const callsOf = (calls: number) => `${callsText(calls)}${calls > 0 ? " calls" : ""}`;

export class Summary {
  constructor(private readonly context: Context) {
    const { header } = context.model;
    document.title = `${header.title} - jprof`;
    byId("title").textContent = header.title;
    byId("kind").textContent = KINDS[header.kind];
    byId("facts").replaceChildren(...header.facts.flatMap(([name, value]) =>
      [el("dt", {}, name), el("dd", { title: value }, value)]));
    const items = (list: string[], sign: string) =>
      list.map((text) => el("li", {}, el("span", { "aria-hidden": "true" }, sign), text));
    byId("losses").replaceChildren(...items(header.losses, "⚠ "));
    byId("losses").hidden = header.losses.length === 0;
    showQuality(header);
    byId("notes").replaceChildren(...items(header.notes, ""));
  }

  update(changed: Changed | null): void {
    if (hasAny(changed, DATA_KEYS)) {
      this.drawTotal();
      this.drawHottest();
    }
    if (hasAny(changed, [...DATA_KEYS, "search"])) this.drawMatches();
  }

  private drawTotal(): void {
    const { model } = this.context;
    const { quantity, calls } = model;
    const tree = model.unfiltered;
    const info = model.quantities[quantity]!;
    const total = tree.total(quantity);
    const parts: [string, string][] = [[`total ${info.label}`,
      formatUncertain(total, tree.totalError(quantity), info)]];
    if (model.oldQuantity >= 0) {
      parts.push(["before", formatValue(tree.total(model.oldQuantity), info.unit, info.whole)]);
    }
    if (calls >= 0) parts.push(["calls", formatValue(model.recorded.total(calls), "", true)]);
    parts.push(["contexts", formatValue(tree.length, "", true)]);
    if (model.isFiltered) {
      parts.push(["filter shows", `${formatPercent(model.tree.total(quantity), total)} %`]);
    }
    byId("total").replaceChildren(...parts.map(([name, value]) => pair(name, value)));
  }

  private drawHottest(): void {
    const { model, store } = this.context;
    const { methods, quantity, calls, names } = model;
    const info = model.quantities[quantity]!;
    const self = methods.self(quantity);
    const error = methods.error(quantity);
    const total = model.unfiltered.total(quantity);
    const ids = Array.from(self.keys()).sort((a, b) => self[b]! - self[a]!).slice(0, HOTTEST)
      .filter((id) => self[id]! > 0);
    const largest = ids.length > 0 ? self[ids[0]!]! : 1;
    byId("hottest-title").textContent = 
      `Hottest ${model.header.kind === "tprof" ? "symbols" : "methods"} by ${info.label} ` +
      "of their own";
    byId("hottest").replaceChildren(...ids.map((id) => {
      const method = methods.ids[id]!;
      const letter = String.fromCharCode(methods.type[id]!);
      const link = el("button", { type: "button", title: names.shown(method), class: "hot",
                                  "data-name": names.of(method) },
        el("span", { class: "number" },
           formatUncertain(self[id]!, error?.[id] ?? 0, ofAlone(info))),
        el("span", { class: "number bar", style: `--part:${(100 * self[id]!) / largest}%` },
           `${formatPercent(self[id]!, total)} %`),
        el("span", { class: "number soft" },
           calls >= 0 ? callsOf(methods.self(calls)[id]!) : ""),
        el("span", { class: `letter t${letter}`, title: TYPE_NAMES[letter] ?? "" }, letter),
        el("span", { class: "name" }, names.short(method)));
      link.addEventListener("click", () => store.set({ method, row: -1 }));
      return el("li", {}, link);
    }));
  }

  private drawMatches(): void {
    const { model } = this.context;
    const { matches, measure, tree } = model;
    const output = byId("matches");
    if (model.problems.search) {
      output.textContent = model.problems.search.replace(/^Invalid regular expression: /, "");
    } else if (!matches) output.textContent = "";
    else {
      const width = measure.width(tree);
      const { sum, rows } = matchedSum(tree, matches, width);
      output.textContent = `${formatPercent(sum, tree.sumOfRoots(width)) || "0"} % in ` +
        `${formatValue(matches.count, "", true)} methods, ${formatValue(rows, "", true)} contexts`;
    }
    output.classList.toggle("problem", model.problems.search !== "");
  }
}
