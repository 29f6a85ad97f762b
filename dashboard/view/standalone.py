"""One explanation as one HTML file: opens offline, asks the network for nothing, follows the reader's light or dark."""

import base64
import hashlib
from collections.abc import Mapping, Sequence

from dashboard.view.definitions import Definition, used_in
from dashboard.view.picture import Panel, Picture, known_truth
from dashboard.view.style import DARK, LIGHT, SANS
from dashboard.view.svg import svg
from dashboard.view.svg_shapes import escaped, theme_rules

# No "less than" and no "and" sign below: the page then reads as XML too, which is how its tests take it apart.
SCRIPT = """
"use strict";
// One camera for all panels: turn the wheel to zoom, drag to move, double click or 0 to see everything again.
const panels = [...document.querySelectorAll("figure svg")];
const home = panels.length ? panels[0].getAttribute("viewBox").split(" ").map(Number) : [0, 0, 1, 1];
let camera = [...home];
function look(x, y, width) {
  camera = [x, y, width, width * home[3] / home[2]];
  panels.forEach((panel) => panel.setAttribute("viewBox", camera.join(" ")));
}
function zoom(factor, across = 0.5, down = 0.5) {
  const width = Math.min(Math.max(camera[2] * factor, home[2] / 30), home[2] * 2);
  const height = width * home[3] / home[2];
  look(camera[0] + (camera[2] - width) * across, camera[1] + (camera[3] - height) * down, width);
}
const keys = {
  "+": () => zoom(0.8), "-": () => zoom(1.25), "0": () => look(home[0], home[1], home[2]),
  ArrowLeft: () => look(camera[0] - camera[2] / 10, camera[1], camera[2]),
  ArrowRight: () => look(camera[0] + camera[2] / 10, camera[1], camera[2]),
  ArrowUp: () => look(camera[0], camera[1] - camera[3] / 10, camera[2]),
  ArrowDown: () => look(camera[0], camera[1] + camera[3] / 10, camera[2]),
};
for (const panel of panels) {
  panel.setAttribute("tabindex", "0");
  panel.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = panel.getBoundingClientRect();
    const across = (event.clientX - box.left) / box.width, down = (event.clientY - box.top) / box.height;
    zoom(Math.exp(event.deltaY * 0.0015), across, down);
  }, { passive: false });
  panel.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") panel.setPointerCapture(event.pointerId);
  });
  panel.addEventListener("pointermove", (event) => {
    if (!panel.hasPointerCapture(event.pointerId)) return;
    const unit = camera[2] / panel.getBoundingClientRect().width;
    look(camera[0] - event.movementX * unit, camera[1] - event.movementY * unit, camera[2]);
  });
  panel.addEventListener("dblclick", keys["0"]);
  panel.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}
"""

LAYOUT = """
body { margin: 0 auto; padding: 2rem 1.5rem 3rem; max-width: 84rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 FONTS; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.7rem; font-weight: 650; line-height: 1.25; margin: 0 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 2.2rem 0 .6rem; }
p { margin: .2rem 0; max-width: 48rem; overflow-wrap: anywhere; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1.6rem;
  margin: 1.6rem 0 .8rem; }
figure { margin: 0; min-width: 0; display: grid; grid-template-rows: 1fr auto; }
figcaption { margin-bottom: .4rem; overflow-wrap: anywhere; }
figcaption strong { display: block; font-weight: 600; }
figcaption span, .key, th { color: var(--soft); font-size: .875rem; }
figcaption span { display: block; }
figure svg { display: block; width: 100%; height: auto; background: var(--ground); border: 1px solid var(--border);
  border-radius: 6px; cursor: grab; }
figure svg:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .3rem 1.4rem .3rem 0; vertical-align: top; font-weight: 400;
  border-bottom: 1px solid var(--border); }
.bar { display: inline-block; width: 7rem; height: .6rem; margin-right: .5rem; }
.bar i { display: block; height: 100%; min-width: 1px; background: var(--accent); border-radius: 1px; }
@media print { .panels { grid-template-columns: 1fr 1fr; } figure, tr { break-inside: avoid; } }
"""


Weights = Sequence[tuple[str, float]]  # (feature, from 0 to 1)
Features = Mapping[str, Weights] | Sequence[tuple[str, Weights]]  # by method


