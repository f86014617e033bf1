// Makes deep links: the state as the part of the address behind #. Initial values are left out. A
// method is written by its name, so that a link also fits a newer profile of the program.

import { NAME_FORMS, type Names } from "./names.js";
import { INITIAL, VIEWS, type State } from "./state.js";

/** What links write before the names of pairs. */
const PAIRS = { metrics: "m.", filters: "f.", sets: "s.", ratios: "r." } as const;
type PairKey = keyof typeof PAIRS;
const PAIR_KEYS = Object.keys(PAIRS) as PairKey[];

const ENUMS = {
  view: VIEWS,
  layout: ["calls", "callers", "sandwich"],
  order: ["heavy", "file"],
  grow: ["down", "up"],
  colour: ["", "type", "package", "class", "difference"],
  names: NAME_FORMS,
  heat: ["own", "calls"],
  theme: ["", "light", "dark"],
} as const;

export function toLink(state: Readonly<State>, names: Names): string {
  const parts = new URLSearchParams();
  for (const key of Object.keys(INITIAL) as (keyof State)[]) {
    const value = state[key];
    if (value === INITIAL[key]) continue;
    if (key === "method") parts.set(key, names.of(state.method));
    else if (isPair(key)) state[key].forEach(([name, text]) => parts.set(PAIRS[key] + name, text));
    else if (key === "collapse" || key === "hide") {
      state[key].forEach((pattern) => parts.append(key, pattern));
    } else if (key === "marked") state.marked.forEach((one) => parts.append(key, names.of(one)));
    else parts.set(key, String(value));
  }
  return parts.toString() === "" ? "" : `#${withView(parts, state)}`;
}

function isPair(key: keyof State): key is PairKey {
  return Object.hasOwn(PAIRS, key);
}

function withView(parts: URLSearchParams, state: Readonly<State>): string {
  parts.delete("view");
  // The link is more readable where the address allows these characters.
  const rest = parts.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
  const view = state.view && `view=${state.view}`;
  return [view, rest].filter((part) => part !== "").join("&");
}

/** Returns the state that a link sets. Unknown parts are ignored. */
export function fromLink(hash: string, names: Names): State {
  const state: State = { ...INITIAL, metrics: [], filters: [], sets: [], ratios: [], marked: [],
                         collapse: [], hide: [] };
  // A selected method may be a group.
  const indexOf = (name: string) =>
    (state.collapse.includes(name) ? names.group(name) : names.texts.indexOf(name));
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const pair = PAIR_KEYS.find((one) => key.startsWith(PAIRS[one]));
    if (pair) state[pair].push([key.slice(PAIRS[pair].length), value]);
    else if (key === "collapse" || key === "hide") state[key].push(value);
    else if (key === "method") state.method = indexOf(value);
    else if (key === "marked" && indexOf(value) >= 0) state.marked.push(indexOf(value));
    else if (Object.hasOwn(ENUMS, key)) setEnum(state, key as keyof typeof ENUMS, value);
    else if (Object.hasOwn(INITIAL, key)) setPlain(state, key as keyof State, value);
  }
  return state;
}

function setEnum(state: State, key: keyof typeof ENUMS, value: string): void {
  if ((ENUMS[key] as readonly string[]).includes(value)) Object.assign(state, { [key]: value });
}

/** Rows must be whole numbers, because walks up the tree begin at them. */
function isNumberFor(key: keyof State, value: number): boolean {
  return key === "row" || key === "zoom" ? Number.isInteger(value) : Number.isFinite(value);
}

function setPlain(state: State, key: keyof State, value: string): void {
  const initial = INITIAL[key];
  if (typeof initial === "boolean") Object.assign(state, { [key]: value === "true" });
  else if (typeof initial === "number" && isNumberFor(key, Number(value)) && value !== "") {
    Object.assign(state, { [key]: Number(value) });
  } else if (typeof initial === "string") Object.assign(state, { [key]: value });
}
