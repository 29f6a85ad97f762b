// Names of nodes: which are written, and where they hide least. labels.py does the same for files.

import { mix } from "./base.js";
import { STYLE } from "./style.js";

const { label: RULE } = STYLE;

export function paintLabels(brush) {
  const { picture, theme, projection, px, py, grow } = brush;
  const inView = [...picture.labels.keys()].filter((node) => picture.labels[node] && projection.shows(px[node], py[node]));
  // how much a node must matter for its name to be written: with many nodes in view, and with many that matter
  const close = projection.scale >= RULE.from_scale;
  const least = close ? 0 : [0, 1, 2].find((rank) => inView.filter((node) => importance(brush, node) >= rank).length <= RULE.at_most) ?? 2;
  const size = Math.round(Math.min(RULE.range_px[1], Math.max(RULE.range_px[0], RULE.size * grow)));
  const ink = importantInk(brush), taken = [];
  for (const node of inView.sort((a, b) => importance(brush, b) - importance(brush, a))) {
    const matters = importance(brush, node);
    if (matters < least) break;
    const spot = bestSpot(brush, node, (picture.labelWidths[node] * size) / 100, size, ink, taken);
    if (!spot || (spot.cut && !matters)) continue; // no room that is not another label's, or not enough of it
    taken.push(spot.box);
    const share = matters ? 1 : brush.isFaded(node) ? RULE.faded : RULE.share;
    const colour = mix(theme.text, theme.ground, share), weight = RULE.weights[Number(matters > 0)];
    brush.text(picture.labels[node], spot.x, spot.y, { size, weight, colour, halo: RULE.halo_px });
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
    for (const part of RULE.along) ink.push([ax + (bx - ax) * part, ay + (by - ay) * part]);
  }
  for (const node of picture.labels.keys()) if (!brush.isFaded(node)) ink.push([px[node], py[node]]);
  return ink;
}

// Below, above, right or left of the node: where no other label is, and least of the ink.
function bestSpot(brush, node, width, size, ink, taken) {
  const { projection, picture, grow } = brush, near = RULE.ink_px;
  const away = brush.radius + (picture.targetSet.has(node) ? RULE.target_gap : RULE.gap) * grow;
  const half = width / 2 + RULE.aside_px, tall = size * RULE.tall;
  let best = null;
  for (const [right, down] of RULE.sides) {
    const middle = brush.px[node] + right * (away + half), y = brush.py[node] + down * (away + tall);
    const x = right ? middle : Math.max(half, Math.min(projection.width - half, middle)); // pushed in from the canvas's edge
    const box = [x - half, y - tall, x + half, y + tall];
    if (taken.some((other) => overlap(box, other))) continue;
    const cut = !projection.shows(box[0], box[1], 1) || !projection.shows(box[2], box[3], 1); // by the canvas's edge
    const hidden = RULE.cut_cost * cut + ink.filter(([ix, iy]) => overlap(box, [ix - near, iy - near, ix + near, iy + near])).length;
    if (!best || hidden < best.hidden) best = { x, y, box, cut, hidden };
    if (!hidden) break;
  }
  return best;
}

function overlap(a, b) {
  return a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
}
