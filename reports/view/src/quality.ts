// Shows in one line how much the profile can be trusted. A click shows the rest.

import { byId, el } from "./dom.js";
import type { Header, Quality } from "./model/data.js";

const GRADES = [["error", "poor"], ["warning", "fair"], ["note", "good"]] as const;
const WORST = 3;   // facts in the line

/** Returns the facts, the worst first. */
function ranked(facts: Quality[]): Quality[] {
  const rank = (one: Quality) => GRADES.findIndex(([severity]) => severity === one.severity);
  return [...facts].sort((a, b) => rank(a) - rank(b));
}

function lineOf(facts: Quality[]): (Node | string)[] {
  const [worst] = facts;
  if (!worst) return [];
  const grade = GRADES.find(([severity]) => severity === worst.severity)?.[1] ?? "good";
  const shown = facts.filter((one) => one.severity === worst.severity).slice(0, WORST);
  return [el("b", { class: `grade ${worst.severity}` }, `Quality: ${grade}.`), " ",
          shown.map(({ name, value }) => `${name} ${value}`).join(", ") + ". "];
}

export function showQuality({ quality, losses, notes }: Header): void {
  const facts = ranked(quality ?? []);
  const line = byId("quality-line");
  line.replaceChildren(...lineOf(facts));
  if (losses.length === 0) line.append(el("span", { class: "complete" }, "Nothing was lost. "));
  if (notes.length > 0) {
    line.append(el("span", { class: "soft" }, notes.length === 1 ? notes[0]!
      : `${notes.length} notes: ${notes.join("; ")}`));
  }
  byId("quality-facts").replaceChildren(...facts.flatMap(({ name, severity, value, text }) =>
    [el("dt", { class: severity }, `${name} ${value}`), el("dd", {}, text)]));
  byId("quality").classList.toggle("plain", facts.length + notes.length === 0);
  byId("quality").hidden = line.textContent === "";
}
