// Zooms and moves the timeline, and selects times of lanes by dragging.

import { el } from "../dom.js";
import { PanZoom } from "../pan_zoom.js";
import type { LanesCanvas, Place } from "./lanes_canvas.js";

export interface LanesEvents {
  hovered(place: Place | null): void;
  clicked(place: Place | null): void;
  /** A rectangle in CSS pixels of the canvas. */
  brushed(left: number, top: number, right: number, bottom: number): void;
  selectVisible(): void;
}

const LEAST = 4;     // CSS pixels

export class LanesInput extends PanZoom<LanesCanvas> {
  /** If true, dragging selects; else it does with Shift. */
  selects = false;
  readonly brush = el("div", { class: "brush", hidden: true });
  private begin: { x: number; y: number } | null = null;

  constructor(private readonly lanes: LanesCanvas, private readonly events: LanesEvents) {
    super(lanes);
    const { canvas } = lanes;
    const on = (name: "pointerdown" | "pointermove" | "pointerup" | "pointercancel",
                act: (event: PointerEvent) => boolean) =>
      canvas.addEventListener(name, (event) => {
        if (act(event)) event.stopImmediatePropagation();
      }, { capture: true });
    on("pointerdown", (event) => this.start(event));
    on("pointermove", (event) => this.drag(event));
    on("pointerup", (event) => this.finish(event));
    on("pointercancel", () => this.stop());
  }

  showAll(): void {
    this.moveTo({ left: 0, right: 1, top: 0 });
  }
  toTop(): void {
    this.jumpTo({ ...this.shown.view, top: 0 });
  }
  protected hover(x: number, y: number): void {
    this.events.hovered(x < 0 ? null : this.lanes.placeAt(x, y));
  }
  protected click(x: number, y: number): void {
    this.events.clicked(this.lanes.placeAt(x, y));
  }

  private start(event: PointerEvent): boolean {
    if (event.button !== 0 || this.selects === event.shiftKey) return false;
    this.begin = { x: event.offsetX, y: event.offsetY };
    this.lanes.canvas.setPointerCapture(event.pointerId);
    return true;
  }
  private box(event: PointerEvent): [number, number, number, number] {
    const { x, y } = this.begin!;
    const left = this.lanes.gutter;
    return [Math.max(left, Math.min(x, event.offsetX)), Math.min(y, event.offsetY),
            Math.max(left, x, event.offsetX), Math.max(y, event.offsetY)];
  }
  private drag(event: PointerEvent): boolean {
    if (!this.begin) return false;
    const [left, top, right, bottom] = this.box(event);
    this.brush.hidden = false;
    Object.assign(this.brush.style, { left: `${left}px`, top: `${top}px`,
                                      width: `${right - left}px`, height: `${bottom - top}px` });
    return true;
  }
  private finish(event: PointerEvent): boolean {
    if (!this.begin) return false;
    const box = this.box(event);
    this.stop();
    if (box[2] - box[0] > LEAST) this.events.brushed(...box);
    else this.click(event.offsetX, event.offsetY);
    return true;
  }
  private stop(): boolean {
    this.begin = null;
    this.brush.hidden = true;
    return false;
  }

  protected override act(key: string): boolean {
    if (key === "Enter") this.events.selectVisible();
    return key === "Enter" || this.panByArrow(key) || super.act(key);
  }
}
