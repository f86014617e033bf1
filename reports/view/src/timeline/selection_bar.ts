// The fields of the timeline: the selection as an expression, named sets and their combinations, and
// computed metrics.

import { button, delayed, el, select } from "../dom.js";
import type { State, Store } from "../model/state.js";
import type { StretchSelection } from "../model/stretch_selection.js";

const TYPING_MS = 180;
const NAME = /^[A-Za-z_]\w*$/;
const RESERVED = /^(and|or|minus|not|all|min|max|abs|begin|end|next|ns|us|ms|s)$/;
const TEXTS = /^(thread|process|tid|pid|cpu|wait|context|method|waker|call)$/;

/** How a click changes the selection. */
export type Combination = "only" | "and" | "or" | "minus";

/** Returns a selection with a term. */
export function combined(only: string, how: Combination, term: string): string {
  if (only.trim() === "" || how === "only") return how === "minus" ? `!(${term})` : term;
  const inner = (text: string) => (/\|\||\bor\b|\bminus\b/.test(text) ? `(${text})` : text);
  if (how === "and") return `${inner(only)} && ${inner(term)}`;
  return how === "or" ? `${only} || ${inner(term)}` : `${inner(only)} minus ${inner(term)}`;
}

export class SelectionBar {
  readonly element: HTMLElement;
  combination: Combination = "only";
  private readonly before: string[] = [];     // selections, for Escape
  private readonly input = el("input", { class: "grow", spellcheck: "false", autocomplete: "off",
    "aria-label": "Selected stretches", "data-field": "only",
    placeholder: "thread~main && wait=park && duration > 1ms" });
  private readonly setName = el("input", { size: 8, "aria-label": "Name of the set" });
  private readonly metric = el("input", { size: 26, "aria-label": "New metric of stretches",
                                          placeholder: "share = ready / (duration + ready)" });
  private readonly chips = el("span", {});
  private readonly problem = el("p", { class: "problem", role: "alert" });

  constructor(private readonly store: Store, private readonly selection: StretchSelection) {
    const form = (field: HTMLElement, label: string, text: string, act: () => void) => {
      const made = el("form", {}, el("label", { class: "choice" }, el("span", {}, label), field), " ",
                      el("button", {}, text));
      made.addEventListener("submit", (event) => {
        event.preventDefault();
        act();
      });
      return made;
    };
    this.element = el("div", {},
      el("div", { class: "bar" }, el("label", { class: "choice grow" },
        el("span", {}, "selection"), this.input),
        button("Clear", "Selects everything (Escape: what was selected before)", () => this.set("")),
        select("a click", [["only", "selects"], ["and", "narrows (and)"], ["or", "adds (or)"],
                           ["minus", "removes (minus)"]], "only", (how) => {
          this.combination = how as Combination;
        }),
        form(this.setName, "save as", "Save", () => this.save()),
        form(this.metric, "metric", "Add", () => this.addMetric()), this.chips),
      this.problem);
    this.input.addEventListener("input", delayed(TYPING_MS, () => this.set(this.input.value.trim())));
  }

  set(only: string): void {
    const { state } = this.store;
    if (only === state.only) return;
    this.before.push(state.only);
    this.store.set({ only });
  }
  /** Goes back to the selection before. Returns whether there is one. */
  back(): boolean {
    const only = this.before.pop();
    if (only === undefined) return false;
    this.store.set({ only });
    return true;
  }
  choose(term: string): void {
    this.set(combined(this.store.state.only, this.combination, term));
  }

  update(state: Readonly<State>): void {
    if (document.activeElement !== this.input || state.only === "") this.input.value = state.only;
    this.input.setAttribute("aria-invalid", String(this.selection.problem !== ""));
    this.problem.textContent = this.selection.problem;
    const chip = (name: string, text: string, use: () => void, remove: () => void) =>
      el("span", { class: "chip" }, button(name, text, use), button("×", `Remove ${name}`, remove));
    this.chips.replaceChildren(
      ...state.sets.map(([name, text]) => chip(name, text, () => this.choose(name), () =>
        this.store.set({ sets: state.sets.filter(([one]) => one !== name) }))),
      ...state.ratios.map(([name, text]) => chip(`${name} = ${text}`, "A metric of stretches",
        () => { this.metric.value = `${name} = ${text}`; },
        () => this.store.set({ ratios: state.ratios.filter(([one]) => one !== name) }))));
  }

  private fail(message: string): void {
    this.problem.textContent = message;
  }
  private isFree(name: string): boolean {
    return NAME.test(name) && !RESERVED.test(name) && !TEXTS.test(name) &&
      !this.selection.stretches.metrics.some((one) => one.name === name);
  }

  private save(): void {
    const { only, sets, ratios } = this.store.state;
    const name = this.setName.value.trim();
    if (!this.isFree(name) || ratios.some(([one]) => one === name)) {
      this.fail("A name has letters, digits and _, and no meaning of its own.");
    } else if (only === "" || this.selection.problem !== "") this.fail("There is no selection to save.");
    else {
      this.setName.value = "";
      this.before.push(only);
      // A set that is saved again under its name keeps its text: it may not contain itself.
      const text = only === name ? sets.find(([one]) => one === name)?.[1] ?? only : only;
      this.store.set({ sets: [...sets.filter(([one]) => one !== name), [name, text]], only: name });
    }
  }

  private addMetric(): void {
    const { ratios, sets } = this.store.state;
    const [, given, text] = /^(?:\s*([A-Za-z_]\w*)\s*=(?!=))?(.*)$/s.exec(this.metric.value)!;
    if (!text!.trim()) return;
    const name = given ?? `m${ratios.length + 1}`;
    try {
      if (!this.isFree(name) || sets.some(([one]) => one === name)) {
        throw new Error(`'${name}' has a meaning of its own`);
      }
      this.selection.computed(name, text!.trim());
    } catch (problem) {
      this.fail((problem as Error).message);
      return;
    }
    this.metric.value = "";
    this.store.set({ ratios: [...ratios.filter(([one]) => one !== name), [name, text!.trim()]] });
  }
}
