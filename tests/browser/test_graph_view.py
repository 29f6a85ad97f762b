"""The clickable views in a real Chromium: real mouse, real keys, and what Python hears of them."""

import base64
import json
import math
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from serving import serving

from dashboard.view import payload
from dashboard.view.picture import Panel, Picture, Points

expect.set_options(timeout=30_000)
HOSTILE = "<img src=x onerror=alert(1)>"
HOSTILE_NODE, TARGET = 149, 146  # of the houses in graph_view_app.py
VIEWS = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of graph_view_app.py; the `page` of conftest opens this one instead of the dashboard."""
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(log, script=str(Path(__file__).with_name("graph_view_app.py"))) as served:
        yield served.url
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture
def views(page: Page) -> Page:
    """The open page, with every frame of its websocket in `page.traffic`."""
    page.traffic = []
    page.on("websocket", lambda link: _listen(link, page.traffic))
    page.goto("/")
    page.wait_for_function(f"Object.keys(globalThis.graphViews ?? {{}}).length === {VIEWS}")
    settled(page)
    return page


def _listen(link, traffic: list) -> None:
    link.on("framereceived", lambda frame: traffic.append(frame))
    link.on("framesent", lambda frame: traffic.append(frame))


def settled(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    page.wait_for_timeout(200)  # the last drawing


def report(page: Page) -> str:
    return page.get_by_text(re.compile(r"^runs=")).inner_text()


def said(page: Page, text: str) -> None:
    expect(page.get_by_text(re.compile(r"^runs="))).to_contain_text(text)
    settled(page)


def canvas(page: Page, label: str):
    return page.locator(f'.stage canvas[aria-label^="{label}"]').first


def node(page: Page, number: int, where: str = "houses.panels.graph", shown: bool = True) -> tuple[float, float]:
    if shown:
        page.evaluate(f"graphViews.{where}.stage.canvas.scrollIntoView({{ block: 'center' }})")
    point = page.evaluate(f"graphViews.{where}.pointOf({number})")
    assert point["onTop"], f"{number} lies under another"
    return point["x"], point["y"]


def camera(page: Page, view: str = "houses") -> dict:
    return page.evaluate(f"graphViews.{view}.camera()")


def pixels(page: Page, where: str) -> str:
    return page.evaluate(
        f"""async () => {{ const {{ stage }} = graphViews.{where};
        await new Promise(requestAnimationFrame); stage.draw(); return stage.canvas.toDataURL() }}"""
    )


# ---- clicks ----


def test_a_click_gives_python_the_number_of_the_node(views):
    views.mouse.click(*node(views, 120))
    said(views, "clicks={'houses': (1, 120)}")
    assert "'houses': 120" in report(views)  # also returned, in this very run


def test_the_same_node_twice_is_two_clicks_and_a_rerun_is_none(views):
    views.mouse.click(*node(views, 120))
    said(views, "clicks={'houses': (1, 120)}")
    views.wait_for_timeout(600)  # a person's second click, not a double click
    views.mouse.click(*node(views, 120))
    said(views, "clicks={'houses': (2, 120)}")
    views.get_by_role("slider", name="Seed").press("ArrowRight")
    said(views, "seed=1 ")
    assert "clicks={'houses': (2, 120)}" in report(views)
    assert "'houses': None" in report(views)


def test_a_drag_is_not_a_click(views):
    x, y = node(views, 120)
    before = camera(views)
    views.mouse.move(x, y)
    views.mouse.down()
    views.mouse.move(x - 60, y + 30, steps=6)
    views.mouse.up()
    views.wait_for_timeout(500)
    assert "runs=1 " in report(views)
    assert camera(views) != before


def test_a_press_on_the_ground_chooses_nothing(views):
    box = canvas(views, "Neighbourhood").bounding_box()
    views.mouse.click(box["x"] + 3, box["y"] + box["height"] - 3)
    views.wait_for_timeout(500)
    assert "runs=1 " in report(views)


# ---- camera ----


def test_zoom_and_pan_reach_all_panels_of_the_group(views):
    x, y = node(views, 120)
    views.mouse.move(x, y)
    views.keyboard.down("Control")
    views.mouse.wheel(0, -200)
    views.keyboard.up("Control")
    views.mouse.down()
    views.mouse.move(x + 40, y + 25, steps=5)
    views.mouse.up()
    moved = camera(views)
    assert moved["zoom"] > 1.2
    assert camera(views, "again") == moved  # another component of the group
    cameras = views.evaluate("Object.values(graphViews.houses.panels).map((panel) => panel.stage.camera)")
    assert all(other == cameras[0] for other in cameras)
    assert camera(views, "molecule")["zoom"] == 1


def test_zoom_is_about_the_pointer(views):
    x, y = node(views, 120)
    views.mouse.move(x, y)
    views.keyboard.down("Control")
    views.mouse.wheel(0, -200)
    views.keyboard.up("Control")
    assert node(views, 120, shown=False) == pytest.approx((x, y), abs=1.5)


def test_the_wheel_scrolls_the_page_until_the_canvas_was_pressed(views):
    views.set_viewport_size({"width": 1280, "height": 500})
    box = canvas(views, "Neighbourhood").bounding_box()
    spot = box["x"] + 4, box["y"] + 30  # no node here
    views.mouse.move(*spot)
    views.mouse.wheel(0, 60)
    views.wait_for_timeout(400)
    assert camera(views)["zoom"] == 1
    assert canvas(views, "Neighbourhood").bounding_box()["y"] < box["y"]  # the page moved
    box = canvas(views, "Neighbourhood").bounding_box()
    views.mouse.click(box["x"] + 4, box["y"] + 60)
    views.mouse.wheel(0, -120)
    views.wait_for_timeout(400)
    assert camera(views)["zoom"] > 1
    assert canvas(views, "Neighbourhood").bounding_box() == box


def test_double_click_and_keys_fit_and_zoom(views):
    canvas(views, "Neighbourhood").focus()
    start = camera(views)
    for key in "++-":
        views.keyboard.press(key)
    assert camera(views)["zoom"] == pytest.approx(1.25)
    views.keyboard.press("0")
    assert camera(views) == start
    views.keyboard.press("+")
    box = canvas(views, "Neighbourhood").bounding_box()
    views.mouse.dblclick(box["x"] + 3, box["y"] + box["height"] - 3)
    assert camera(views) == start
    assert "runs=1 " in report(views)


def test_two_fingers_zoom_and_are_no_click(views):
    x, y = node(views, 120)
    touch = views.context.new_cdp_session(views)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 80), ("touchEnd", None)):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    views.wait_for_timeout(500)
    assert camera(views)["zoom"] > 2
    assert "runs=1 " in report(views)


def test_ten_reruns_keep_the_view_and_its_camera(views):
    canvas(views, "Neighbourhood").focus()
    for key in ("+", "+", "ArrowRight"):
        views.keyboard.press(key)
    canvas(views, "Map").focus()
    views.keyboard.press("+")
    kept = camera(views), camera(views, "map")
    views.evaluate("void (globalThis.before = { ...graphViews })")
    drawn = pixels(views, "houses.panels.gradient")
    views.get_by_role("slider", name="Seed").focus()
    for seed in range(1, 11):
        views.keyboard.press("ArrowRight")
        said(views, f"seed={seed} ")
    assert views.evaluate("Object.entries(graphViews).every(([key, view]) => view === before[key])")
    assert views.evaluate("Object.values(graphViews).every((view) => view.mounts === 1)")
    assert (camera(views), camera(views, "map")) == kept
    assert pixels(views, "houses.panels.gradient") != drawn  # the new masks are shown


def test_a_narrow_page_has_one_column(views):
    views.set_viewport_size({"width": 480, "height": 800})
    views.wait_for_timeout(500)
    lefts = {canvas(views, title).bounding_box()["x"] for title in ("Neighbourhood", "Gradient")}
    assert len(lefts) == 1


# ---- replay ----


def test_scrubbing_and_playing_change_the_drawing_and_ask_the_server_nothing(views):
    last = pixels(views, "houses.panels.gnnexplainer")
    section = views.locator(".panel[data-frame]").first
    expect(section).to_have_attribute("data-frame", "30")
    views.traffic.clear()
    section.get_by_role("slider").fill("16")  # the nearest mask that was kept
    expect(section).to_have_attribute("data-frame", "3")
    expect(section.locator("output")).to_have_text("step 15 of 150")
    early = pixels(views, "houses.panels.gnnexplainer")
    assert early != last
    section.get_by_role("button", name="Play").click()
    expect(section.get_by_role("button", name="Pause")).to_be_visible()
    expect(section).to_have_attribute("data-frame", "30")
    expect(section.get_by_role("button", name="Play")).to_be_visible()
    assert pixels(views, "houses.panels.gnnexplainer") == last
    assert views.traffic == []


def test_the_slider_and_the_curves_have_one_axis(views):
    section = views.locator(".panel[data-frame]").first
    for width in (1280, 560):
        views.set_viewport_size({"width": width, "height": 800})
        for frame, step in ((0, 0), (3, 15), (29, 145), (30, 150)):
            section.get_by_role("slider").fill(str(step))
            expect(section).to_have_attribute("data-frame", str(frame))
            thumb, mark = views.evaluate(
                """(step) => { const { replay } = graphViews.houses.panels.gnnexplainer, { slider, chart } = replay;
                const { left, width } = slider.getBoundingClientRect(), share = (slider.value - slider.min) / (slider.max - slider.min);
                return [left + 7.5 + share * (width - 15), chart.getBoundingClientRect().left + replay.xOf(step)] }""",
                step,
            )
            assert thumb == pytest.approx(mark, abs=1)
    section.get_by_role("slider").press("ArrowLeft")
    expect(section).to_have_attribute("data-frame", "29")


def test_new_data_stop_a_replay_at_its_end(views):
    section = views.locator(".panel[data-frame]").first
    section.get_by_role("button", name="Play").click()
    views.get_by_role("slider", name="Seed").press("ArrowRight")
    said(views, "seed=1 ")
    expect(section).to_have_attribute("data-frame", "30")
    expect(section.get_by_role("button", name="Play")).to_be_visible()


def test_a_reader_who_wants_no_motion_sees_stills(views):
    views.emulate_media(reduced_motion="reduce")
    section = views.locator(".panel[data-frame]").first
    section.evaluate(
        """(element) => { globalThis.stills = []; new MutationObserver(() => stills.push(element.dataset.frame))
        .observe(element, { attributeFilter: ["data-frame"] }) }"""
    )
    section.get_by_role("button", name="Play").click()
    expect(section).to_have_attribute("data-frame", "0")
    expect(section).to_have_attribute("data-frame", "30")
    assert 3 <= views.evaluate("stills.length") <= 7


# ---- words ----


def test_names_are_shown_as_text(views):
    views.mouse.move(*node(views, HOSTILE_NODE), steps=4)
    tooltip = views.locator(".tooltip:visible")
    expect(tooltip).to_have_text(f"{HOSTILE}\nbottom, degree 3", use_inner_text=True)
    assert views.locator(".graph-view img, .graph-view script").count() == 0
    expect(views.locator(".legend").get_by_text(HOSTILE)).to_be_visible()
    expect(views.locator(".card").get_by_text(HOSTILE).first).to_be_visible()


def test_an_edge_tells_its_weight(views):
    ends = [node(views, number, "houses.panels.gnnexplainer") for number in (147, TARGET)]
    (ax, ay), (bx, by) = ends
    views.mouse.move((ax + bx) / 2, (ay + by) / 2, steps=3)
    expect(views.locator(".tooltip:visible")).to_contain_text(re.compile(r"node 14\d – node 14\d: weight 0\.\d\d"))
    expect(views.locator(".tooltip:visible")).to_contain_text("ground truth")


def test_hover_marks_the_node_in_all_panels(views):
    before = pixels(views, "again.panels.gradient")
    views.mouse.move(*node(views, 120), steps=4)
    views.wait_for_timeout(200)
    assert pixels(views, "again.panels.gradient") != before


# ---- keyboard ----


def test_keys_walk_along_edges_and_enter_chooses(views):
    first = canvas(views, "Neighbourhood: 61 nodes")
    first.focus()
    walk = []
    for key in ("ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowLeft", "ArrowDown"):
        views.keyboard.press(key)
        walk.append(int(first.get_attribute("data-focus")))
    assert walk[0] == TARGET  # a walk begins at what is explained
    assert len(set(walk)) > 2
    assert views.evaluate(
        """walk => { const { nodes, neighbours } = graphViews.houses.picture, place = (id) => nodes.indexOf(id);
        return walk.every((id, i) => !i || id === walk[i - 1] || neighbours[place(walk[i - 1])].includes(place(id))) }""",
        walk,
    )
    expect(views.locator(".panel").first.get_by_role("status")).to_contain_text(f"node {walk[-1]}")
    views.keyboard.press("PageDown")
    views.keyboard.press("PageUp")
    views.keyboard.press("Enter")
    said(views, f"clicks={{'houses': (1, {walk[-1]})}}")


def test_every_canvas_is_one_tab_stop(views):
    canvas(views, "Neighbourhood").focus()
    views.keyboard.press("Tab")  # the button that saves a picture
    focused = "(() => { const at = document.activeElement.shadowRoot.activeElement; return [at.className, at.getAttribute('aria-label')] })()"
    kinds = []
    for _ in range(9):
        views.keyboard.press("Tab")
        kind, name = views.evaluate(focused)
        if kind != "term":  # words with a definition are stops of their own
            break
        kinds.append(kind)
    assert name.startswith("GNNExplainer: 61 nodes")
    assert len(kinds) < 5


# ---- pictures and themes ----


def test_a_panel_is_saved_as_png(views):
    section = views.locator(".panel").first
    section.hover()
    with views.expect_download() as download:
        section.get_by_role("button", name="Save this panel as a picture").click()
    assert download.value.suggested_filename == "graph.png"
    data = Path(download.value.path()).read_bytes()
    assert data.startswith(b"\x89PNG")
    width = int.from_bytes(data[16:20], "big")
    assert width == pytest.approx(2 * canvas(views, "Neighbourhood").bounding_box()["width"], abs=2)


def test_dark_mode_changes_ground_and_drawing(views):
    light, drawn = views.evaluate("graphViews.houses.theme"), pixels(views, "houses.panels.graph")
    views.emulate_media(color_scheme="dark")
    views.wait_for_function("ground => graphViews.houses.theme.ground !== ground", arg=light["ground"])
    dark = views.evaluate("graphViews.houses.theme")
    assert (light["dark"], dark["dark"]) == (False, True)
    assert dark["accent"] != light["accent"]
    views.wait_for_timeout(200)
    assert pixels(views, "houses.panels.graph") != drawn
    assert views.evaluate("Object.values(graphViews).every((view) => view.mounts === 1)")


# ---- map and gallery ----


def free_point(page: Page) -> int:
    """A point of the map that lies under no other."""
    page.evaluate("graphViews.map.stage.canvas.scrollIntoView({ block: 'center' })")
    return page.evaluate("graphViews.map.points.ids.find((id) => id > 30 && graphViews.map.pointOf(id).onTop)")


def test_a_click_on_the_map_gives_the_point_and_keeps_the_camera(views):
    canvas(views, "Map").focus()
    views.keyboard.press("+")
    before, point = camera(views, "map"), free_point(views)
    views.mouse.click(*node(views, point, "map"))
    said(views, f"'map': (1, {point})")
    assert f"'map': {point}" in report(views)
    assert camera(views, "map") == before


def test_keys_walk_the_map(views):
    canvas(views, "Map: 2000 points").focus()
    places = []
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        views.keyboard.press(key)
        places.append(int(canvas(views, "Map").get_attribute("data-focus")))
    assert places[0] == 7  # the selected one
    x, y = (views.evaluate(f"[...graphViews.map.points.{axis}]") for axis in ("xs", "ys"))
    assert x[places[1]] > x[places[0]]
    assert y[places[2]] < y[places[1]]
    views.keyboard.press("Enter")
    said(views, f"'map': (1, {places[2]})")


def test_the_legend_dims_the_others_without_asking_the_server(views):
    before = pixels(views, "map")
    views.traffic.clear()
    entry = views.locator(".legend").get_by_role("button", name="topic 2")
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "true")
    assert pixels(views, "map") != before
    entry.click()
    assert pixels(views, "map") == before
    assert views.traffic == []


def test_a_large_map_pans_smoothly(views):
    views.goto("/?points=10000")
    views.wait_for_function("globalThis.graphViews?.map?.points?.ids.length === 10000")
    settled(views)
    views.evaluate("graphViews.map.stage.canvas.scrollIntoView({ block: 'center' })")
    views.wait_for_timeout(1500)
    took = views.evaluate(
        """async () => { const { stage } = graphViews.map, times = []; stage.zoomBy(1.5);
        for (let i = 0; i < 60; i++) { stage.panBy(4 * Math.cos(i / 20), 3 * Math.sin(i / 15));
          const begin = performance.now(); stage.draw(); times.push(performance.now() - begin);
          await new Promise(requestAnimationFrame) }
        return times.sort((a, b) => a - b)[30] }"""
    )
    assert took < 33, f"{took:.1f} ms to draw 10,000 points"


def test_a_click_on_a_card_gives_its_number_and_outlines_it(views):
    card = views.get_by_role("button", name=re.compile("middle 2"))
    expect(card).to_have_attribute("aria-pressed", "false")
    card.click()
    said(views, "'gallery': (1, 11)")
    expect(card).to_have_attribute("aria-pressed", "true")
    views.keyboard.press("Tab")
    views.keyboard.press("Enter")
    said(views, "'gallery': (2, 12)")


def test_a_card_keeps_shapes_and_drops_what_could_run(views):
    drawing = views.locator(".card svg").first
    assert drawing.locator("circle").count() == 3
    assert drawing.locator("script").count() == 0
    assert drawing.locator("[onclick]").count() == 0


# ---- what is sent ----


def large_view() -> dict:
    """150 nodes, 400 edges, 4 panels, 30 frames each."""
    dice = random.Random(3)
    edges = tuple((dice.randrange(150), dice.randrange(150)) for _ in range(400))
    picture = Picture(
        nodes=tuple(range(1000, 1150)),
        x=tuple(dice.uniform(-400, 400) for _ in range(150)),
        y=tuple(dice.uniform(-400, 400) for _ in range(150)),
        colours=tuple(dice.choice(("#0072B2", "#E69F00")) for _ in range(150)),
        labels=tuple(map(str, range(1000, 1150))),
        tips=tuple(f"node {node}\ntrue class middle, predicted middle 97 %" for node in range(1000, 1150)),
        edges=edges,
        targets=(3,),
        truth=tuple(range(6)),
    )
    slopes = [dice.gauss(0, 4) for _ in edges]
    frames = tuple((5 * i, tuple(1 / (1 + math.exp(-slope * i / 29)) for slope in slopes)) for i in range(30))
    curves = {name: tuple(dice.random() for _ in range(150)) for name in ("prediction", "size", "entropy")}
    panel = {
        "lines": ("edge AUC 0.98",),
        "weights": frames[-1][1],
        "kept": tuple(range(6)),
        "kept_nodes": tuple(range(6)),
    }
    panels = [Panel(f"panel{i}", "GNNExplainer", frames=frames, curves=curves, **panel) for i in range(4)]
    return payload.network("key", picture, panels, group="", columns=2, height=380, clickable=True)


def test_what_is_sent_is_small_and_always_the_same():
    sent = json.dumps(large_view())
    assert len(sent) < 60_000
    assert json.dumps(large_view()) == sent


def test_weights_are_sent_in_255_steps():
    sent = large_view()["panels"][0]
    assert len(base64.b64decode(sent["weights"])) == 400


def test_a_weight_for_each_edge_is_demanded():
    picture = Picture((1, 2), (0, 50), (0, 0), ("#0072B2",) * 2, ("", ""), ("a", "b"), ((0, 1),))
    with pytest.raises(ValueError, match=r"each of the 1 edges \(got 2\)"):
        payload.network(
            "key", picture, [Panel("p", "P", (), (0.5, 0.5))], group="", columns=1, height=9, clickable=True
        )


def test_the_numbers_of_a_map_are_kept():
    points = Points((5, 9), (0.0, 1.0), (0.25, 0.75), (0, 0), (("a", "#0072B2"),), ("x", "y"), edges=((0, 1),))
    sent = payload.points("key", points, selected=(9,), height=100)
    assert (sent["points"]["ids"], sent["selected"]) == ([5, 9], [9])
