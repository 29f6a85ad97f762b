// The camera: where a canvas looks. It is shared by all canvases that show the same picture in the same group.
//
// A camera is a centre in the picture's own units and a zoom, where zoom 1 fits the picture into the canvas, whatever
// the size of that canvas. So a large panel and a small one can share it, and a resized window still shows the same part.

import { registry } from "./base.js";

const CAMERAS_KEPT = 60; // pictures whose camera is remembered; the oldest is forgotten
export const ZOOM_RANGE = [0.5, 40];

export function boundsOf(xs, ys) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (let i = 0; i < xs.length; i++) {
    if (xs[i] < box.left) box.left = xs[i];
    if (xs[i] > box.right) box.right = xs[i];
    if (ys[i] < box.top) box.top = ys[i];
    if (ys[i] > box.bottom) box.bottom = ys[i];
  }
  return xs.length ? box : { left: 0, right: 0, top: 0, bottom: 0 };
}

export function cameraFor(name, bounds) {
  const { cameras } = registry;
  const camera = cameras.get(name) ?? fitCamera({ name, bounds, focus: null });
  cameras.delete(name);
  cameras.set(name, camera); // last in the order of use
  if (cameras.size > CAMERAS_KEPT) cameras.delete(cameras.keys().next().value);
  return camera;
}

export function fitCamera(camera) {
  const { left, right, top, bottom } = camera.bounds;
  return Object.assign(camera, { x: (left + right) / 2, y: (top + bottom) / 2, zoom: 1 });
}

// The centre stays within the picture, so that nobody loses it.
export function moveCamera(camera, x, y) {
  const { left, right, top, bottom } = camera.bounds;
  camera.x = Math.min(right, Math.max(left, x));
  camera.y = Math.min(bottom, Math.max(top, y));
}

// Where picture units fall on a canvas of the given size.
// `stretch` is how much more one axis may be enlarged than the other: 1 for a drawing, more for a map, whose axes mean nothing.
export class Projection {
  constructor(camera, { width, height, margin, largest, stretch }) {
    const { bounds } = camera;
    const fit = (size, extent) => Math.max(1, size - 2 * margin) / Math.max(extent, 1e-6);
    const across = fit(width, bounds.right - bounds.left);
    const down = fit(height, bounds.bottom - bounds.top);
    const least = Math.min(across, down, largest);
    this.scaleX = Math.min(across, least * stretch, largest) * camera.zoom;
    this.scaleY = Math.min(down, least * stretch, largest) * camera.zoom;
    this.scale = least * camera.zoom;
    this.zoom = camera.zoom;
    this.width = width;
    this.height = height;
    this.shiftX = width / 2 - camera.x * this.scaleX;
    this.shiftY = height / 2 - camera.y * this.scaleY;
  }
  x(value) { return value * this.scaleX + this.shiftX; }
  y(value) { return value * this.scaleY + this.shiftY; }
  backX(pixel) { return (pixel - this.shiftX) / this.scaleX; }
  backY(pixel) { return (pixel - this.shiftY) / this.scaleY; }
  shows(x, y, slack = 0) { return x > -slack && y > -slack && x < this.width + slack && y < this.height + slack; }
}

// A plain loop: 10,000 points take some hundredths of a millisecond, and an index would have to be kept up to date.
export function nearestPoint(xs, ys, projection, px, py, within) {
  let best = null, bestSquare = within * within;
  for (let i = 0; i < xs.length; i++) {
    const dx = projection.x(xs[i]) - px, dy = projection.y(ys[i]) - py, square = dx * dx + dy * dy;
    if (square <= bestSquare) { best = i; bestSquare = square; }
  }
  return best;
}

export function distanceToSegment(px, py, ax, ay, bx, by) {
  const dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
  const along = length ? Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / length)) : 0;
  return Math.hypot(px - ax - along * dx, py - ay - along * dy);
}

// Which of the candidates lies most nearly in a direction: near and straight ahead beats far or aside.
export function towards(xs, ys, from, candidates, [dx, dy]) {
  let best = null, bestCost = Infinity;
  for (const i of candidates) {
    const x = xs[i] - xs[from], y = ys[i] - ys[from], ahead = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
    if (i === from || ahead <= 0 || aside > 2 * ahead) continue;
    const cost = ahead + 2 * aside;
    if (cost < bestCost) { best = i; bestCost = cost; }
  }
  return best;
}
