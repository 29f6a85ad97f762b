"""The canvas and the SVG are one picture: painted by the same Chromium, they differ by the smoothing of edges only."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from dashboard.view import drawing, payload, scene, style
from dashboard.view.picture import DOT, SQUARE, Panel, Picture
from dashboard.view.shapes import Circle, Line, Square, Triangle, Words
from dashboard.view.svg import svg

ASSETS = Path(payload.__file__).parent / "assets"
# Smoothing moves a line's rim by a fraction of a pixel. What is allowed, of all pixels; a line of the wrong width or
# colour is well above both, as the last tests show.
MEAN = 0.22  # of 255, over all channels and pixels
SHARE = 0.0016  # of pixels that differ by more than FAR in a channel
FAR = 40
PAGE = """<!doctype html><meta charset="utf-8"><style>{css} body {{ margin: 0; background: {ground} }}
.panel header {{ display: none }}
.host {{ width: 480px; --st-background-color: {ground}; --st-text-color: {text}; --st-primary-color: {accent};
--st-font: {font} }}</style><div class="host"><div class="graph-view"></div></div><script type="module">
import render from "./network.js"; render({{ parentElement: document.querySelector(".host"), data: {data},
setTriggerValue() {{}} }});</script>"""


def houses() -> tuple[Picture, Panel]:
    """A ring of nodes with a planted motif: a target, names, faded nodes, squares, dashes and a dotted edge."""
    angle = np.arange(14) / 14 * 2 * np.pi
    picture = Picture(
        nodes=tuple(range(14)),
        x=tuple((150 * np.cos(angle)).round(1).tolist()),
        y=tuple((110 * np.sin(angle)).round(1).tolist()),
        colours=("#E69F00", "#009E73", "#B4BAC1", "#CC79A7", "#8A9097", "#F0E442", "#56B4E9") * 2,
        labels=tuple(f"name {i}" if i % 3 else "" for i in range(14)),
        tips=("a node",) * 14,
        edges=(*((i, (i + 1) % 14) for i in range(14)), (0, 5), (2, 9), (3, 3)),
        shapes=(DOT, SQUARE) * 7,
        targets=(3,),
        truth=(2, 3, 4, 15),
    )
    weights = tuple((i * 37 % 101 / 100) for i in range(17))
    return picture, Panel(
        "p", "P", weights=weights, kept=(2, 3, 4, 14, 16), kept_nodes=(2, 3, 4, 5, 0), unstable=(4, 9)
    )


def benzene() -> tuple[Picture, Panel]:
    """A ring with every second bond double, its hydrogens, and a nitro group and a nitrile on it."""
    angle = np.arange(6) / 6 * 2 * np.pi
    ring = [(50 * np.cos(a), 50 * np.sin(a)) for a in angle]
    outer = [(100 * np.cos(a), 100 * np.sin(a)) for a in angle]
    places = [*ring, *outer, (140.0, 28.0), (140.0, -28.0), (-150.0, 0.0)]
    letters = ("",) * 6 + ("N", "H", "H", "C", "Cl", "H", "O", "O", "N")
    picture = Picture(
        nodes=tuple(range(15)),
        x=tuple(round(float(x), 1) for x, _ in places),
        y=tuple(round(float(y), 1) for _, y in places),
        colours=("#6F7780",) * 6
        + ("#4A7BEA", "#9AA3AD", "#9AA3AD", "#6F7780", "#2E9E4F", "#9AA3AD", "#E0442E", "#E0442E", "#4A7BEA"),
        labels=letters,
        tips=letters,
        edges=tuple((i, (i + 1) % 6) for i in range(6))
        + tuple((i, 6 + i) for i in range(6))
        + ((6, 12), (6, 13), (9, 14)),
        bonds=(2, 1, 2, 1, 2, 1) + (1,) * 6 + (2, 1, 3),
        truth=(6, 12, 13),
    )
    weights = (0.1,) * 6 + (0.6, 0.1, 0.2, 0.1, 0.1, 0.1, 0.97, 0.8, 0.3)
    return picture, Panel("m", "M", weights=weights, kept=(6, 12, 13), kept_nodes=(0, 6, 12, 13), unstable=(13,))


def link() -> tuple[Picture, Panel]:
    """Two ends and directed edges between their neighbourhoods, two of them there and back."""
    picture = Picture(
        nodes=tuple(range(8)),
        x=(-120.0, 120.0, -190.0, -170.0, 0.0, 10.0, 190.0, 180.0),
        y=(0.0, 0.0, 70.0, -80.0, 60.0, -70.0, 60.0, -75.0),
        colours=("#8A9097",) * 8,
        labels=("Valjean", "Javert", "Myriel", "a very long name of a node", "Fantine", "", "Cosette", "Marius"),
        tips=("somebody",) * 8,
        edges=((2, 0), (0, 2), (3, 0), (0, 4), (4, 1), (1, 4), (5, 0), (1, 5), (6, 1), (7, 1)),
        targets=(0, 1),
        directed=True,
    )
    weights = (0.2, 0.9, 0.1, 1.0, 0.7, 0.4, 0.3, 0.5, 0.0, 0.8)
    return picture, Panel("l", "L", weights=weights, kept=(1, 3, 4), kept_nodes=(0, 1, 2, 4))


def arrows() -> tuple[Picture, Panel]:
    """A lattice of arrows and little else, so that heads count for much of the picture."""
    side, rows = 11, 8
    right = [(i, i + 1) for i in range(side * rows) if (i + 1) % side]
    down = [(i + side, i) for i in range(side * (rows - 1))]
    count = side * rows
    picture = Picture(
        nodes=tuple(range(count)),
        x=tuple(40.0 * (i % side) for i in range(count)),
        y=tuple(40.0 * (i // side) for i in range(count)),
        colours=("#8A9097",) * count,
        labels=("",) * count,
        tips=("",) * count,
        edges=tuple(right + down),
        directed=True,
    )
    weights = tuple(i % 5 / 4 for i in range(len(picture.edges)))
    return picture, Panel("a", "A", weights=weights, kept=tuple(range(len(weights))))


CASES = {
    "node": houses(),
    "graph": (houses()[0], Panel("g", "G")),
    "molecule": benzene(),
    "bonds": (benzene()[0], Panel("g", "G")),
    "link": link(),
    "directed": (link()[0], Panel("g", "G")),
    "arrows": arrows(),
    "marks": (houses()[0], replace(houses()[1], shared=(2, 14), cut=(0, 7), added=(9, 15))),
    "changed": (houses()[0], Panel("g", "G", cut=(0, 7), added=(15,))),
    "broken bonds": (benzene()[0], Panel("g", "G", cut=(1, 6), added=(3,))),
}


@pytest.fixture(scope="module")
def sheet(browser):
    """A page with nothing behind it but the assets folder."""
    context = browser.new_context(viewport={"width": 520, "height": 560})
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.html = ""

    def answer(route):
        path = urlsplit(route.request.url).path.lstrip("/")
        if not path:
            return route.fulfill(body=page.html, content_type="text/html")
        if not (ASSETS / path).is_file():
            return route.fulfill(status=404)
        return route.fulfill(body=(ASSETS / path).read_bytes(), content_type="text/javascript")

    page.route("**/*", answer)
    yield page
    assert page.errors == []
    context.close()


def pixels(shot: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def on_canvas(sheet, picture: Picture, panel: Panel, dark: bool) -> np.ndarray:
    theme = style.DARK if dark else style.LIGHT
    data = payload.network("k", picture, [panel], group="", columns=1, height=360, clickable=False)
    css = (ASSETS / "view.css").read_text(encoding="utf-8")
    sheet.html = PAGE.format(css=css, font=style.SANS, data=json.dumps(data), **theme._asdict())
    sheet.goto("http://pixels.test/")
    sheet.wait_for_function("globalThis.graphViews?.k?.draws > 0")
    sheet.wait_for_timeout(100)
    return pixels(sheet.locator("canvas").first.screenshot())


def as_svg(sheet, picture: Picture, panel: Panel, dark: bool, shape: tuple) -> np.ndarray:
    text = svg(picture, panel, dark=dark, title=False, width=shape[1], height=shape[0])
    sheet.html = f'<!doctype html><meta charset="utf-8"><body style="margin:0">{text}'
    sheet.goto("http://pixels.test/")
    return pixels(sheet.locator("svg").screenshot())


def difference(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The mean over all, and the share of pixels that are far apart."""
    assert one.shape == other.shape
    apart = np.abs(one - other)
    return float(apart.mean()), float((apart.max(axis=2) > FAR).mean())


