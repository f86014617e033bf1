// Reads the data, makes the views, and keeps the views, the state and the address consistent.

import { Controls } from "./controls.js";
import { DataFile, decodeBase64, inflate } from "./model/data.js";
import { byId, delayed } from "./dom.js";
import { showLegend } from "./legend.js";
import { fromLink, toLink } from "./model/link.js";
import { Model } from "./model/model.js";
import { INITIAL, Store, VIEWS, type Changed, type ViewName } from "./model/state.js";
import { Summary } from "./summary.js";
import type { Context, View } from "./view.js";
import { TABS } from "./tabs/tabs.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");

class App {
  private readonly views = new Map<ViewName, { view: View; missed: Set<string> | null }>();
  private readonly summary: Summary;
  private readonly controls: Controls;
  private readonly context: Context;
  private readonly tabs: ViewName[];
  private readonly writeLink = delayed(150, () => this.linkNow());

  constructor(private readonly model: Model, private readonly store: Store) {
    this.context = { model, store, isDark: () => this.isDark() };
    this.applyTheme();
    this.summary = new Summary(this.context);
    this.controls = new Controls(this.context);
    this.tabs = VIEWS.filter((name) => TABS[name].isIn(model));
    if (model.header.heap) byId("tab-tree").textContent = "Dominators";
    const { kind } = model.header;
    const isOptimized = kind === "optimize";   // a page without methods
    const hasRows = kind !== "timeline" && kind !== "scale" && !isOptimized;
    byId("more").hidden = kind === "heap" || !hasRows;   // filters are about calls
    for (const id of ["measure", "search"]) byId(id).parentElement!.hidden = !hasRows;
    byId("names").parentElement!.hidden = isOptimized;
    if (isOptimized || kind === "scale") byId("overview").hidden = true;
    if (isOptimized) byId("quality").hidden = true;
    for (const name of VIEWS) byId(`tab-${name}`).hidden = !this.tabs.includes(name);
    for (const part of document.querySelectorAll<HTMLElement>("#help [data-tab]")) {
      part.hidden = !this.tabs.some((name) => name === part.dataset.tab);
    }
    for (const name of this.tabs) {
      byId(`tab-${name}`).addEventListener("click", () => store.set({ view: name }));
    }
    byId("tabs").addEventListener("keydown", (event) => this.tabKey(event));
    byId("theme").addEventListener("click", () =>
      store.set({ theme: this.isDark() ? "light" : "dark" }));
    byId("help-button").addEventListener("click", () => this.help());
    byId("help-close").addEventListener("click", () => byId<HTMLDialogElement>("help").close());
    document.addEventListener("keydown", (event) => this.key(event));
    DARK.addEventListener("change", () => this.update(new Set(["theme"])));
    window.addEventListener("hashchange", () => this.follow());
    store.subscribe((changed) => this.update(changed));
    this.update(null);
  }

  /** Returns the tab that is shown. A link may name one that this page does not have. */
  private get view(): ViewName {
    const { view } = this.store.state;
    return this.tabs.find((one) => one === view) ?? this.tabs[0]!;
  }
  private isDark(): boolean {
    const { theme } = this.store.state;
    return theme === "dark" || (theme === "" && DARK.matches);
  }
  private applyTheme(): void {
    document.documentElement.dataset.theme = this.isDark() ? "dark" : "light";
  }

  private update(changed: Changed | null): void {
    const name = this.view;
    if (changed === null || changed.has("theme")) this.applyTheme();
    this.model.names.form = this.store.state.names;
    if (changed === null || changed.has("view")) this.showTab(name);
    this.controls.update(changed);
    this.summary.update(changed);
    for (const [other, entry] of this.views) {
      if (other !== name) for (const key of changed ?? []) entry.missed?.add(key);
    }
    this.updateView(name, changed);
    if (changed !== null) this.writeLink();
  }

  /** Updates a view, also with the changes that it missed while its tab was hidden. */
  private updateView(name: ViewName, changed: Changed | null): void {
    const entry = this.views.get(name);
    if (!entry) {
      const view = new TABS[name].make(this.context, byId(`panel-${name}`));
      this.views.set(name, { view, missed: new Set() });
      view.update(null);
      return;
    }
    const all = new Set([...(changed ?? []), ...(entry.missed ?? [])]) as Changed;
    entry.missed = new Set();
    entry.view.update(all);
  }

  private showTab(name: ViewName): void {
    for (const one of VIEWS) {
      const isShown = one === name;
      byId(`panel-${one}`).hidden = !isShown;
      const tab = byId(`tab-${one}`);
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
    }
    document.body.classList.toggle("first-tab", name === this.tabs[0]);
  }

  private tabKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = this.tabs.indexOf(this.view);
    const next = this.tabs[(at + step + this.tabs.length) % this.tabs.length]!;
    this.store.set({ view: next });
    byId(`tab-${next}`).focus();
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (byId<HTMLDialogElement>("help").open) return;
    if (event.key === "Escape") {
      if (target instanceof HTMLInputElement) target.blur();
      else this.views.get(this.view)?.view.back?.();
      return;
    }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (event.key === "?") this.help();
    else if (event.key === "/") {
      event.preventDefault();
      byId<HTMLInputElement>("search").select();
    } else if (event.key >= "1" && event.key <= String(this.tabs.length)) {
      this.store.set({ view: this.tabs[Number(event.key) - 1]! });
      this.views.get(this.view)!.view.focus();
    } else if (event.key === "t") byId("theme").click();
    else if (event.key === "f" && !byId("more").hidden) byId("more").click();
  }

  /** Shows what the tab means, and all keys. */
  private help(): void {
    showLegend(byId("legend"), this.views.get(this.view)!.view.legend(), this.model.tree);
    byId("help-title").textContent = byId(`tab-${this.view}`).textContent;
    byId<HTMLDialogElement>("help").showModal();
    byId("help-content").scrollTop = 0;
  }

  private linkNow(): void {
    const hash = toLink(this.store.state, this.model.names);
    if (hash === location.hash) return;
    history.replaceState(null, "", hash || location.pathname + location.search);
  }

  /** Follows an address that the user edited, or a link within the page. */
  private follow(): void {
    if (toLink(this.store.state, this.model.names) === location.hash) return;
    this.store.set(fromLink(location.hash, this.model.names));
  }
}

async function main(): Promise<void> {
  const element = byId("jprof-data");
  if (!element) throw new Error("This page has no data: jprof report html writes one with data.");
  performance.mark("jprof:begin");
  const bytes = decodeBase64(element.textContent ?? "");
  element.remove();
  performance.mark("jprof:decoded");
  const file = new DataFile(await inflate(bytes));
  performance.mark("jprof:inflated");
  const start = { state: { ...INITIAL } };
  const probe = new Model(file, start);
  const store = new Store(fromLink(location.hash, probe.names));
  probe.store = store;
  performance.mark("jprof:model");
  byId("loading").hidden = true;
  byId("page").hidden = false;
  new App(probe, store);
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("jprof:first-frame")));
}

main().catch((problem: unknown) => {
  byId("loading").textContent = problem instanceof Error ? problem.message : String(problem);
  console.error(problem);
});
