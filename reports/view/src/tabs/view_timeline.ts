// Shows when threads ran and why they did not: processors, strips of metrics and threads over time,
// and the sums of what is selected in them, by an expression or in a table.

import { pixel, themeOf } from "../colours.js";
import { button, delayed, el, pair, select } from "../dom.js";
import { formatValue } from "../model/format.js";
import { ProcessorPixels, StatePixels } from "../model/stretch_pixels.js";
import { StretchSelection } from "../model/stretch_selection.js";
import type { Changed } from "../model/state.js";
import type { Stretches } from "../model/stretches.js";
import { GROUPINGS, GroupsPanel, type Grouping } from "../timeline/groups_panel.js";
import { LanesCanvas, type Lane, type Place } from "../timeline/lanes_canvas.js";
import { LanesInput } from "../timeline/lanes_input.js";
import { slotsOfReasons, statePalette, threadColours } from "../timeline/palette.js";
import { ScatterPanel } from "../timeline/scatter_panel.js";
import { SelectionBar } from "../timeline/selection_bar.js";
import { STATISTICS, StatisticsPanel } from "../timeline/statistics_panel.js";
import { stripsOf, StripValues, type Strip } from "../timeline/strips.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

const FRAMES = 12;
const SUMS_MS = 25;        // behind the next frame
const HINT = "Wheel to zoom, drag to move, Shift and drag to select, click to pin, ? for help.";
const ACCENT = { light: pixel([47, 111, 183]), dark: pixel([127, 176, 234]) };

declare global {
  interface Window { jprofUpdates?: number[] }
}

type Panel = Grouping | "scatter plot";

export class TimelineView implements View {
  private readonly stretches: Stretches;
  private readonly selection: StretchSelection;
  private readonly bar: SelectionBar;
  private readonly shown = new LanesCanvas(el("canvas", { tabindex: 0, role: "img" }));
  private readonly input: LanesInput;
  private readonly statistics: StatisticsPanel;
  private readonly groups: GroupsPanel;
  private readonly scatter: ScatterPanel;
  private readonly values: StripValues;
  private readonly tools = el("div", { class: "tools" });
  private readonly details = el("div", { class: "details", role: "status" });
  private readonly lower = el("div", { class: "split lower" });
  /** The picture comes first: sums of millions of stretches take longer. */
  private readonly drawSums = delayed(SUMS_MS, () => {
    this.statistics.update();
    this.drawPanel();
  });
  private strips = ["utilisation", "dispatches"];
  private panel: Panel = "threads";
  private everything = false;
  private pinned = -1;

  constructor(private readonly context: Context, host: HTMLElement) {
    const { model, store } = context;
    this.stretches = model.stretches!;
    this.selection = new StretchSelection(this.stretches, model.names);
    this.bar = new SelectionBar(store, this.selection);
    const chosen = (term: string) => this.bar.choose(term);
    this.statistics = new StatisticsPanel(this.selection);
    this.groups = new GroupsPanel(this.selection, model.names, chosen);
    this.scatter = new ScatterPanel(this.selection, chosen);
    this.values = new StripValues(this.selection);
    this.everything = !this.stretches.info.threads.some((one) => one.program && one.rows > 0);
    this.input = new LanesInput(this.shown, {
      hovered: (place) => this.describe(place), clicked: (place) => this.pin(place),
      brushed: (left, top, right, bottom) => chosen(this.termOf(left, top, right, bottom)),
      selectVisible: () => this.selectVisible(),
    });
    const { canvas } = this.shown;
    canvas.setAttribute("aria-label",
      `${this.stretches.info.threads.length} threads and ${this.stretches.info.processors} ` +
      "processors over time");
    host.append(this.bar.element, this.tools,
      el("div", { class: "canvases timeline" }, canvas, this.input.brush), this.details, this.lower);
    new ResizeObserver(() => this.shown.request()).observe(canvas);
  }

  focus(): void {
    this.shown.canvas.focus();
  }
  back(): boolean {
    return this.bar.back();
  }

  legend(): Legend {
    const { statePalette: states, threadPalette } = this.shown.scene!;
    return {
      about: ["A stretch is the time from when a thread got a processor to when it lost it, and the " +
        "time after it: how long it waited, and how long it was ready while other threads had the " +
        "processors. A pixel that several states share has a part for each.",
        "Lanes of processors have the colours of the threads that ran longest, which threads also " +
        "have beside their names. Strips show how much there is of a metric in each pixel.",
        "What is not selected is pale. Each metric's row says what the selected stretches have, and " +
        "how their mean differs from that of all others."],
      columns: [...STATISTICS, ...this.groups.table.meanings],
      colours: [...states.legend, ...threadPalette.legend],
    };
  }