def html(
    title: str,
    sentences: Sequence[str],
    picture: Picture,
    panels: Sequence[Panel],
    *,
    features: Features | None = None,
    settings: Mapping[str, object] | None = None,
    dark: bool = False,
) -> str:
    """The whole page. With `dark` it is dark for every reader, otherwise as the reader's machine asks."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>',
            f"<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}; base-uri 'none'; form-action 'none'\"/>",
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{escaped(title)}</title>\n<style>{styles(dark)}</style>\n</head>\n<body>\n<main>",
            f"<h1>{escaped(title)}</h1>",
            *(f"<p>{escaped(sentence)}</p>" for sentence in sentences),
            '<div class="panels">',
            *(_figure(picture, panel, dark) for panel in panels),
            "</div>",
            f'<p class="key">{_key(picture, panels)}</p>',
            _feature_table(dict(features or ())),
            _settings_table(settings or {}),
            _words(used_in((*sentences, *(line for panel in panels for line in panel.lines)))),
            f"</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        )
    )


def styles(dark: bool = False) -> str:
    """Light as the ground rule, dark where the reader's machine asks for it, and always light on paper."""
    light, night = _colours(False), _colours(True)
    layout = LAYOUT.replace("FONTS", SANS)
    if dark:
        return f"\n@media screen{{{night}}}\n@media print{{{light}}}{layout}"
    return f"\n{light}\n@media screen and (prefers-color-scheme:dark){{{night}}}{layout}"


def _colours(dark: bool) -> str:
    theme = DARK if dark else LIGHT
    border, soft, scheme = ("#3A4046", "#A4ABB2", "dark") if dark else ("#DADDD9", "#5B636B", "light")
    names = f"--ground:{theme.ground};--text:{theme.text};--accent:{theme.accent};--border:{border};--soft:{soft}"
    return f":root{{color-scheme:{scheme};{names}}}{theme_rules(dark)}"


def _figure(picture: Picture, panel: Panel, dark: bool) -> str:
    lines = "".join(f"<span>{escaped(line)}</span>" for line in panel.lines)
    caption = f"<figcaption><strong>{escaped(panel.title)}</strong>{lines}</figcaption>"
    return f"<figure>{caption}\n{svg(picture, panel, dark=dark, width=480, height=400, title=False)}\n</figure>"


def _key(picture: Picture, panels: Sequence[Panel]) -> str:
    """How to read the signs that are there, and no others."""
    weighed = any(panel.weights is not None for panel in panels)
    signs = (
        (weighed, "The wider and deeper the blue, the more the prediction rests on that edge."),
        (picture.targets, "Ring: what is explained."),
        (picture.truth, f"Dashed outline: {known_truth(picture)}."),
        (any(panel.unstable for panel in panels), "Dotted: kept from some starts, dropped from others."),
        (True, "Turn the wheel to zoom, drag to move, double click to see everything."),
    )
    return " ".join(sentence for shown, sentence in signs if shown)


def _feature_table(features: Mapping[str, Weights]) -> str:
    """Features down, methods across; a bar and its number in each cell, nothing where a method does not list it."""
    names = list(dict.fromkeys(name for rows in features.values() for name, _ in rows))
    if not names:
        return ""
    weights = [dict(rows) for rows in features.values()]
    head = "".join(f'<th scope="col">{escaped(method)}</th>' for method in features)
    body = "\n".join(
        f'<tr><th scope="row">{escaped(name)}</th>{"".join(_bar(column.get(name)) for column in weights)}</tr>'
        for name in names
    )
    return f'<h2>Features</h2>\n<div class="table"><table>\n<tr><th scope="col">Feature</th>{head}</tr>\n{body}\n</table></div>'


def _bar(weight: float | None) -> str:
    if weight is None:
        return "<td></td>"
    share = min(max(100 * weight, 0), 100)
    return f'<td><span class="bar"><i style="width:{share:.0f}%"></i></span>{weight:.2f}</td>'


def _settings_table(settings: Mapping[str, object]) -> str:
    if not settings:
        return ""
    rows = "\n".join(
        f'<tr><th scope="row">{escaped(name)}</th><td>{escaped(value)}</td></tr>' for name, value in settings.items()
    )
    return f'<h2>Settings</h2>\n<div class="table"><table>\n{rows}\n</table></div>'


def _words(used: Mapping[str, Definition]) -> str:
    """What the words on the page mean: here nothing can be pointed at."""
    if not used:
        return ""
    rows = "\n".join(
        f'<tr><th scope="row">{escaped(term)}</th><td>{escaped(told.sentence)}</td><td>{escaped(told.formula)}</td></tr>'
        for term, told in used.items()
    )
    return f'<h2>Words</h2>\n<div class="table"><table>\n{rows}\n</table></div>'
