// How shapes are painted: widths, colours and letters by role and weight, once for the canvas, the SVG and the offline
// page. Where shapes lie is decided in drawing.py. JSON between the braces: view/style.py reads this file too. Lengths grow
// with the root of the zoom, those named px do not. A colour is so much of `over` on `under`; a pair [a, b] of numbers
// is a + b * weight.

export const STYLE = {
  "fit": { "margin": 30, "largest": 2.2 },
  "growth": [0.62, 1.9],
  "baseline": 0.3,
  "shades": { "edge": 0.42, "faint": 0.16, "strong": 0.85 },
  "node": { "rim": 1.5, "faded": 0.3 },
  "edge": {
    "plain": { "width": [1.3, 0], "growth": 1.9, "over": "text", "under": "ground", "share": [0.42, 0], "arrow": 0 },
    "dropped": { "width": [0.8, 1.8], "growth": 1.4, "over": "text", "under": "ground", "share": [0.16, 0], "arrow": 2 },
    "kept": { "width": [2.6, 3.9], "growth": 1.4, "over": "accent", "under": "ground", "share": [0.6, 0.4], "arrow": 0 },
    "forming": { "width": [0.8, 5.7], "growth": 1.4, "over": "accent", "under": "faint", "share": [0, 1], "arrow": 0.5 },
    "cut": { "width": [1.3, 0], "growth": 1.4, "over": "text", "under": "ground", "share": [0.2, 0], "arrow": 2 },
    "added": { "width": [3, 0], "growth": 1.4, "over": "text", "under": "ground", "share": [0.85, 0], "arrow": 0 }
  },
  "band": {
    "kept": { "width": [9, 10], "growth": 1.9, "over": "accent", "under": "ground", "share": [0.25, 0.3] },
    "forming": { "width": [2, 17], "growth": 1.9, "over": "accent", "under": "ground", "share": [0.05, 0.3] }
  },
  "bare_bond": { "width": [13, 0], "growth": 1.9, "over": "text", "under": "ground", "share": [0, 0] },
  "dots": { "edge": 1.9, "band": 1.14, "least_px": 4 },
  "truth": { "width": 1.25, "dash": [3.5, 2.8], "over": "text", "share": 0.85 },
  "ring": [["ground", 6], ["text", 2.6]],
  "mark": { "reach": 4.2, "dot": 2.6, "lines": [["ground", 5.5], ["text", 2.4]] },
  "bond": { "width": 1.8, "over": "text", "share": 0.85, "faded": 0.55, "cut": 0.2 },
  "atom": { "size": 15, "least_px": 14, "weight": 600, "halo": 4, "faded": 0.7, "own": 0.62 },
  "label": { "size": 12.5, "range_px": [14, 16], "weights": [400, 600, 600], "halo_px": 3.5, "faded": 0.64, "share": 0.75 }
};