  update(changed: Changed | null): void {
    const { store } = this.context;
    if (!hasAny(changed, ["only", "sets", "ratios", "names", "theme"])) return;
    const start = performance.now();
    const { only, sets, ratios } = store.state;
    if (hasAny(changed, ["only", "sets", "ratios"])) {
      this.selection.set({ only, sets, ratios, everything: this.everything });
    }
    this.bar.update(store.state);
    this.draw();
    this.drawTools();
    this.describe(null);
    this.drawSums();
    window.jprofUpdates?.push(performance.now() - start);
  }
  private updateAll(): void {
    this.update(null);
  }

  private draw(): void {
    const { selection, stretches } = this;
    const dark = this.context.isDark();
    const states = statePalette(dark);
    const threads = threadColours(stretches, dark);
    this.shown.scene = {
      stretches, lanes: this.lanes(), scope: selection.scope, mask: selection.mask,
      states: new StatePixels(stretches, slotsOfReasons(stretches), states.slots, selection.mask),
      processors: new ProcessorPixels(stretches.byProcessor, threads.slotOf, threads.palette.slots,
                                      selection.mask),
      statePalette: states, threadPalette: threads.palette, threadSlot: threads.slotOf,
      strips: this.values, theme: themeOf(dark), accent: dark ? ACCENT.dark : ACCENT.light,
      pinned: this.pinned,
    };
    this.shown.request();
  }

  private lanes(): Lane[] {
    const { info, byProcessor } = this.stretches;
    const all = stripsOf(this.selection);
    const strips = this.strips.flatMap((name): Strip[] => all.filter((one) => one.name === name));
    const { ran } = this.stretches;
    const shown = Array.from(info.threads.keys()).filter((i) => info.threads[i]!.rows > 0
      && (this.everything || info.threads[i]!.program));
    // By process, the program's first; then those that ran longest first.
    const rank = new Map<number, number>();
    const others = (i: number) => (info.threads[i]!.program ? 0 : 1);
    for (const i of shown.slice().sort((a, b) => others(a) - others(b) || a - b)) {
      const { pid } = info.threads[i]!;
      if (!rank.has(pid)) rank.set(pid, rank.size);
    }
    const process = (i: number) => rank.get(info.threads[i]!.pid)!;
    const threads = shown.sort((a, b) => process(a) - process(b) || ran[b]! - ran[a]!);
    const lanes: Lane[] = info.marks.length > 0 ? [{ kind: "marks" }] : [];
    for (let processor = 0; processor < byProcessor.processors; ++processor) {
      lanes.push({ kind: "processor", processor });
    }
    for (const strip of strips) lanes.push({ kind: "strip", strip }, { kind: "below" });
    let pid = -1;
    for (const thread of threads) {
      const one = info.threads[thread]!;
      if (one.pid !== pid) lanes.push({ kind: "title", text: `${one.process} (pid ${one.pid})` });
      pid = one.pid;
      lanes.push({ kind: "thread", thread });
    }
    return lanes;
  }

  private drawTools(): void {
    const { threads } = this.stretches.info;
    const all = stripsOf(this.selection).map(({ name }) => name);
    const others = threads.filter((one) => !one.program && one.rows > 0).length;
    const check = (text: string, on: boolean, title: string, act: (on: boolean) => void) => {
      const box = el("input", { type: "checkbox", checked: on });
      box.addEventListener("change", () => act(box.checked));
      return el("label", { class: "choice", title }, box, " ", el("span", {}, text));
    };
    this.tools.replaceChildren(
      button("Show all", "Zoom out to everything (0)", () => this.input.showAll()),
      button("Select visible", "Selects the times that are visible (Enter)", () =>
        this.selectVisible()),
      check("drag selects", this.input.selects, "Else only with Shift", (on) => {
        this.input.selects = on;
      }),
      ...others > 0 && threads.some((one) => one.program && one.rows > 0)
        ? [check("all programs", this.everything, `Also ${others} threads of other programs`, (on) => {
          this.everything = on;
          this.updateAll();
        })] : [],
      select("strip", [["", "add ..."], ...all.filter((one) => !this.strips.includes(one))
        .map((one): [string, string] => [one, one])], "", (name) => this.setStrips([...this.strips, name])),
      ...this.strips.map((name) => button(`${name} ×`, `Removes the strip ${name}`, () =>
        this.setStrips(this.strips.filter((one) => one !== name)))),
      el("div", { class: "legend", "aria-label": "Colours" }, ...this.shown.scene!.statePalette.legend
        .map((one) => el("span", {}, el("i", { style: `background:${one.colour}` }), one.text))));
  }
  private setStrips(names: string[]): void {
    this.strips = names;
    this.draw();
    this.drawTools();
  }