def is_same(found: tuple[float, float]) -> bool:
    return found[0] <= MEAN and found[1] <= SHARE


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("case", CASES)
def test_canvas_and_svg_are_the_same_picture(sheet, case, dark):
    picture, panel = CASES[case]
    canvas = on_canvas(sheet, picture, panel, dark)
    assert np.ptp(canvas) > 100  # something is painted
    found = difference(canvas, as_svg(sheet, picture, panel, dark, canvas.shape))
    assert is_same(found), found


def stroke_rules(change):
    """Another style.js, for the SVG only."""

    def apply(monkeypatch) -> None:
        wrong = json.loads(json.dumps(style.STYLE))
        change(wrong)
        monkeypatch.setattr(scene, "STYLE", wrong)

    return apply


def drawn(**numbers: float):
    """Another number of drawing.py, for the SVG only."""

    def apply(monkeypatch) -> None:
        for name, number in numbers.items():
            monkeypatch.setattr(drawing, name, number)

    return apply


def moved_names(monkeypatch) -> None:
    monkeypatch.setattr(scene, "PLACES", tuple(place._replace(down=1.3 * place.down) for place in scene.PLACES))


MUTATIONS = {
    "a wider edge": ("node", stroke_rules(lambda rules: rules["edge"]["kept"].update(width=[3.4, 3.9]))),
    "a paler edge": ("node", stroke_rules(lambda rules: rules["edge"]["kept"].update(share=[0.35, 0.4]))),
    "another accent": ("node", stroke_rules(lambda rules: rules["edge"]["kept"].update(over="text"))),
    "a larger node": ("graph", lambda patch: patch.setattr(scene, "drawing_of", larger_nodes)),
    "a thicker bond": ("bonds", stroke_rules(lambda rules: rules["bond"].update(width=2.6))),
    "a narrower band": ("molecule", stroke_rules(lambda rules: rules["band"]["kept"].update(width=[7, 10]))),
    "a larger arrow": ("arrows", drawn(HEAD=5.2)),
    "arrows farther off": ("arrows", drawn(CLEAR=1.5)),
    "blunt arrows": ("arrows", drawn(SPREAD=0.68)),
    "wider dashes": ("node", drawn(TRUTH_GAP=4)),
    "no dots": ("node", stroke_rules(lambda rules: rules["dots"].update(edge=0.5, least_px=0))),
    "names elsewhere": ("graph", moved_names),
}


