// Defines what all tabs have in common.

import type { LegendEntry } from "./colours.js";
import type { Model } from "./model/model.js";
import type { Changed, Store } from "./model/state.js";

export interface Context {
  model: Model;
  store: Store;
  isDark(): boolean;
}

/** Explains what a tab shows, as far as it is not the same in all tabs. */
export interface Legend {
  about: string[];                          // paragraphs
  columns: [title: string, meaning: string][];
  colours: LegendEntry[];
}

export interface View {
  /** Must be called only while the tab is visible. `changed` is null the first time. */
  update(changed: Changed | null): void;
  focus(): void;
  legend(): Legend;
  back?(): boolean;   // for Escape; returns true if handled
}

/** Selects a row of the tree, and with it its method. */
export function selectRow({ model, store }: Context, row: number): void {
  const code = model.tree.code[row];
  store.set({ row, method: code !== undefined && code < 0xffffffff ? code : -1 });
}

/** Keys of the state on which the rows of every tab depend. */
export const DATA_KEYS = ["measure", "merge", "package", "thread", "filter", "filters", "metrics",
                          "marked", "names", "collapse", "hide"] as const;

export function hasAny(changed: Changed | null, keys: readonly string[]): boolean {
  return changed === null || keys.some((key) => (changed as ReadonlySet<string>).has(key));
}
