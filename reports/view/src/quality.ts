// Shows in one line how much the profile can be trusted. A click shows the rest.

import { byId, el } from "./dom.js";
import type { Header, Quality } from "./model/data.js";

const GRADES = { severe: "poor", major: "fair", minor: "good", info: "good" };
const WORST = 3;   // facts in the line

function lineOf(facts: Quality[]): (Node | string)[] {
  const [worst] = facts;
  if (!worst) return [];
  const grade = GRADES[worst.severity];
  const shown = facts.filter(({ severity }) => severity !== "info").slice(0, WORST);
  return [el("b", { class: `grade ${grade}` }, `Quality: ${grade}.`), " ",
          ...shown.length > 0 ? [shown.map(({ text }) => text).join("; ") + ". "] : []];
}

export function showQuality({ quality, losses, notes }: Header): void {
  const facts = quality ?? [];   // the worst first
  const line = byId("quality-line");
  line.replaceChildren(...lineOf(facts));
  if (losses.length === 0) line.append(el("span", { class: "complete" }, "Nothing was lost. "));
  if (facts.length === 0 && notes.length > 0) {   // facts say what notes do
    line.append(el("span", { class: "soft" }, notes.length === 1 ? notes[0]!
      : `${notes.length} notes: ${notes.join("; ")}`));
  }
  byId("quality-facts").replaceChildren(...facts.flatMap(({ severity, text, means, advice }) =>
    [el("dt", { class: severity }, text), el("dd", {}, `${means} ${advice}`.trim())]));
  byId("quality").classList.toggle("plain", facts.length + notes.length === 0);
  byId("quality").hidden = line.textContent === "";
}