def larger_nodes(picture: Picture, **also: bool) -> drawing.Drawing:
    return drawing.drawing_of(picture, **also)._replace(radius=6.6)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_the_bounds_catch_a_picture_that_is_a_little_wrong(sheet, monkeypatch, mutation):
    case, change = MUTATIONS[mutation]
    picture, panel = CASES[case]
    canvas = on_canvas(sheet, picture, panel, dark=False)
    change(monkeypatch)
    found = difference(canvas, as_svg(sheet, picture, panel, False, canvas.shape))
    assert not is_same(found), found


def test_the_bounds_catch_one_node_of_another_colour(sheet):
    picture, panel = CASES["graph"]
    canvas = on_canvas(sheet, picture, panel, dark=False)
    recoloured = replace(picture, colours=("#0072B2", *picture.colours[1:]))
    found = difference(canvas, as_svg(sheet, recoloured, panel, False, canvas.shape))
    assert not is_same(found), found


# ---- what is painted, call by call: closer than pixels, and at zooms no file has ----

RECORD = """async ([data, camera, theme]) => {
  const [{ paintPanel }, { readPicture }, { Projection }, { bytesOf, mix }, { STYLE }] =
    await Promise.all(["paint", "network", "camera", "base", "style"].map((name) => import(`./${name}.js`)));
  for (const [name, share] of Object.entries(STYLE.shades)) theme[name] = mix(theme.text, theme.ground, share);
  const calls = [];
  let points = [], arc = null, dash = [];
  const context = {
    beginPath() { points = []; arc = null; },
    moveTo(...point) { points.push(point); },
    lineTo(...point) { points.push(point); },
    arc(x, y, radius) { arc = [x, y, radius]; },
    rect(x, y, width) { arc = [x, y, width]; },
    setLineDash(lengths) { dash = lengths; },
    stroke() { calls.push(["stroke", arc ?? points.flat(), [this.lineWidth, ...dash], this.strokeStyle]); },
    fill() { calls.push(["fill", arc ?? points.flat(), [], this.fillStyle]); },
    strokeText() {},
    fillText(text, x, y) { calls.push([text, [x, y], [this.lineWidth, parseInt(this.font.split(" ")[1])], this.fillStyle, this.textAlign]); },
  };
  const picture = readPicture(data.picture), [panel] = data.panels;
  const projection = new Projection({ bounds: picture.bounds, ...camera }, { width: 480, height: 360, ...STYLE.fit, stretch: 1 });
  const look = {
    weights: panel.weights === null ? null : bytesOf(panel.weights), labels: bytesOf(panel.labels), forming: camera.forming,
    kept: new Set(panel.kept), keptNodes: new Set(panel.kept_nodes), unstable: new Set(panel.unstable), shared: new Set(panel.shared), cut: new Set(panel.cut), added: new Set(panel.added),
  };
  paintPanel(context, projection, picture, look, theme, null);
  return [calls, [projection.scale, projection.shiftX, projection.shiftY]];
}"""


