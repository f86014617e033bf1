// Draws a scatter plot on a canvas: points of two quantities, with axes of any scale.

import { formatValue } from "./model/format.js";
import { isShown, Scale, type ScaleKind } from "./model/scale.js";

export interface Axis {
  name: string;
  unit: string;
  whole: boolean;            // values are counts
  values: Float64Array;
  low?: Float64Array;        // the ends of the values' intervals, which are drawn
  high?: Float64Array;
}

export type Shape = "square" | "disc" | "ring" | "cross";

/** A line y = slope * x. */
export interface Guide {
  slope: number;
  dashes: number[];
}

export interface ScatterScene {
  x: Axis;
  y: Axis;
  scale: ScaleKind;
  linear?: number;           // of a symmetric scale: up to here it is nearly linear
  guides?: Guide[];
  run?: number;              // so many points each are joined by lines
  colourOf(i: number): string;
  shapeOf?(i: number): Shape;
  selected: number;
  marked: ReadonlySet<number>;
  text: string;
  line: string;
  accent: string;
}

const LEFT = 84;
const BOTTOM = 46;
const MARGIN = 14;
const FEW = 3000;            // points that are drawn larger
const CAP = 3;               // half of the line at the end of an interval

function tickText(value: number, unit: string): string {
  return value === 0 ? "0" : formatValue(value, unit).replace(/\.0+(?=\D|$)/, "");
}

export class Scatter {
  readonly canvas = document.createElement("canvas");
  scene: ScatterScene | null = null;
  private readonly context = this.canvas.getContext("2d")!;
  private scales: { x: Scale; y: Scale } | null = null;

  draw(): void {
    const { canvas, context, scene } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!scene || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const x = this.scaleOf(scene.x, LEFT, width - MARGIN);
    const y = this.scaleOf(scene.y, height - BOTTOM, MARGIN);
    this.scales = { x, y };
    this.drawAxes(scene, x, y, width, height);
    const { length } = scene.x.values;
    const size = length < FEW ? 5 : 3;
    this.drawGuides(scene, width, height);
    if (scene.run) for (let i = 0; i < length; i += scene.run) this.join(i, i + scene.run);
    if (scene.x.low || scene.y.low) {
      for (let i = 0; i < length; ++i) this.drawIntervals(i, scene.colourOf(i));
    }
    for (let i = 0; i < length; ++i) this.point(i, size, scene.colourOf(i), scene.shapeOf?.(i));
    for (const i of scene.marked) this.ring(i, 5, scene.accent);
    if (scene.selected >= 0) this.ring(scene.selected, 7, scene.text);
  }

  private scaleOf(axis: Axis, begin: number, end: number): Scale {
    const { scale, linear } = this.scene!;
    const values = [axis.values, axis.low ?? [], axis.high ?? []].flatMap((one) => Array.from(one));
    return Scale.of(values, { kind: scale, linear, whole: axis.whole, begin, end });
  }

