// Draws a scatter plot on a canvas: points of two quantities, with linear or logarithmic axes.

import { formatValue } from "./model/format.js";

export interface Axis {
  name: string;
  unit: string;
  whole: boolean;            // values are counts
  values: Float64Array;
}

export interface ScatterScene {
  x: Axis;
  y: Axis;
  logarithmic: boolean;
  colourOf(i: number): string;
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

class Scale {
  constructor(readonly from: number, readonly to: number, readonly logarithmic: boolean,
              readonly begin: number, readonly end: number) {}

  at(value: number): number {
    const [value2, from, to] = this.logarithmic
      ? [Math.log10(value), Math.log10(this.from), Math.log10(this.to)]
      : [value, this.from, this.to];
    return this.begin + ((value2 - from) / (to - from || 1)) * (this.end - this.begin);
  }

  ticks(): number[] {
    const ticks: number[] = [];
    if (this.logarithmic) {
      const [first, last] = [Math.ceil(Math.log10(this.from)), Math.floor(Math.log10(this.to))];
      const step = Math.max(1, Math.ceil((last - first) / 7));
      for (let power = first; power <= last; power += step) ticks.push(10 ** power);
      return ticks;
    }
    const raw = (this.to - this.from) / 6;
    const size = 10 ** Math.floor(Math.log10(raw || 1));
    const step = [1, 2, 5, 10].map((x) => x * size).find((x) => x >= raw) ?? size;
    for (let tick = Math.ceil(this.from / step) * step; tick <= this.to; tick += step) {
      ticks.push(tick);
    }
    return ticks;
  }
}

function tickText(value: number, unit: string): string {
  return formatValue(value, unit).replace(/\.0+(?=\D|$)/, "");
}

/** Returns whether a value has a place on the axis. */
export function isShown(value: number, logarithmic: boolean): boolean {
  return Number.isFinite(value) && (!logarithmic || value > 0);
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
    for (let i = 0; i < length; ++i) this.point(i, size, scene.colourOf(i));
    for (const i of scene.marked) this.ring(i, 5, scene.accent);
    if (scene.selected >= 0) this.ring(scene.selected, 7, scene.text);
  }

  private scaleOf(axis: Axis, begin: number, end: number): Scale {
    const { logarithmic } = this.scene!;
    let [from, to] = [Infinity, -Infinity];
    for (const value of axis.values) {
      if (!isShown(value, logarithmic)) continue;
      from = Math.min(from, value);
      to = Math.max(to, value);
    }
    if (from > to) [from, to] = logarithmic ? [1, 10] : [0, 1];
    if (logarithmic) return new Scale(from / 1.3, to * 1.3, true, begin, end);
    const edge = (to - from) * 0.03 || 1;
    return new Scale(Math.min(0, from) - edge, to + edge, false, begin, end);
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

  /** Returns the place of a point in CSS pixels, or null if it is not on the axes. */
  place(i: number): [number, number] | null {
    const { scene, scales } = this;
    const [x, y] = [scene!.x.values[i]!, scene!.y.values[i]!];
    if (!isShown(x, scene!.logarithmic) || !isShown(y, scene!.logarithmic)) return null;
    return [scales!.x.at(x), scales!.y.at(y)];
  }

  private point(i: number, size: number, colour: string): void {
    const place = this.place(i);
    if (!place) return;
    this.context.fillStyle = colour;
    this.context.fillRect(place[0] - size / 2, place[1] - size / 2, size, size);
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
