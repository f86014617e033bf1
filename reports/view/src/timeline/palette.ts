// Chooses the colours of states and threads: those of Okabe and Ito, which people who see few
// colours can tell apart.

import { cssOf, pixel, type LegendEntry } from "../colours.js";
import { waitSlots } from "../model/stretch_pixels.js";
import type { Stretches } from "../model/stretches.js";

type Rgb = [number, number, number];

const BLUE: Rgb = [0, 114, 178];
const VERMILLION: Rgb = [213, 94, 0];
const PURPLE: Rgb = [204, 121, 167];
const SKY: Rgb = [86, 180, 233];
const GREEN: Rgb = [0, 158, 115];
const YELLOW: Rgb = [240, 228, 66];
const ORANGE: Rgb = [230, 159, 0];

/** Reasons that share a colour, by name. */
const WAITS: { reasons: string[]; text: string; colour: Rgb; dark?: Rgb }[] = [
  { reasons: ["lock"], text: "lock", colour: PURPLE },
  { reasons: ["park", "wait"], text: "park, wait", colour: SKY },
  { reasons: ["input", "poll"], text: "input, poll", colour: GREEN },
  { reasons: ["collection"], text: "collection", colour: YELLOW },
  { reasons: ["fault"], text: "fault", colour: ORANGE },
  // What idle threads do most of the time is not loud.
  { reasons: ["futex"], text: "futex", colour: [226, 212, 230], dark: [84, 72, 94] },
  { reasons: ["sleep"], text: "sleep", colour: [208, 211, 216], dark: [60, 64, 71] },
];
const OTHER: Rgb = [150, 154, 162];
const IDLE: [light: Rgb, dark: Rgb] = [[208, 211, 216], [60, 64, 71]];
const THREADS: Rgb[] = [BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW];

function mixed(a: Rgb, b: Rgb, part: number): Rgb {
  return a.map((x, i) => Math.round(x + (b[i]! - x) * part)) as Rgb;
}

/** Colours by slot: first those of selected rows, then those of others. */
export interface Palette {
  fill: Uint32Array;
  text: Uint32Array;         // of a label on it
  legend: LegendEntry[];
  slots: number;
}

function paletteOf(colours: [Rgb, string][], dark: boolean): Palette {
  const page: Rgb = dark ? [24, 26, 29] : [255, 255, 255];
  const all = [...colours.map(([rgb]) => rgb), ...colours.map(([rgb]) => mixed(rgb, page, 0.8))];
  const isBright = ([r, g, b]: Rgb) => 0.3 * r + 0.59 * g + 0.11 * b > 120;
  return {
    fill: Uint32Array.from(all, pixel),
    text: Uint32Array.from(all, (rgb) => pixel(isBright(rgb) ? [20, 20, 20] : [255, 255, 255])),
    legend: colours.map(([rgb, text]) => ({ colour: cssOf(pixel(rgb)), text })),
    slots: colours.length,
  };
}

export function statePalette(dark: boolean): Palette {
  return paletteOf([
    [BLUE, "running"], [VERMILLION, "ready, not running"],
    ...WAITS.map(({ colour, dark: onDark, text }): [Rgb, string] =>
      [dark && onDark ? onDark : colour, text]),
    [OTHER, "other waits"],
  ], dark);
}
/** Returns the slot of each reason. */
export function slotsOfReasons({ info }: Stretches): Uint8Array {
  return waitSlots(info.reasons.map(([name]) => name), WAITS.map(({ reasons }) => reasons));
}

export interface ThreadColours {
  slotOf: Uint8Array;        // by thread
  palette: Palette;
}

/** Gives the threads of the program that ran longest a colour of their own. */
export function threadColours({ info, ran }: Stretches, dark: boolean): ThreadColours {
  const ranked = Array.from(ran.keys()).filter((i) => info.threads[i]!.program && ran[i]! > 0)
    .sort((a, b) => ran[b]! - ran[a]!).slice(0, THREADS.length);
  const slotOf = Uint8Array.from(info.threads, ({ program }) =>
    (program ? THREADS.length : THREADS.length + 1));
  ranked.forEach((thread, rank) => { slotOf[thread] = rank; });
  const palette = paletteOf([
    ...THREADS.map((colour, rank): [Rgb, string] =>
      [colour, info.threads[ranked[rank] ?? -1]?.name ?? ""]),
    [OTHER, "other threads of the program"],
    [IDLE[dark ? 1 : 0], "other programs"],
  ], dark);
  palette.legend = palette.legend.filter(({ text }) => text !== "");
  return { slotOf, palette };
}
