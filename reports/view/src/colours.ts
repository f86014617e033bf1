// Chooses colours of rows: by type, by package, by difference. A row's colour is a slot in a small
// palette.

import { isWithinError, type Kind } from "./model/format.js";
import { TYPE_NAMES, type Names } from "./model/names.js";
import { NO_ROW, type Tree } from "./model/tree.js";

export interface LegendEntry {
  colour: string;
  text: string;
}

export interface Paint {
  fill: Uint32Array;             // by slot: pixels
  dim: Uint32Array;              // where a search does not match
  slot(row: number): number;
  legend: LegendEntry[];
}

export interface Theme {
  dark: boolean;
  background: number;
  text: number;
  rest: number;       // rows too narrow to draw
  match: number;
  selected: number;
  guide: number;
}

type Rgb = [number, number, number];

export function pixel([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
/** Returns the colour of a pixel for a style. */
export function cssOf(value: number): string {
  return css([value & 255, (value >> 8) & 255, (value >> 16) & 255]);
}
function css([r, g, b]: Rgb): string {
  return `rgb(${r}, ${g}, ${b})`;
}
function mixed(a: Rgb, b: Rgb, part: number): Rgb {
  return a.map((x, i) => Math.round(x + (b[i]! - x) * part)) as Rgb;
}

function hsl(h: number, s: number, l: number): Rgb {
  const channel = (n: number) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const PAGE = { light: [255, 255, 255] as Rgb, dark: [24, 26, 29] as Rgb };

export function themeOf(dark: boolean): Theme {
  return dark
    ? { dark, background: pixel(PAGE.dark), text: pixel([240, 240, 240]), rest: pixel([52, 55, 60]),
        match: pixel([190, 60, 160]), selected: pixel([255, 255, 255]), guide: pixel([70, 74, 80]) }
    : { dark, background: pixel(PAGE.light), text: pixel([25, 25, 25]),
        rest: pixel([226, 228, 231]), match: pixel([238, 130, 220]), selected: pixel([0, 0, 0]),
        guide: pixel([190, 194, 200]) };
}

// From slow to fast code: red, amber, green. Code that is not Java: blue, violet. Hue, saturation.
const TYPES: [letters: string, hue: number, saturation: number][] = [
  ["I", 8, 0.75], ["J", 40, 0.8], ["RW", 140, 0.4], ["L", 95, 0.42], ["NnF", 210, 0.6],
  ["K", 268, 0.5], ["O-", 210, 0.08], ["G", 320, 0.3], ["T", 215, 0.12], ["P", 215, 0.12], ["M", 190, 0.3],
  ["S", 140, 0.4],
];
const SHADES = 4;

function shade(hue: number, saturation: number, step: number, dark: boolean): Rgb {
  return dark ? hsl(hue, saturation * 0.75, 0.27 + 0.03 * step)
              : hsl(hue, saturation, 0.80 - 0.035 * step);
}

function palette(colours: Rgb[], dark: boolean): Pick<Paint, "fill" | "dim"> {
  const page = dark ? PAGE.dark : PAGE.light;
  return {
    fill: Uint32Array.from(colours, pixel),
    dim: Uint32Array.from(colours, (colour) => pixel(mixed(colour, page, 0.72))),
  };
}

function scattered(value: number): number {
  return (Math.imul(value, 0x9e3779b1) >>> 16) % SHADES;
}

/** What has a method and a type in each row. */
type Typed = Pick<Tree, "method" | "type" | "length">;

export function paintByType(tree: Typed, dark: boolean): Paint {
  const byLetter = new Uint8Array(256).fill(6);  // O
  TYPES.forEach(([letters], i) => {
    for (const letter of letters) byLetter[letter.charCodeAt(0)] = i;
  });
  const colours = TYPES.flatMap(([, hue, saturation]) =>
    Array.from({ length: SHADES }, (_, step) => shade(hue, saturation, step, dark)));
  const used = usedTypes(tree);
  return {
    ...palette(colours, dark),
    slot: (row) => byLetter[tree.type[row]!]! * SHADES + scattered(tree.method[row]!),
    legend: TYPES.flatMap(([letters, hue, saturation], i) => (used[i]
      ? [{ colour: css(shade(hue, saturation, 1, dark)),
           text: i === 4 ? "native" : (TYPE_NAMES[letters[0]!] ?? "").replace("compiled by ", "") }]
      : [])),
  };
}

const HUES = [210, 30, 150, 275, 350, 95, 185, 55, 320, 240, 120, 15];

/** Is 1 for each entry of TYPES that a column of types has. */
const usedByColumn = new WeakMap<Uint8Array, Uint8Array>();

function usedTypes(tree: Typed): Uint8Array {
  const known = usedByColumn.get(tree.type);
  if (known) return known;
  const letters = new Uint8Array(256);
  for (let row = 0; row < tree.length; ++row) letters[tree.type[row]!] = 1;
  const used = Uint8Array.from(TYPES, ([list]) =>
    (Array.from(list).some((letter) => letters[letter.charCodeAt(0)]) ? 1 : 0));
  usedByColumn.set(tree.type, used);
  return used;
}

/** Returns whether all code of a tree is of one type, so that colours by type would be one. */
export function hasOneColour(tree: Typed): boolean {
  const containers = ["T", "P", "M"];
  return usedTypes(tree).filter((isUsed, i) => isUsed && !containers.includes(TYPES[i]![0]))
    .length < 2;
}

/** Names of groups, and the group of each row. */
export interface Grouping {
  names: string[];
  of(row: number): number;
}

class Numbering {
  readonly names: string[] = [];
  private readonly index = new Map<string, number>();
  of(name: string): number {
    let found = this.index.get(name);
    if (found === undefined) this.index.set(name, found = this.names.push(name) - 1);
    return found;
  }
}

export function byPackage(tree: Tree, names: Names): Grouping {
  const numbering = new Numbering();
  const ofMethod = Int32Array.from(names.texts, (_, method) => numbering.of(names.packageOf(method)));
  return { names: numbering.names, of: (row) => ofMethod[tree.method[row]!]! };
}

/** Groups rows of a heap dump by class. */
export function byClass(tree: Tree, names: Names): Grouping {
  const groups = names.texts.map((_, name) => (names.isClass(name) ? names.short(name) : ""));
  return { names: groups, of: (row) => tree.method[row]! };
}

/** Groups rows of tprof by the module above the row. */
export function byModule(tree: Tree, names: Names): Grouping {
  const numbering = new Numbering();
  const none = numbering.of("");
  const ofRow = new Int32Array(tree.length);
  for (let row = 0; row < tree.length; ++row) {
    const above = tree.parent[row]!;
    if (tree.type[row] === 77) {
      ofRow[row] = numbering.of(names.of(tree.method[row]!).replace(/^.*\//, ""));
    } else ofRow[row] = above === NO_ROW ? none : ofRow[above]!;
  }
  return { names: numbering.names, of: (row) => ofRow[row]! };
}

/** Gives the groups with the largest sums a colour of their own. */
export function paintByGroup(tree: Tree, group: Grouping, weight: Float64Array,
                             dark: boolean): Paint {
  const { names } = group;
  const sums = new Float64Array(names.length);
  for (let row = 0; row < tree.length; ++row) sums[group.of(row)]! += Math.max(0, weight[row]!);
  const ranked = names.map((_, i) => i).filter((i) => names[i] !== "" && sums[i]! > 0)
    .sort((a, b) => sums[b]! - sums[a]!).slice(0, HUES.length);
  const slots = new Uint8Array(names.length);
  ranked.forEach((one, rank) => { slots[one] = rank + 1; });
  const colours = [shade(215, 0.1, 1, dark), ...HUES.map((hue, i) =>
    shade(hue, i < 6 ? 0.6 : 0.45, i % 2 ? 2 : 1, dark))];
  return {
    ...palette(colours, dark),
    slot: (row) => slots[group.of(row)]!,
    legend: [
      ...ranked.map((one, rank) => ({ colour: css(colours[rank + 1]!), text: names[one]! })),
      { colour: css(colours[0]!), text: "other" },
    ],
  };
}

const STEPS = 10;

/** Paints red where the new value is higher, blue where it is lower, and grey within the error. */
export function paintByDifference(tree: Tree, before: number, after: number, kinds: Kind[],
                                  dark: boolean): Paint {
  const [was, is] = [tree.cum(before), tree.cum(after)];
  const [wasKind, isKind] = [kinds[before]!, kinds[after]!];
  const [wasError, isError] = [tree.cumError(before), tree.cumError(after)];
  const neutral: Rgb = dark ? [62, 66, 72] : [222, 224, 228];
  const [more, less]: Rgb[] = dark ? [[200, 66, 52], [52, 112, 200]]
                                   : [[238, 108, 90], [95, 155, 235]];
  const colours = Array.from({ length: 2 * STEPS + 1 }, (_, i) =>
    mixed(neutral, i < STEPS ? less! : more!, Math.abs(i - STEPS) / STEPS));
  const slot = (row: number) => {
    const difference = is[row]! - was[row]!;
    if (isWithinError({ value: was[row]!, error: wasError?.[row] ?? 0, kind: wasKind },
                      { value: is[row]!, error: isError?.[row] ?? 0, kind: isKind })) return STEPS;
    const part = difference / Math.max(Math.abs(is[row]!), Math.abs(was[row]!));
    return STEPS + Math.max(-STEPS, Math.min(STEPS, Math.round(part * 1.5 * STEPS)));
  };
  return {
    ...palette(colours, dark), slot,
    legend: [{ colour: css(colours[0]!), text: "less" },
             { colour: css(neutral), text: "same, within the error" },
             { colour: css(colours[2 * STEPS]!), text: "more" }],
  };
}
