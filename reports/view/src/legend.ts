// Shows in the help what a tab's columns, colours and letters mean.

import { el } from "./dom.js";
import { TYPE_NAMES } from "./model/names.js";
import type { Tree } from "./model/tree.js";
import type { Legend } from "./view.js";

/** Returns the letters of the rows, sorted by frequency. */
function lettersOf(tree: Tree): string[] {
  const counts = new Uint32Array(256);
  for (let row = 0; row < tree.length; ++row) ++counts[tree.type[row]!]!;
  return Array.from(counts.keys()).filter((type) => type !== 32 && counts[type]! > 0)
    .sort((a, b) => counts[b]! - counts[a]!).map((type) => String.fromCharCode(type));
}

function section(title: string, terms: [Node, string][]): Node[] {
  if (terms.length === 0) return [];
  return [el("h3", {}, title), el("dl", {}, ...terms.flatMap(([term, meaning]) =>
    [el("dt", {}, term), el("dd", {}, meaning)]))];
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const letter = (one: string) => el("span", { class: `letter t${one}` }, one);

export function showLegend(place: HTMLElement, legend: Legend, tree: Tree): void {
  place.replaceChildren(
    ...legend.about.map((text) => el("p", {}, text)),
    ...section("Columns", legend.columns.map(([title, meaning]) =>
      [el("b", {}, title), capital(meaning)])),
    ...section("Colours", legend.colours.map(({ colour, text }) =>
      [el("i", { class: "swatch", style: `background:${colour}` }), text])),
    ...section("Letters", lettersOf(tree).map((one) => [letter(one), capital(TYPE_NAMES[one] ?? "other")])));
}
