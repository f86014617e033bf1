// Draws rectangles and text in a pixel buffer. This takes the same few milliseconds with and
// without a graphics processor, however many rectangles there are.

/** Keeps the letters of one font as coverage, drawn once each. All have the same width. */
export class Glyphs {
  readonly width: number;
  readonly height: number;
  private readonly cells = new Map<string, Uint8Array>();
  private readonly context: CanvasRenderingContext2D;

  constructor(size: number, height: number) {
    const canvas = document.createElement("canvas");
    this.context = canvas.getContext("2d", { willReadFrequently: true })!;
    const font = `${size}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace`;
    this.context.font = font;
    this.width = Math.max(1, Math.round(this.context.measureText("M").width));
    this.height = height;
    canvas.width = this.width + 2;
    canvas.height = height;
    this.context.font = font;
    this.context.textBaseline = "middle";
  }

  cell(letter: string): Uint8Array {
    let cell = this.cells.get(letter);
    if (!cell) this.cells.set(letter, cell = this.drawn(letter));
    return cell;
  }

  private drawn(letter: string): Uint8Array {
    const { context, width, height } = this;
    context.fillStyle = "#000";
    context.fillRect(0, 0, width + 2, height);
    context.fillStyle = "#fff";
    context.fillText(letter, 0, height / 2);
    const { data } = context.getImageData(0, 0, width, height);
    return Uint8Array.from({ length: width * height }, (_, i) => data[4 * i]!);
  }
}

export class Raster {
  width = 0;
  height = 0;
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.image = new ImageData(Math.max(1, width), Math.max(1, height));
    this.pixels = new Uint32Array(this.image.data.buffer);
  }
  clear(colour: number): void {
    this.pixels.fill(colour);
  }
  show(context: CanvasRenderingContext2D): void {
    context.putImageData(this.image, 0, 0);
  }

  /** Fills whole pixels. What is outside is ignored. */
  fill(left: number, top: number, right: number, bottom: number, colour: number): void {
    const [from, to] = [Math.max(0, left), Math.min(this.width, right)];
    const end = Math.min(this.height, bottom);
    if (to <= from) return;
    for (let y = Math.max(0, top); y < end; ++y) {
      const line = y * this.width;
      if (to - from > 16) this.pixels.fill(colour, line + from, line + to);
      else for (let x = from; x < to; ++x) this.pixels[line + x] = colour;
    }
  }

  frame(left: number, top: number, right: number, bottom: number, size: number,
        colour: number): void {
    this.fill(left, top, right, top + size, colour);
    this.fill(left, bottom - size, right, bottom, colour);
    this.fill(left, top, left + size, bottom, colour);
    this.fill(right - size, top, right, bottom, colour);
  }

  text(glyphs: Glyphs, text: string, left: number, top: number, colour: number): void {
    let x = left;
    for (const letter of text) {
      if (letter !== " " && x >= 0 && x + glyphs.width <= this.width) {
        this.glyph(glyphs.cell(letter), glyphs, x, top, colour);
      }
      x += glyphs.width;
    }
  }

  private glyph(cell: Uint8Array, size: Glyphs, left: number, top: number, colour: number): void {
    const [r, g, b] = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
    for (let y = 0; y < size.height; ++y) {
      if (top + y < 0 || top + y >= this.height) continue;
      const line = (top + y) * this.width + left;
      for (let x = 0; x < size.width; ++x) {
        const cover = cell[y * size.width + x]!;
        if (cover === 0) continue;
        const under = this.pixels[line + x]!;
        const mix = (from: number, to: number) => from + (((to - from) * cover) >> 8);
        this.pixels[line + x] = ((255 << 24) | (mix((under >> 16) & 255, b) << 16) |
            (mix((under >> 8) & 255, g) << 8) | mix(under & 255, r)) >>> 0;
      }
    }
  }
}
