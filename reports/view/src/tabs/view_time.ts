// Shows when each call was: the threads one below the other, time from left to right.

import { themeOf } from "../colours.js";
import { button, el, methodName, pair } from "../dom.js";
import { formatValue, withSeparators } from "../model/format.js";
import { TYPE_NAMES } from "../model/names.js";
import type { Changed } from "../model/state.js";
import { paintOf, TimeCanvas, TimeInput } from "../time_canvas.js";
import type { Mark, Timeline } from "../model/timeline.js";
import { hasAny, type Context, type Legend, type View } from "../view.js";

const HINT = "Wheel to zoom, drag to move, click to select a method, ? for help.";

export class TimeView implements View {
  private timeline: Timeline;
  private readonly shown = new TimeCanvas(el("canvas", { tabindex: 0, role: "img" }));
  private readonly input: TimeInput;
  private readonly tools = el("div", { class: "tools" });
  private readonly details = el("div", { class: "details", role: "status" });

  constructor(private readonly context: Context, host: HTMLElement) {
    const { model } = context;
    this.timeline = model.timeline!;
    this.input = new TimeInput(this.shown, (item) => this.describe(item),
                               (item) => this.select(item));
    const { canvas } = this.shown;
    canvas.setAttribute("aria-label",
      `Calls over time of ${this.timeline.info.tracks.length} threads`);
    host.append(this.tools, el("p", { class: "lead soft" }, this.lead()),
                el("div", { class: "canvases" }, canvas), this.details);
    new ResizeObserver(() => this.shown.request()).observe(canvas);
  }

  focus(): void {
    this.shown.canvas.focus();
  }

  legend(): Legend {
    return {
      about: ["Each thread has a title with marks (missing events, signals, system calls), its "
        + "counters, and a level for each depth of its stack. A counter's height is how fast it "
        + "grows, relative to the fastest growth that is visible.", this.timeline.info.clock],
      columns: [], colours: this.shown.scene!.paint.legend,
    };
  }

  private lead(): string {
    const { clock, shortest, left_out: leftOut } = this.timeline.info;
    const names = [...new Set(this.timeline.marks.map(({ text }) => text))].slice(0, 3)
      .map((text) => this.context.model.names.of(text));
    const marks = names.length === 0 ? "" : ` Marks beside a thread's name: ${names.join(", ")}.`;
    return clock + marks + (leftOut === 0 ? "" : ` ${withSeparators(leftOut)} calls of at most ` +
        `${formatValue(shortest, "ns")} are not shown.`);
  }

  update(changed: Changed | null): void {
    if (!hasAny(changed, ["thread", "search", "method", "theme", "names", "collapse",
                           "hide"])) return;
    const { model, store } = this.context;
    this.timeline = model.timeline!;
    const dark = this.context.isDark();
    const { thread, method } = store.state;
    this.shown.scene = {
      timeline: this.timeline, names: model.names,
      rows: this.timeline.levels((name) => name.includes(thread)),
      paint: paintOf(this.timeline, dark), theme: themeOf(dark),
      matches: model.matches?.methods ?? null, selectedMethod: method,
    };
    if (changed?.has("thread")) this.input.toTop();
    this.drawTools();
    this.shown.request();
    this.describe(-1);
  }

  private drawTools(): void {
    const { legend } = this.shown.scene!.paint;
    this.tools.replaceChildren(
      button("Show all", "Zoom out to everything (0)", () => this.input.showAll()),
      el("div", { class: "legend", "aria-label": "Colours" }, ...legend.map((one) =>
        el("span", {}, el("i", { style: `background:${one.colour}` }), one.text))));
  }

  private select(item: number): void {
    const method = this.timeline.method[item];
    if (method !== undefined) this.context.store.set({ method, row: -1 });
    this.describe(item);
  }

  private describe(item: number): void {
    const { timeline } = this;
    const calls = timeline.begin.length;
    this.shown.canvas.style.cursor = item >= 0 && item < calls ? "pointer" : "default";
    const text = item < 0 ? [el("span", { class: "soft" }, HINT)]
        : item < calls ? this.describeCall(item) : this.describeMark(timeline.marks[item - calls]!);
    this.details.replaceChildren(...text);
  }
  private describeCall(call: number): (Node | string)[] {
    const { type, method, begin, length } = this.timeline;
    const letter = String.fromCharCode(type[call]!);
    return [el("span", { class: "type" }, TYPE_NAMES[letter] ?? letter), " ",
            el("code", {}, methodName(this.context.model.names.parts(method[call]!))), " ",
            pair("took", formatValue(length[call]!, "ns")), " ",
            pair("began at", formatValue(begin[call]!, "ns"))];
  }
  private describeMark({ at, text }: Mark): (Node | string)[] {
    return [el("code", {}, this.context.model.names.of(text)), " ", pair("at", formatValue(at, "ns"))];
  }
}
