// Moves the visible part of a canvas, by mouse, wheel and keys, and between two viewports.

export const LEVEL = 18;     // height of a level in CSS pixels
const MOVEMENT_MS = 140;
const NARROWEST = 1e-9;

/** The visible part of the whole width, and the first level's offset in CSS pixels. */
export interface Viewport {
  left: number;
  right: number;
  top: number;
}

/** A drawing that is divided in levels. */
export interface Movable {
  readonly canvas: HTMLCanvasElement;
  readonly levels: number;     // for the limit of scrolling
  readonly growsUp: boolean;   // the first level is the lowest
  readonly gutter?: number;    // CSS pixels to the left of what is zoomed
  view: Viewport;
  draw(): void;
  request(): void;             // draws in the next frame
}

export abstract class PanZoom<Shown extends Movable> {
  private pressed: { x: number; y: number; view: Viewport; moved: boolean } | null = null;
  private movement = 0;

  /** Is called with the place of the mouse, or with -1 where it leaves the canvas. */
  protected abstract hover(x: number, y: number): void;
  protected abstract click(x: number, y: number): void;
  /** Shows everything. */
  abstract showAll(): void;

  constructor(protected readonly shown: Shown) {
    const { canvas } = shown;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => { this.pressed = null; });
    canvas.addEventListener("pointerleave", () => this.hover(-1, -1));
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  protected jumpTo(view: Viewport): void {
    cancelAnimationFrame(this.movement);
    this.shown.view = view;
    this.shown.request();
  }

  protected moveTo(to: Viewport): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.jumpTo(to);
      return;
    }
    cancelAnimationFrame(this.movement);
    const { shown } = this;
    const from = shown.view;
    const begin = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, Math.max(0, (now - begin) / MOVEMENT_MS));
      const eased = 1 - (1 - part) ** 3;
      const between = (a: number, b: number) => (part === 1 ? b : a + (b - a) * eased);
      shown.view = { left: between(from.left, to.left), right: between(from.right, to.right),
                     top: between(from.top, to.top) };
      shown.draw();
      if (part < 1) this.movement = requestAnimationFrame(step);
    };
    this.movement = requestAnimationFrame(step);
  }

  /** Zooms by a factor. `at` is the part of the width that stays in place. */
  zoomBy(factor: number, at = 0.5): void {
    const { left, right, top } = this.shown.view;
    const size = Math.min(1, Math.max(NARROWEST, (right - left) * factor));
    this.show(left + (right - left - size) * at, size, top);
  }
  panBy(part: number, levels: number): void {
    const { left, right, top } = this.shown.view;
    this.show(left + part * (right - left), right - left, top + levels * LEVEL);
  }
  private show(left: number, size: number, top: number): void {
    const { shown } = this;
    const from = Math.max(0, Math.min(1 - size, left));
    const lowest = (shown.levels + 2) * LEVEL - shown.canvas.clientHeight;
    const limit = Math.max(0, lowest, Math.min(top, shown.view.top));
    this.jumpTo({ left: from, right: from + size, top: Math.max(0, Math.min(limit, top)) });
  }

  /** Returns the width of what is zoomed in CSS pixels. */
  private get width(): number {
    return Math.max(1, this.shown.canvas.clientWidth - (this.shown.gutter ?? 0));
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.shown.canvas.setPointerCapture(event.pointerId);
    this.pressed = { x: event.offsetX, y: event.offsetY, view: this.shown.view, moved: false };
  }
  private move(event: PointerEvent): void {
    const { pressed, shown } = this;
    if (!pressed) {
      this.hover(event.offsetX, event.offsetY);
      return;
    }
    const [x, y] = [event.offsetX - pressed.x, event.offsetY - pressed.y];
    pressed.moved ||= Math.hypot(x, y) > 4;
    if (!pressed.moved) return;
    const { left, right, top } = pressed.view;
    const size = right - left;
    this.show(left - (x / this.width) * size, size, top + (shown.growsUp ? y : -y));
  }
  private up(event: PointerEvent): void {
    const { pressed } = this;
    this.pressed = null;
    if (pressed && !pressed.moved) this.click(event.offsetX, event.offsetY);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LEVEL : 1;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    const { width } = this;
    if (event.shiftKey) this.panBy(0, (this.shown.growsUp ? -1 : 1) * (y || x) / LEVEL);
    else if (Math.abs(x) > Math.abs(y)) this.panBy(x / width, 0);
    else this.zoomBy(Math.exp(Math.max(-200, Math.min(200, y)) * 0.002),
                     Math.max(0, event.offsetX - (this.shown.gutter ?? 0)) / width);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.act(event.key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** Moves by the keys of arrows. Returns whether the key is one. */
  protected panByArrow(key: string): boolean {
    switch (key) {
      case "ArrowLeft": this.panBy(-0.15, 0); return true;
      case "ArrowRight": this.panBy(0.15, 0); return true;
      case "ArrowUp": this.panBy(0, -1); return true;
      case "ArrowDown": this.panBy(0, 1); return true;
      default: return false;
    }
  }

  /** Returns whether the key means something here. */
  protected act(key: string): boolean {
    const { shown } = this;
    const page = (Math.floor(shown.canvas.clientHeight / LEVEL) - 1) * (shown.growsUp ? -1 : 1);
    switch (key) {
      case "w": case "+": this.zoomBy(0.7); return true;
      case "s": case "-": this.zoomBy(1 / 0.7); return true;
      case "a": this.panBy(-0.15, 0); return true;
      case "d": this.panBy(0.15, 0); return true;
      case "PageDown": this.panBy(0, page); return true;
      case "PageUp": this.panBy(0, -page); return true;
      case "Home": case "0": this.showAll(); return true;
      default: return false;
    }
  }
}
