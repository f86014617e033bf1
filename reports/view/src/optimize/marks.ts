// Provides the colours of marks in plots, and what a legend shows of them.

import { el } from "../dom.js";
import type { Shape } from "../scatter.js";

/** Returns the value of a property of the page's style, such as `--good`. */
export function ownColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const SIGNS: Record<Shape | "line" | "dashes", string> = {
  disc: "●", ring: "○", cross: "✕", square: "■", line: "──", dashes: "╌╌",
};

export function shapeEntry(shape: keyof typeof SIGNS, colour: string, text: string): HTMLElement {
  return el("span", {}, el("b", { style: `color: var(${colour})`, "aria-hidden": "true" },
                           SIGNS[shape]), ` ${text}`);
}
