// Draws a tree as nested rectangles on a canvas, whose areas are the values of rows, and finds the
// row at a place.

import { cssOf, type Paint, type Theme } from "./colours.js";
import { oncePerFrame } from "./dom.js";
import type { Order } from "./model/order.js";
import { squarify, type Rect } from "./model/squarify.js";
import type { Tree } from "./model/tree.js";

const FONT = 11;               // in CSS pixels, as all lengths here
const TITLE = 17;              // height of the line with a row's name
const EDGE = 0.5;              // breadth of the line around a rectangle
const GAP = 2;                 // between a rectangle and what is in it
const SMALLEST = 1.5;          // side of the smallest rectangle that is drawn
const SMALLEST_TITLE = 34;     // width of the narrowest rectangle with a name

export interface MapScene {
  tree: Tree;
  order: Order;
  root: number;                // the row that fills the map; the tree's length for all
  paint: Paint;
  theme: Theme;
  matches: Uint8Array | null;  // by method
  selected: number;
  titleOf(row: number): [name: string, value: string];
}

/** A rectangle as drawn. Those in it come after it. */
interface Cell extends Rect {
  row: number;
}

export class Treemap {
  scene: MapScene | null = null;
  readonly request = oncePerFrame(() => this.draw());
  private readonly context: CanvasRenderingContext2D;
  private readonly fonts: string;
  private cells: Cell[] = [];
  private hovered = -1;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false })!;
    this.fonts = `${FONT}px ${getComputedStyle(document.body).fontFamily}`;
    new ResizeObserver(() => this.request()).observe(canvas);
  }

  set hover(row: number) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.request();
  }

  /** Returns the innermost row at a place, or -1. */
  rowAt(x: number, y: number): number {
    for (let i = this.cells.length - 1; i >= 0; --i) {
      const cell = this.cells[i]!;
      if (x >= cell.x && x < cell.x + cell.width && y >= cell.y && y < cell.y + cell.height) {
        return cell.row;
      }
    }
    return -1;
  }

  draw(): void {
    const { scene, canvas, context } = this;
    if (!scene || canvas.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = cssOf(scene.theme.background);
    context.fillRect(0, 0, width, height);
    context.font = this.fonts;
    context.textBaseline = "middle";
    this.cells = [];
    const all = { x: 0, y: 0, width, height };
    if (scene.root < scene.tree.length) this.drawRow(scene, scene.root, all);
    else this.drawChildren(scene, scene.root, all);
    this.outline(scene);
  }

  private drawRow(scene: MapScene, row: number, box: Rect): void {
    const { x, y, width, height } = box;
    const { tree, paint, matches } = scene;
    this.cells.push({ row, x, y, width, height });
    const isDim = matches !== null && matches[tree.method[row]!] !== 1;
    this.context.fillStyle = cssOf(scene.theme.guide);
    this.context.fillRect(x, y, width, height);
    this.context.fillStyle = cssOf((isDim ? paint.dim : paint.fill)[paint.slot(row)]!);
    this.context.fillRect(x + EDGE, y + EDGE, width - 2 * EDGE, height - 2 * EDGE);
    const hasTitle = height >= TITLE && width >= SMALLEST_TITLE;
    if (hasTitle) this.write(scene, row, box);
    const top = hasTitle ? TITLE : GAP;
    this.drawChildren(scene, row, { x: x + GAP, y: y + top, width: width - 2 * GAP,
                                    height: height - top - GAP });
  }

  /** Draws what a row contains. The area of the row's own value stays free. */
  private drawChildren(scene: MapScene, row: number, box: Rect): void {
    if (box.width < 2 * SMALLEST || box.height < 2 * SMALLEST) return;
    const { order, tree } = scene;
    order.prepare(row);
    const rows: number[] = [];
    for (let i = order.start[row]!; i < order.start[row + 1]!; ++i) {
      if (order.width[order.list[i]!]! > 0) rows.push(order.list[i]!);
    }
    const sizes = rows.map((one) => order.width[one]!);
    const whole = row < tree.length ? order.width[row]! : order.inner[row]!;
    const own = whole - order.inner[row]!;
    const at = own > 0 ? sizes.filter((one) => one >= own).length : -1;
    if (own > 0) sizes.splice(at, 0, own);
    squarify(sizes, box).forEach((part, i) => {
      if (i === at || part.width < SMALLEST || part.height < SMALLEST) return;
      this.drawRow(scene, rows[at >= 0 && i > at ? i - 1 : i]!, part);
    });
  }

  private write(scene: MapScene, row: number, { x, y, width }: Rect): void {
    const { context } = this;
    const [name, value] = scene.titleOf(row);
    const room = width - 3 * GAP - 4;
    const both = `${name}  ${value}`;
    const text = context.measureText(both).width <= room ? both : this.cut(name, room);
    context.fillStyle = cssOf(scene.theme.text);
    context.fillText(text, x + GAP + 2, y + TITLE / 2 + 1);
  }

  /** Returns as much of a text as fits. */
  private cut(text: string, room: number): string {
    const letter = this.context.measureText("n").width;
    if (this.context.measureText(text).width <= room) return text;
    let length = Math.min(text.length, Math.max(1, Math.floor(room / letter)));
    while (length > 1 && this.context.measureText(`${text.slice(0, length)}…`).width > room) {
      --length;
    }
    return `${text.slice(0, length)}…`;
  }

  private outline(scene: MapScene): void {
    const { context, cells } = this;
    for (const [row, size] of [[this.hovered, 1], [scene.selected, 2]] as const) {
      const cell = row === scene.root ? undefined : cells.find((one) => one.row === row);
      if (!cell) continue;
      context.strokeStyle = cssOf(scene.theme.selected);
      context.lineWidth = size;
      context.strokeRect(cell.x + size / 2, cell.y + size / 2, cell.width - 1 - size,
                         cell.height - 1 - size);
    }
  }
}
