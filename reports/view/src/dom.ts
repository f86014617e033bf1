// Small helpers for elements.

import type { Parts } from "./model/names.js";

type Attributes = Record<string, string | number | boolean | undefined>;

/** Makes an element with any attributes (`class`, `role`, `aria-...`). Those that are true are
 * empty. */
export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/** Returns a function that requests a call of `draw` in the next frame, however often it is
 * called. */
export function oncePerFrame(draw: () => void): () => void {
  let requested = false;
  return () => {
    if (requested) return;
    requested = true;
    requestAnimationFrame(() => {
      requested = false;
      draw();
    });
  };
}

/** Formats a method's name, with its package and arguments paler. */
export function methodName([before, main, after]: Parts): HTMLElement {
  return el("span", { class: "method" }, el("span", { class: "soft" }, before),
            el("span", {}, main), el("span", { class: "soft" }, after));
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Formats a value with its name before it. */
export function pair(name: string, value: string): HTMLElement {
  return el("span", { class: "pair" }, el("span", { class: "soft" }, name), " ", el("b", {}, value));
}

export function button(text: string, title: string, action: () => void): HTMLButtonElement {
  const element = el("button", { type: "button", title }, text);
  element.addEventListener("click", action);
  return element;
}

export function select(label: string, choices: [string, string][], value: string,
                       change: (value: string) => void): HTMLLabelElement {
  const list = el("select", { "aria-label": label });
  setChoices(list, choices, value);
  list.addEventListener("change", () => change(list.value));
  return el("label", { class: "choice" }, el("span", {}, label), list);
}

export function setChoices(list: HTMLSelectElement, choices: [string, string][],
                           value: string): void {
  list.replaceChildren(...choices.map(([key, text]) =>
    el("option", { value: key, selected: key === value }, text)));
  list.value = value;
}

/** Returns a function that runs the action when it has not been called for this time. */
export function delayed(ms: number, action: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(action, ms);
  };
}
