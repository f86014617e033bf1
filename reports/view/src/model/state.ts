// Keeps what the user has chosen in one object, which links contain and views react to.

import type { NameForm } from "./names.js";

/** All tabs, from left to right. A page has those that tabs/tabs.ts lists for its data. */
export const VIEWS = ["treemap", "locks", "flame", "tree", "classes", "groups", "suspects", "methods",
                      "contexts", "plot", "heat", "time", "timeline", "growth",
                      "directives"] as const;
export type ViewName = typeof VIEWS[number];

export interface State {
  view: ViewName | "";                   // "": the first tab
  measure: string;                       // its label, or "" for the first metric
  layout: "calls" | "callers" | "sandwich";
  order: "heavy" | "file";
  grow: "down" | "up";
  colour: "" | "type" | "package" | "class" | "difference";   // "": what fits the profile
  names: NameForm;
  collapse: string[];                    // packages and modules of which each is one frame
  hide: string[];                        // patterns of methods whose frames are removed
  merge: boolean;                        // threads are one tree
  row: number;                           // selected context, or -1
  method: number;                        // selected method, or -1
  zoom: number;                          // the row that fills the flame graph, or -1 for all
  search: string;
  package: string;
  thread: string;
  filter: string;
  min: number;                           // percent; smaller rows are hidden in tables
  metrics: [string, string][];           // computed, as name and expression
  filters: [string, string][];           // name, filter
  marked: number[];                      // methods, marked in the plot
  x: string;
  y: string;
  logarithmic: boolean;
  span: string;                          // columns of the heat map, as 3-7; "": all
  heat: "own" | "calls";                 // what the heat map shows
  only: string;                          // which stretches are selected
  sets: [string, string][];              // name, selection of stretches
  ratios: [string, string][];            // computed metrics of stretches
  program: string;                       // of jprof optimize, by its title, or "" for the first one
  theme: "" | "light" | "dark";
}

export const INITIAL: State = {
  view: "", measure: "", layout: "calls", order: "heavy", grow: "down", colour: "",
  names: "full", collapse: [], hide: [], merge: false, row: -1, method: -1, zoom: -1, search: "",
  package: "", thread: "", filter: "", min: 0, metrics: [], filters: [], marked: [], x: "", y: "", logarithmic: true,
  span: "", heat: "own", only: "", sets: [], ratios: [], program: "", theme: "",
};

export type Changed = ReadonlySet<keyof State>;

const MAKES_TREE: Changed = new Set(["merge", "collapse", "hide"]);

export class Store {
  private current: State;
  private readonly listeners: ((changed: Changed) => void)[] = [];

  constructor(state: State) {
    this.current = state;
  }
  get state(): Readonly<State> {
    return this.current;
  }
  subscribe(listener: (changed: Changed) => void): void {
    this.listeners.push(listener);
  }

  set(patch: Partial<State>): void {
    const keys = (Object.keys(patch) as (keyof State)[]).filter(
      (key) => JSON.stringify(patch[key]) !== JSON.stringify(this.current[key]));
    if (keys.length === 0) return;
    this.current = { ...this.current, ...patch };
    const changed = new Set(keys);
    // Numbers of rows are those of one tree and mean nothing in another one.
    if (keys.some((key) => MAKES_TREE.has(key))) this.forget(changed, ["row", "zoom"]);
    if (changed.has("layout")) this.forget(changed, ["zoom"]);
    for (const listener of this.listeners) listener(changed);
  }

  private forget(changed: Set<keyof State>, keys: ("row" | "zoom")[]): void {
    for (const key of keys) {
      if (!changed.has(key)) this.current = { ...this.current, [key]: -1 };
      changed.add(key);
    }
  }
}
