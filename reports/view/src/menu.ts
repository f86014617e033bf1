// Shows the menu of a method: collapse its package or module, hide it, or show it in another tab.

import { button, el } from "./dom.js";
import type { Context } from "./view.js";

type Action = [text: string, title: string, act: () => void];

/** Returns the package `a.b.c` and those around it that have at least two parts, or the module. */
function packagesAround(name: string, isJava: boolean): string[] {
  const parts = name.split(".");
  const shortest = Math.min(2, parts.length);
  if (!isJava) return [name];
  return parts.map((_, i) => parts.slice(0, parts.length - i).join("."))
    .filter((one) => one.split(".").length >= shortest).slice(0, 4);
}

function actionsOf({ model, store }: Context, method: number): Action[] {
  const { names } = model;
  const { collapse, hide } = store.state;
  if (model.header.heap) return [];   // objects are not code that can be collapsed
  const name = names.of(method);
  const group = names.packageOf(method);
  const actions: Action[] = [];
  if (collapse.includes(name)) {
    actions.push([`Expand ${name}`, "Shows its methods again",
                  () => store.set({ collapse: collapse.filter((one) => one !== name) })]);
  } else if (group !== "") {
    const isJava = names.isJava(method);
    actions.push(...packagesAround(group, isJava).map((one): Action =>
      [`Collapse ${one}`, `Shows all of this ${isJava ? "package" : "module"} as one frame`,
       () => store.set({ collapse: [...collapse.filter((old) => old !== one), one] })]));
  }
  if (names.isMethod(method)) {
    const text = names.forms(method)[1] ?? name;
    actions.push([`Hide ${text}`, "Adds its own cost to its callers",
                  () => store.set({ hide: [...hide, text] })]);
    actions.push(
      ["Show its callers and callees", "In the flame graph", () =>
        store.set({ method, view: "flame", layout: "sandwich", zoom: -1 })],
      ["Show its contexts", "In the tab Contexts", () => store.set({ method, view: "contexts" })]);
  }
  return actions;
}

/** Opens the menu of a method where the event was. */
export function openMenu(context: Context, event: MouseEvent, method: number): void {
  const actions = actionsOf(context, method);
  if (actions.length === 0) return;
  event.preventDefault();
  const menu = el("dialog", { class: "menu", role: "menu" });
  menu.append(...actions.map(([text, title, act]) => {
    const item = button(text, title, () => {
      menu.close();
      act();
    });
    item.setAttribute("role", "menuitem");
    return item;
  }));
  menu.addEventListener("keydown", (key) => moveFocus(menu, key));
  menu.addEventListener("click", (click) => {
    if (click.target === menu) menu.close();   // outside of its items
  });
  menu.addEventListener("close", () => menu.remove());
  document.body.append(menu);
  menu.showModal();
  const place = (at: number, size: number, most: number) =>
    `${Math.max(0, Math.min(at, most - size))}px`;
  menu.style.left = place(event.clientX, menu.offsetWidth, innerWidth);
  menu.style.top = place(event.clientY, menu.offsetHeight, innerHeight);
  (menu.firstElementChild as HTMLElement).focus();
}

function moveFocus(menu: HTMLElement, event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  event.stopPropagation();
  if (step === 0) return;
  event.preventDefault();
  const items = Array.from(menu.children) as HTMLElement[];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + step + items.length) % items.length]!.focus();
}

/** Makes a button that opens the menu of a method. */
export function menuButton(context: Context, method: number): HTMLButtonElement {
  const made = button("Collapse or hide …", "Shows its package or module as one frame, or hides the method",
                      () => undefined);
  made.addEventListener("click", (event) => openMenu(context, event, method));
  return made;
}
