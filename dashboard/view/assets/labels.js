// Names of nodes: which are written, and where they hide least.

import { mix } from "./base.js";

const LABELS_AT_MOST = 40; // nodes in view; with more, labels wait until one zooms in
const LABELS_FROM_SCALE = 1.25;

export function paintLabels(brush) {
  const { context, picture, theme, projection, px, py, grow } = brush;
  const inView = [...picture.labels.keys()].filter((node) => picture.labels[node] && projection.shows(px[node], py[node]));
  // how much a node must matter for its name to be written: with many nodes in view, and with many that matter
  const close = projection.scale >= LABELS_FROM_SCALE;
  const least = close ? 0 : [0, 1, 2].find((rank) => inView.filter((node) => importance(brush, node) >= rank).length <= LABELS_AT_MOST) ?? 2;
  const size = Math.round(Math.min(15, Math.max(11, 12.5 * grow)));
  const ink = importantInk(brush), taken = [];
  Object.assign(context, { textAlign: "center", textBaseline: "middle" });
  for (const node of inView.sort((a, b) => importance(brush, b) - importance(brush, a))) {
    const matters = importance(brush, node);
    if (matters < least) break;
    brush.font(size, matters ? 600 : 400);
    const words = shorten(picture.labels[node]);
    const spot = bestSpot(brush, node, context.measureText(words).width, size, ink, taken);
    if (!spot || (spot.cut && !matters)) continue; // no room that is not another label's, or not enough of it
    taken.push(spot.box);
    brush.text(words, spot.x, spot.y, matters ? theme.text : mix(theme.text, theme.ground, brush.isFaded(node) ? 0.4 : 0.75));
  }
}

// 2 for what is explained, 1 for what the explanation keeps, 0 for the rest.
function importance(brush, node) {
  const { look, picture } = brush;
  if (picture.targetSet.has(node)) return 2;
  return look.weights && !look.forming && !brush.isFaded(node) ? 1 : 0;
}

// Points along what a label should not cover: kept edges, and nodes that are not faded.
function importantInk(brush) {
  const { picture, look, px, py } = brush, ink = [];
  for (const edge of look.weights ? look.kept : []) {
    const { ax, ay, bx, by } = brush.segment(edge);
    for (const part of [0.2, 0.35, 0.5, 0.65, 0.8]) ink.push([ax + (bx - ax) * part, ay + (by - ay) * part]);
  }
  for (const node of picture.labels.keys()) if (!brush.isFaded(node)) ink.push([px[node], py[node]]);
  return ink;
}

// Below, above, right or left of the node: where no other label is, and least of the ink.
function bestSpot(brush, node, width, size, ink, taken) {
  const { projection } = brush;
  const away = brush.radius + (brush.picture.targetSet.has(node) ? 6.5 : 2.5) * brush.grow, half = width / 2 + 2, tall = size * 0.6;
  let best = null;
  for (const [right, down] of [[0, 1], [0, -1], [1, 0], [-1, 0]]) {
    const middle = brush.px[node] + right * (away + half), y = brush.py[node] + down * (away + tall);
    const x = right ? middle : Math.max(half, Math.min(projection.width - half, middle)); // pushed in from the canvas's edge
    const box = [x - half, y - tall, x + half, y + tall];
    if (taken.some((other) => overlap(box, other))) continue;
    const cut = !projection.shows(box[0], box[1], 1) || !projection.shows(box[2], box[3], 1); // by the canvas's edge
    const hidden = 3 * cut + ink.filter(([ix, iy]) => overlap(box, [ix - 3, iy - 3, ix + 3, iy + 3])).length;
    if (!best || hidden < best.hidden) best = { x, y, box, cut, hidden };
    if (!hidden) break;
  }
  return best;
}

function shorten(label) {
  return label.length > 18 ? label.slice(0, 17) + "…" : label;
}

function overlap(a, b) {
  return a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
}