def as_calls(shapes, theme: style.Theme) -> list:
    """What a canvas would be asked for these shapes."""
    calls = []
    for shape in shapes:
        match shape:
            case Line(ends, stroke, _):
                calls.append(stroked(ends, stroke, theme))
            case Circle(x, y, radius, None, stroke, _):
                calls.append(stroked((x, y, radius), stroke, theme))
            case Circle(x, y, radius, fill, None, _):
                calls.append(filled((x, y, radius), fill, theme))
            case Circle(x, y, radius, fill, stroke, _):
                calls += [stroked((x, y, radius), stroke, theme), filled((x, y, radius), fill, theme)]
            case Square(x, y, half, fill, stroke, _):
                place = (x - half, y - half, 2 * half)
                calls += [stroked(place, stroke, theme), filled(place, fill, theme)]
            case Triangle(corners, fill):
                calls.append(filled([number for corner in corners for number in corner], fill, theme))
            case Words(text, x, y, size, _, fill, halo, anchor):
                align = "center" if anchor == "middle" else anchor
                under = np.floor(y + style.STYLE["baseline"] * size + 0.5)
                calls.append([text, [x, under], [halo, size], style.colour(fill, theme), align])
    return calls


def stroked(place, stroke, theme) -> list:
    return ["stroke", list(place), [stroke.width, *(stroke.dash or ())], style.colour(stroke.ink, theme)]


def filled(place, fill, theme) -> list:
    return ["fill", list(place), [], style.colour(fill, theme)]


def channels(colour: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", colour)] if "(" in colour else list(bytes.fromhex(colour[1:]))


@pytest.mark.parametrize("forming", [False, True], ids=["final", "forming"])
@pytest.mark.parametrize("zoom", [0.5, 1, 3.3])
@pytest.mark.parametrize("case", CASES)
def test_every_shape_is_where_drawing_says_at_any_zoom(sheet, case, zoom, forming):
    picture, panel = CASES[case]
    theme = style.LIGHT
    data = payload.network("k", picture, [panel], group="", columns=1, height=360, clickable=False)
    sheet.html = "<!doctype html>"
    sheet.goto("http://pixels.test/")
    colours = theme._asdict() | {"font": "sans-serif"}
    camera = {"x": 12, "y": -7, "zoom": zoom, "forming": forming}
    calls, (scale, left, top) = sheet.evaluate(RECORD, [json.loads(json.dumps(data)), camera, colours])
    shown = scene.Scene.on(picture, panel, scene.View(scale, left, top, 480, 360), forming=forming)
    expected = as_calls(shown.shapes(tips=False), theme)
    assert len(calls) == len(expected) > len(picture.edges)
    for call, wanted in zip(calls, expected, strict=True):
        assert (call[0], call[4:]) == (wanted[0], wanted[4:])
        assert call[1] == pytest.approx(wanted[1], abs=0.01)  # pixels
        assert call[2] == pytest.approx(wanted[2], abs=0.001)
        assert channels(call[3]) == pytest.approx(channels(wanted[3]), abs=2)  # shares of two decimals in files