  private drawAxes(scene: ScatterScene, x: Scale, y: Scale, width: number, height: number): void {
    const { context } = this;
    context.font = "12px system-ui, sans-serif";
    context.strokeStyle = scene.line;
    context.fillStyle = scene.text;
    context.lineWidth = 1;
    context.textAlign = "center";
    for (const tick of x.ticks()) {
      const at = Math.round(x.at(tick)) + 0.5;
      this.line(at, MARGIN, at, height - BOTTOM);
      context.fillText(tickText(tick, scene.x.unit), at, height - BOTTOM + 16);
    }
    context.fillText(scene.x.name, (LEFT + width) / 2, height - 8);
    context.textAlign = "right";
    for (const tick of y.ticks()) {
      const at = Math.round(y.at(tick)) + 0.5;
      this.line(LEFT, at, width - MARGIN, at);
      context.fillText(tickText(tick, scene.y.unit), LEFT - 6, at + 4);
    }
    context.save();
    context.translate(18, (height - BOTTOM) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(scene.y.name, 0, 0);
    context.restore();
  }

  private line(x0: number, y0: number, x1: number, y1: number): void {
    this.context.beginPath();
    this.context.moveTo(x0, y0);
    this.context.lineTo(x1, y1);
    this.context.stroke();
  }

  /** Joins the points from `begin` to before `end` that are on the axes. */
  private join(begin: number, end: number): void {
    const { context } = this;
    context.strokeStyle = this.scene!.colourOf(begin);
    context.lineWidth = 1.5;
    context.beginPath();
    for (let i = begin; i < end; ++i) {
      const place = this.place(i);
      if (place) context.lineTo(...place);
    }
    context.stroke();
  }

  /** Draws lines, which are curves on a scale that is not linear, within the axes. */
  private drawGuides({ guides = [], text }: ScatterScene, width: number, height: number): void {
    const { context } = this;
    const { x, y } = this.scales!;
    context.save();
    context.beginPath();
    context.rect(LEFT, MARGIN, width - MARGIN - LEFT, height - BOTTOM - MARGIN);
    context.clip();
    context.strokeStyle = text;
    context.lineWidth = 1;
    for (const { slope, dashes } of guides) {
      context.setLineDash(dashes);
      context.beginPath();
      for (let at = LEFT; at <= width; at += 2) {
        context.lineTo(at, y.at(slope * x.valueAt(at)));
      }
      context.stroke();
    }
    context.restore();
  }

  private drawIntervals(i: number, colour: string): void {
    const place = this.place(i);
    if (!place) return;
    const { scene, scales } = this;
    const [x, y] = place;
    this.context.strokeStyle = colour;
    this.context.lineWidth = 1;
    const ends = (axis: Axis, scale: Scale) => [axis.low?.[i], axis.high?.[i]]
      .map((end) => (end !== undefined && isShown(end, scene!.scale) ? scale.at(end) : NaN));
    const [left, right] = ends(scene!.x, scales!.x);
    const [bottom, top] = ends(scene!.y, scales!.y);
    this.line(left!, y, right!, y);
    this.line(x, bottom!, x, top!);
    for (const end of [left!, right!]) this.line(end, y - CAP, end, y + CAP);
    for (const end of [bottom!, top!]) this.line(x - CAP, end, x + CAP, end);
  }

  /** Returns the place of a point in CSS pixels, or null if it is not on the axes. */
  place(i: number): [number, number] | null {
    const { scene, scales } = this;
    const [x, y] = [scene!.x.values[i]!, scene!.y.values[i]!];
    if (!isShown(x, scene!.scale) || !isShown(y, scene!.scale)) return null;
    return [scales!.x.at(x), scales!.y.at(y)];
  }

  private point(i: number, size: number, colour: string, shape: Shape = "square"): void {
    const place = this.place(i);
    if (!place) return;
    const { context } = this;
    const [x, y] = place;
    if (shape === "ring") this.ring(i, size, colour);
    context.fillStyle = colour;
    if (shape === "square") context.fillRect(x - size / 2, y - size / 2, size, size);
    if (shape === "cross") {
      context.strokeStyle = colour;
      context.lineWidth = 2;
      this.line(x - size, y - size, x + size, y + size);
      this.line(x - size, y + size, x + size, y - size);
    }
    if (shape === "disc") {
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
    }
  }
  private ring(i: number, radius: number, colour: string): void {
    const place = this.place(i);
    if (!place) return;
    this.context.strokeStyle = colour;
    this.context.lineWidth = 2;
    this.context.beginPath();
    this.context.arc(place[0], place[1], radius, 0, 2 * Math.PI);
    this.context.stroke();
  }

  /** Returns the point nearest to a place, within some pixels, or -1 if there is none. */
  nearest(x: number, y: number): number {
    let [best, distance] = [-1, 12];
    const length = this.scene?.x.values.length ?? 0;
    for (let i = 0; i < length; ++i) {
      const place = this.place(i);
      if (!place) continue;
      const away = Math.hypot(place[0] - x, place[1] - y);
      if (away < distance) [best, distance] = [i, away];
    }
    return best;
  }

  inside(x0: number, y0: number, x1: number, y1: number): number[] {
    const found: number[] = [];
    const length = this.scene?.x.values.length ?? 0;
    for (let i = 0; i < length; ++i) {
      const place = this.place(i);
      if (!place) continue;
      const [x, y] = place;
      if (x >= x0 && x <= x1 && y >= y0 && y <= y1) found.push(i);
    }
    return found;
  }
}
