// The bar with the measure, the search, filters and computed metrics.

import { button, byId, delayed, el, setChoices } from "./dom.js";
import { withSeparators } from "./model/format.js";
import type { NameForm } from "./model/names.js";
import { mappingOf } from "./model/regroup.js";
import { compute } from "./model/metrics.js";
import type { Changed, State } from "./model/state.js";
import { DATA_KEYS, hasAny, type Context } from "./view.js";

const TYPING_MS = 180;
const RESERVED = /^(self|cum|old|new|min|max|abs|and|or|minus|not|share|calls|marked)$/;

function chip(name: string, text: string, use: () => void, remove: () => void): HTMLElement {
  return el("span", { class: "chip" }, button(name, text, use),
            button("×", `Remove ${name}`, remove));
}

export class Controls {
  constructor(private readonly context: Context) {
    const { store, model } = context;
    this.text("search", "search");
    this.text("package", "package");
    this.text("filter", "filter");
    const min = byId<HTMLInputElement>("min");
    min.addEventListener("input", delayed(TYPING_MS, () =>
      store.set({ min: Math.max(0, Math.min(100, Number(min.value) || 0)) })));
    const measure = byId<HTMLSelectElement>("measure");
    measure.addEventListener("change", () => store.set({ measure: measure.value }));
    const thread = byId<HTMLSelectElement>("thread");
    setChoices(thread, [["", "all"], ...model.header.threads.map((one): [string, string] =>
      [one, one])], store.state.thread);
    thread.addEventListener("change", () => store.set({ thread: thread.value }));
    const merge = byId<HTMLInputElement>("merge");
    merge.addEventListener("change", () => store.set({ merge: merge.checked }));
    const more = byId("more");
    more.addEventListener("click", () => this.open(byId("filters").hidden));
    byId("metric-form").addEventListener("submit", (event) => this.addMetric(event));
    byId("save-form").addEventListener("submit", (event) => this.saveFilter(event));
    const names = byId<HTMLSelectElement>("names");
    names.addEventListener("change", () => store.set({ names: names.value as NameForm }));
    this.patterns("collapse");
    this.patterns("hide");
    byId("clear").addEventListener("click", () =>
      store.set({ package: "", thread: "", filter: "", min: 0 }));
  }

  private open(isOpen: boolean): void {
    byId("filters").hidden = !isOpen;
    byId("more").setAttribute("aria-expanded", String(isOpen));
  }