  private drawPanel(): void {
    const { panel } = this;
    const panels: Panel[] = [...GROUPINGS, "scatter plot"];
    const choice = select("by", panels.map((one): [string, string] => [one, one]), panel, (value) => {
      this.panel = value as Panel;
      this.drawPanel();
    });
    const content = panel === "scatter plot" ? this.scatter.element : this.groups.table.element;
    if (this.lower.dataset.panel !== panel) {
      this.lower.dataset.panel = panel;
      this.lower.replaceChildren(this.statistics.element,
        el("div", { class: "lists" }, el("div", { class: "tools" }, choice), content));
    }
    if (panel === "scatter plot") this.scatter.update();
    else this.groups.update(panel);
  }

  private selectVisible(): void {
    const { from, to } = this.shown.range;
    this.bar.choose(timesTerm(from, to));
  }
  /** Returns the term that selects a rectangle of the picture: times of threads or processors. */
  private termOf(left: number, top: number, right: number, bottom: number): string {
    const { shown, stretches: { info } } = this;
    const threads = new Set<number>();
    const processors = new Set<number>();
    for (let y = top; y <= bottom; y += 1) {
      const lane = shown.laneAt(y);
      if (lane?.kind === "thread") threads.add(lane.thread);
      else if (lane?.kind === "processor") processors.add(lane.processor);
    }
    const times = timesTerm(shown.timeAt(left), shown.timeAt(right));
    if (threads.size > 0) {
      return `${times} && tid=${[...threads].map((one) => info.threads[one]!.tid).join("|")}`;
    }
    return processors.size > 0 ? `${times} && cpu=${[...processors].join("|")}` : times;
  }

  private pin(place: Place | null): void {
    this.pinned = place && place.row !== this.pinned ? place.row : -1;
    this.shown.scene!.pinned = this.pinned;
    this.shown.request();
    this.describe(place);
  }

  private describe(place: Place | null): void {
    const row = place && place.row >= 0 ? place.row : this.pinned;
    const lane = place?.lane;
    this.shown.canvas.style.cursor = place && place.row >= 0 ? "pointer" : "default";
    this.details.replaceChildren(...row >= 0 ? this.describeRow(row)
      : lane?.kind === "marks" ? this.describeMark(place!.time)
      : lane?.kind === "strip" ? [lane.strip.name, " ", pair("at", formatValue(place!.time, "ns"))]
      : [el("span", { class: "soft" }, HINT)]);
  }

  /** Says what the last mark before a time is. */
  private describeMark(time: number): (Node | string)[] {
    const { marks, threads } = this.stretches.info;
    const mark = marks.filter((one) => one.time <= time).at(-1);
    if (!mark) return [el("span", { class: "soft" }, HINT)];
    const thread = threads[mark.thread];
    return [el("b", {}, mark.text), " ", pair("at", formatValue(mark.time, "ns")),
            ...thread ? [pair("by", `${thread.name} (tid ${thread.tid})`)] : []];
  }

  /** Says what a stretch is: who ran where and when, why it ended, and what woke the thread. */
  private describeRow(row: number): (Node | string)[] {
    const { stretches, groups } = this;
    const { info, reason, context, waker, call } = stretches;
    const { name, tid, process, pid } = info.threads[stretches.thread[row]!]!;
    const time = (value: number) => formatValue(value, "ns");
    const [why, meaning] = info.reasons[reason[row]!]!;
    const [waited, ready] = [stretches.waited[row]!, stretches.ready[row]!];
    const others = this.selection.metrics.slice(3).filter(({ values }) => values[row]! > 0);
    const parts: (Node | string)[] = [
      el("b", {}, `${name} (tid ${tid})`), ` of ${process} (pid ${pid}) `,
      pair("on processor", String(stretches.processor[row]!)),
      pair("from", time(stretches.begin[row]!)), pair("for", time(stretches.duration[row]!)),
      ...others.map((one) => pair(one.name, formatValue(one.values[row]!, one.unit))),
      pair("then", why), el("span", { class: "soft", title: meaning }, `${meaning} `),
    ];
    if (call[row]! > 0) parts.push(pair("system call", info.calls[call[row]! - 1]!));
    if (waited > 0) parts.push(pair("waited", time(waited)));
    if (waker[row]! > 0) parts.push(pair("woken by", groups.wakerText(waker[row]!)));
    if (ready > 0) parts.push(pair("ready for", time(ready)));
    if (context[row]! > 0) parts.push(el("div", { class: "name" },
                                         `in ${groups.contextText(context[row]!, FRAMES)}`));
    return parts;
  }
}

/** Returns the term that selects what is between two times, as far as a pixel tells them. */
function timesTerm(from: number, to: number): string {
  const digits = Math.max(0, Math.floor(3 - Math.log10(Math.max(1, to - from))));
  const text = (time: number) => {
    const [size, unit] = to - from > 1e7 ? [1e6, "ms"] : to - from > 1e4 ? [1e3, "us"] : [1, "ns"];
    return `${Number((time / Number(size)).toFixed(digits + 3))}${unit}`;
  };
  return `begin < ${text(to)} && next > ${text(from)}`;
}
