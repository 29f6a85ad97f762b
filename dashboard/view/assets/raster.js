// Stamps many small points into a bitmap. Ten thousand calls to a canvas take a tenth of a second where there is no GPU;
// writing their pixels takes some thousandths.

import { make } from "./base.js";

export class Raster {
  constructor() {
    this.canvas = make("canvas");
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.stamps = new Map();
  }

  clear(width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      Object.assign(this.canvas, { width, height });
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else this.pixels.fill(0);
  }

  // The pixels of one kind of point. `rim` may be null.
  stampOf(colour, rim, square, radius) {
    const name = `${colour}/${rim}/${square}/${radius}`;
    if (!this.stamps.has(name)) {
      if (this.stamps.size > 400) this.stamps.clear();
      this.stamps.set(name, makeStamp(colour, rim, square, radius));
    }
    return this.stamps.get(name);
  }

  put({ side, pixels: source }, x, y) {
    const { width, height } = this.canvas, target = this.pixels;
    const left = Math.round(x - side / 2), top = Math.round(y - side / 2);
    const first = Math.max(0, -left), last = Math.min(side, width - left), bottom = Math.min(side, height - top);
    for (let row = Math.max(0, -top); row < bottom; row++) {
      let to = (top + row) * width + left + first;
      for (let from = row * side + first, end = row * side + last; from < end; from++, to++) {
        const colour = source[from], alpha = colour >>> 24;
        if (alpha === 255 || (alpha && !target[to])) target[to] = colour;
        else if (alpha) target[to] = blend(colour, target[to], alpha);
      }
    }
  }

  show(context) {
    this.context.putImageData(this.image, 0, 0);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0); // pixel by pixel, with nothing to be smoothed
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, 0);
    context.restore();
  }
}

// One pixel over another, two channels at a time: red and blue lie in one mask, green in the other.
function blend(over, under, alpha) {
  const rest = 256 - alpha;
  const redBlue = (((over & 0xff00ff) * alpha + (under & 0xff00ff) * rest) >>> 8) & 0xff00ff;
  const green = (((over & 0xff00) * alpha + (under & 0xff00) * rest) >>> 8) & 0xff00;
  return (redBlue | green | (Math.min(255, alpha + (under >>> 24)) << 24)) >>> 0;
}

function makeStamp(colour, rim, square, radius) {
  const side = 2 * Math.ceil(radius + 1.5), canvas = Object.assign(make("canvas"), { width: side, height: side });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.beginPath();
  if (square) context.rect(side / 2 - 0.9 * radius, side / 2 - 0.9 * radius, 1.8 * radius, 1.8 * radius);
  else context.arc(side / 2, side / 2, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  if (rim) Object.assign(context, { strokeStyle: rim, lineWidth: Math.max(1, radius / 4) }).stroke();
  return { side, pixels: new Uint32Array(context.getImageData(0, 0, side, side).data.buffer) };
}
