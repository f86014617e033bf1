// Shows the top of the page: what was measured, what is missing, and the five hottest methods.

import { button, byId, el, pair } from "./dom.js";
import { callsText } from "./details.js";
import { formatPercent, formatUncertain, formatValue, ofAlone } from "./model/format.js";
import { CLASS, TYPE_NAMES } from "./model/names.js";
import { matchedSum } from "./model/search.js";
import { showQuality } from "./quality.js";
import type { Changed } from "./model/state.js";
import { DATA_KEYS, hasAny, type Context } from "./view.js";

const KINDS = {
  tree: "call tree", combined: "exact calls and true times", compare: "comparison",
  tprof: "ticks by process, thread and module", heap: "heap dump",
  timeline: "when threads ran", optimize: "predicted against observed benefits",
  scale: "growth with the size of the input",
};
const HOTTEST = 5;

const callsOf = (calls: number) => `${callsText(calls)}${calls > 0 ? " calls" : ""}`;

/** One of the hottest methods, or of the classes that hold most. */
interface Hot {
  title: string;
  data: string;     // its name in the data
  name: string;
  value: string;
  share: string;    // in percent
  part: number;     // of the first one, from 0 to 1
  count: string;
  letter: string;
  act(): void;
}

function hotButton({ title, data, name, value, share, part, count, letter, act }: Hot): HTMLElement {
  const link = button("", title, act);
  link.className = "hot";
  link.dataset.name = data;
  link.append(el("span", { class: "number" }, value),
    el("span", { class: "number bar", style: `--part:${100 * part}%` }, `${share} %`),
    el("span", { class: "number soft" }, count),
    el("span", { class: letter ? `letter t${letter}` : "", title: TYPE_NAMES[letter] ?? "" }, letter),
    el("span", { class: "name" }, name));
  return link;
}

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
    const { programs, scaled } = this.context.model;
    if (programs || scaled) return;   // nothing is summed up
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
    for (const q of model.beside) {
      const other = model.quantities[q]!;
      parts.push([other.label, formatValue(tree.total(q), other.unit, other.whole)]);
    }
    if (model.header.kind !== "timeline") {
      parts.push([model.words.rows, formatValue(tree.length, "", true)]);
    }
    if (model.isFiltered) {
      parts.push(["filter shows", `${formatPercent(model.tree.total(quantity), total)} %`]);
    }
    byId("total").replaceChildren(...parts.map(([name, value]) => pair(name, value)));
  }

  private drawHottest(): void {
    const { header } = this.context.model;
    const hottest = header.heap ? this.largestClasses()
      : header.kind === "timeline" ? this.busiestThreads() : this.hottestMethods();
    byId("hottest-title").textContent = header.heap ? "Classes that hold most" : this.hottestTitle();
    byId("hottest").replaceChildren(...hottest.map((one) => el("li", {}, hotButton(one))));
  }

  private hottestTitle(): string {
    const { header, locks, quantities, quantity, base } = this.context.model;
    const { label } = quantities[quantity]!;
    if (locks) return `Locks with most ${label}`;
    if (header.kind === "timeline") return "Threads that ran longest";
    if (base.type.includes(CLASS)) return `Classes with most ${label}`;
    return `Hottest ${header.kind === "tprof" ? "symbols" : "methods"} by ${label} of their own`;
  }

  /** Returns the calls of a method or, of a class, its objects or how often its locks were taken. */
  private countOf(id: number): string {
    const { methods, calls, beside, quantities } = this.context.model;
    if (methods.type[id] !== CLASS) return calls >= 0 ? callsOf(methods.self(calls)[id]!) : "";
    const [other] = beside;
    if (other === undefined) return calls >= 0 ? `${callsText(methods.self(calls)[id]!)} times` : "";
    const { name, unit, whole } = quantities[other]!;
    return `${formatValue(methods.self(other)[id]!, unit, whole)} ${unit === "" ? name : ""}`;
  }

  private hottestMethods(): Hot[] {
    const { model, store } = this.context;
    const { methods, quantity, names } = model;
    const info = model.quantities[quantity]!;
    const self = methods.self(quantity);
    const error = methods.error(quantity);
    const total = model.unfiltered.total(quantity);
    const ids = Array.from(self.keys()).sort((a, b) => self[b]! - self[a]!).slice(0, HOTTEST)
      .filter((id) => self[id]! > 0);
    return ids.map((id) => {
      const method = methods.ids[id]!;
      return {
        title: names.shown(method), data: names.of(method), name: names.short(method),
        value: formatUncertain(self[id]!, error?.[id] ?? 0, ofAlone(info)),
        share: formatPercent(self[id]!, total), part: self[id]! / self[ids[0]!]!,
        count: this.countOf(id),
        letter: String.fromCharCode(methods.type[id]!),
        act: () => store.set({ method, row: -1 }),
      };
    });
  }

  /** Returns the threads that ran longest. A click selects one's stretches in the timeline. */
  private busiestThreads(): Hot[] {
    const { model, store } = this.context;
    const { info: { threads, end, processors }, ran } = model.stretches!;
    const isAny = threads.some((one) => one.program);
    const busiest = Array.from(ran.keys()).filter((i) => ran[i]! > 0 && (!isAny || threads[i]!.program))
      .sort((a, b) => ran[b]! - ran[a]!).slice(0, HOTTEST);
    return busiest.map((thread) => {
      const name = `${threads[thread]!.name} (tid ${threads[thread]!.tid})`;
      return { title: name, data: name, name, value: formatValue(ran[thread]!, "ns"), count: "",
               share: formatPercent(ran[thread]!, end * processors),
               part: ran[thread]! / ran[busiest[0]!]!, letter: "T",
               act: () => store.set({ only: `tid=${threads[thread]!.tid}` }) };
    });
  }

  private largestClasses(): Hot[] {
    const { model: { groups, names, base }, store } = this.context;
    const { names: classes, objects, retained } = groups[0]!;   // the largest first
    const live = base.total(0);
    return Array.from(classes.subarray(0, HOTTEST), (name, id) => ({
      title: names.shown(name), data: names.of(name), name: names.short(name),
      value: formatValue(retained[id]!, "bytes"), share: formatPercent(retained[id]!, live),
      part: retained[id]! / retained[0]!,
      count: `${formatValue(objects[id]!, "", true)} objects`, letter: "",
      act: () => store.set({ method: name, view: "groups" }),
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
        `${formatValue(matches.count, "", true)} ${model.words.methods}, ` +
        `${formatValue(rows, "", true)} ${model.words.rows}`;
    }
    output.classList.toggle("problem", model.problems.search !== "");
  }
}