  private text(id: string, key: "search" | "package" | "filter"): void {
    const input = byId<HTMLInputElement>(id);
    input.addEventListener("input", delayed(TYPING_MS, () =>
      this.context.store.set({ [key]: input.value.trim() })));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || input.value === "") return;
      event.stopPropagation();
      input.value = "";
      this.context.store.set({ [key]: "" });
    });
  }

  /** Adds the pattern of a field to those in the state, if any method matches it. */
  private patterns(key: "collapse" | "hide"): void {
    byId(`${key}-form`).addEventListener("submit", (event) => {
      event.preventDefault();
      const { model, store } = this.context;
      const input = byId<HTMLInputElement>(key);
      const pattern = input.value.trim();
      if (pattern === "" || store.state[key].includes(pattern)) return;
      const { counts } = mappingOf(model.names, key === "collapse" ? [pattern] : [],
                                   key === "hide" ? [pattern] : []);
      if (counts.get(pattern) === 0) {
        byId("filter-problem").textContent = `No method matches ${pattern}.`;
        return;
      }
      input.value = "";
      store.set({ [key]: [...store.state[key], pattern] });
    });
  }

  /** Shows what is collapsed and hidden, each with a button that undoes it. */
  private drawReshaped(state: Readonly<State>): void {
    const { store, model } = this.context;
    const chips = (key: "collapse" | "hide") => state[key].map((pattern) =>
      chip(pattern, `${withSeparators(model.mapping!.counts.get(pattern)!)} methods`,
           () => this.open(true),
           () => store.set({ [key]: state[key].filter((one) => one !== pattern) })));
    const list = (title: string, key: "collapse" | "hide") =>
      (state[key].length > 0 ? [el("b", {}, title), ...chips(key)] : []);
    const notice = byId("reshaped");
    notice.hidden = model.mapping === null;
    notice.replaceChildren(...list("Collapsed", "collapse"), ...list("Hidden", "hide"),
      button("Undo all", "Shows every frame as it was recorded",
             () => store.set({ collapse: [], hide: [] })));
  }

  update(changed: Changed | null): void {
    const { model, store } = this.context;
    const { state } = store;
    this.show("search", state.search);
    this.show("package", state.package);
    this.show("filter", state.filter);
    this.show("min", state.min === 0 ? "" : String(state.min));
    byId<HTMLSelectElement>("thread").value = state.thread;
    byId<HTMLInputElement>("merge").checked = state.merge;
    if (hasAny(changed, ["metrics", "measure"])) {
      setChoices(byId<HTMLSelectElement>("measure"),
                 model.measures.map((one) => [one.label, one.label]), model.measure.label);
    }
    if (hasAny(changed, [...DATA_KEYS, "min"])) this.showProblems(state);
    if (hasAny(changed, ["metrics", "filters"])) this.drawChips(state);
    if (hasAny(changed, ["collapse", "hide"])) this.drawReshaped(state);
    byId<HTMLSelectElement>("names").value = state.names;
    const active = [state.package, state.thread, state.filter].filter((one) => one !== "").length +
        (state.min > 0 ? 1 : 0) + state.metrics.length;
    byId("more-count").textContent = active > 0 ? ` (${active})` : "";
    if (changed === null && active > 0) this.open(true);
  }

  private show(id: string, value: string): void {
    const input = byId<HTMLInputElement>(id);
    if (document.activeElement !== input || value === "") input.value = value;
  }

  private showProblems(state: Readonly<State>): void {
    const { model } = this.context;
    void model.computed;
    void model.tree;  // sets the problems
    const output = byId("filter-problem");
    output.textContent = [state.filter ? model.problems.filter : "", ...model.problems.metrics]
      .filter((one) => one !== "").join("; ");
    const isWrong = model.problems.filter !== "" && state.filter !== "";
    byId("filter").setAttribute("aria-invalid", String(isWrong));
  }

  private addMetric(event: Event): void {
    event.preventDefault();
    const { model, store } = this.context;
    const input = byId<HTMLInputElement>("metric");
    const output = byId("metric-problem");
    output.textContent = "";
    const [, given, text] = /^(?:\s*([A-Za-z_]\w*)\s*=)?(.*)$/s.exec(input.value)!;
    if (!text!.trim()) return;
    const metrics = store.state.metrics;
    const name = given ?? `m${metrics.length + 1}`;
    try {
      if (RESERVED.test(name)) throw new Error(`'${name}' has a meaning of its own`);
      const others = model.computed.filter((one) => one.name !== name);
      compute(name, text!.trim(), model.quantities, others);
    } catch (problem) {
      output.textContent = (problem as Error).message;
      return;
    }
    input.value = "";
    store.set({ metrics: [...metrics.filter(([one]) => one !== name), [name, text!.trim()]] });
  }

  private saveFilter(event: Event): void {
    event.preventDefault();
    const { model, store } = this.context;
    const input = byId<HTMLInputElement>("filter-name");
    const name = input.value.trim();
    const { filter, filters } = store.state;
    const output = byId("filter-problem");
    if (!/^[A-Za-z_]\w*$/.test(name) || RESERVED.test(name)) {
      output.textContent = "A name has letters, digits and _, and no meaning of its own.";
    } else if (!filter || model.problems.filter) output.textContent = "There is no filter to save.";
    else {
      input.value = "";
      store.set({ filters: [...filters.filter(([one]) => one !== name), [name, filter]],
                  filter: filter === name ? filter : name });
    }
  }

  private drawChips(state: Readonly<State>): void {
    const { store } = this.context;
    byId("metric-chips").replaceChildren(...state.metrics.map(([name, text]) =>
      chip(`${name} = ${text}`, "Show it as width", () => store.set({ measure: name }),
           () => store.set({ metrics: store.state.metrics.filter(([one]) => one !== name) }))));
    byId("filter-chips").replaceChildren(...state.filters.map(([name, text]) =>
      chip(name, text, () => {
        const filter = store.state.filter ? `${store.state.filter} and ${name}` : name;
        store.set({ filter });
        byId<HTMLInputElement>("filter").value = filter;
      }, () => store.set({ filters: store.state.filters.filter(([one]) => one !== name) }))));
  }
}
