// How a graph looks: every number that the canvas, the SVG and the offline page share, once. JSON between the braces:
// view/style.py reads this file too. Lengths grow with the root of the zoom, those named px do not. A colour is
// [over, under, share]: so much of `over` on `under`; a pair [a, b] of numbers is a + b * weight.

export const STYLE = {
  "fit": { "margin": 30, "largest": 1.7 },
  "growth": [0.62, 1.9],
  "baseline": 0.3,
  "shades": { "edge": 0.42, "faint": 0.16, "strong": 0.85 },
  "node": { "radius": 6, "square": 0.9, "rim": 1.5, "faded": 0.3 },
  "edge": {
    "plain": { "width": [1.3, 0], "growth": 1.9, "over": "text", "under": "ground", "share": [0.42, 0], "arrow": 0 },
    "dropped": { "width": [0.8, 1.8], "growth": 1.4, "over": "text", "under": "ground", "share": [0.16, 0], "arrow": 2 },
    "kept": { "width": [2.6, 3.9], "growth": 1.4, "over": "accent", "under": "ground", "share": [0.6, 0.4], "arrow": 0 },
    "forming": { "width": [0.8, 5.7], "growth": 1.4, "over": "accent", "under": "faint", "share": [0, 1], "arrow": 0.5 }
  },
  "band": {
    "kept": { "width": [9, 10], "growth": 1.9, "over": "accent", "under": "ground", "share": [0.25, 0.3] },
    "forming": { "width": [2, 17], "growth": 1.9, "over": "accent", "under": "ground", "share": [0.05, 0.3] }
  },
  "line": { "twin": 3, "inset": 0.45, "loop_rise": 1.6 },
  "arrow": { "size": 4.5, "by_width": 1.4, "spread": 0.6, "gap": 1 },
  "dots": { "gap": 1.9, "band_gap": 1.14, "least_px": 4 },
  "truth": { "width": 1.25, "aside": 2.2, "dash": [3.5, 2.8], "gap": 1, "bare_bond": 13, "over": "text", "share": 0.85 },
  "ring": { "gap": 3.5, "halo": 6, "width": 2.6 },
  "bond": { "width": 1.8, "inset": 0.3, "over": "text", "share": 0.85, "faded": 0.55 },
  "atom": { "reach": 11, "size": 15, "least_px": 11, "weight": 600, "down": 1, "halo": 4, "faded": 0.55 },
  "label": {
    "at_most": 40, "from_scale": 1.25, "size": 12.5, "range_px": [11, 15], "weights": [400, 600], "halo_px": 3.5,
    "gap": 2.5, "target_gap": 6.5, "aside_px": 2, "tall": 0.6, "ink_px": 3, "cut_cost": 3, "faded": 0.4, "share": 0.75,
    "along": [0.2, 0.35, 0.5, 0.65, 0.8], "sides": [[0, 1], [0, -1], [1, 0], [-1, 0]]
  }
};
