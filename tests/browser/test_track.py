"""The track of sizes under the explanation: while it is dragged nothing is sent, and what it promises is what comes."""

import re

import pytest
from playwright.sync_api import Page, WebSocket, expect
from test_explain import QUICK, click_node, drag_to, open_page, settled

SHOWN = """() => { const {panel, headline, sentence, track} = graphViews.why;
  return {kept: [...panel.look.kept].sort((a, b) => a - b), nodes: panel.look.keptNodes.size, headline: headline.textContent,
    sentence: sentence.textContent, size: track.size, weights: [...panel.look.weights], labels: [...panel.look.labels]} }"""
CAME = "size => graphViews.why.data.explained.chosen === size"


class Frames:
    """How often the browser spoke to the server, and the server to it."""

    def __init__(self, page: Page):
        self.sent = self.received = 0
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda _: setattr(self, "sent", self.sent + 1))
        socket.on("framereceived", lambda _: setattr(self, "received", self.received + 1))


def quiet(page: Page) -> None:
    settled(page)
    page.wait_for_timeout(500)


@pytest.mark.parametrize("shown", ["verified", "mask"])
def test_while_dragging_everything_follows_and_nothing_is_sent_then_one_message(page, shown):
    frames = Frames(page)
    open_page(page, f"/?dataset=tree_grid&shown={shown}" + QUICK)
    quiet(page)
    before, size = page.evaluate(SHOWN), page.evaluate("graphViews.why.data.explained.chosen")
    frames.sent = 0
    drag_to(page, size + 4)
    page.wait_for_timeout(500)
    promised = page.evaluate(SHOWN)
    assert promised["size"] == size + 4
    assert promised["kept"] != before["kept"]
    assert promised["labels"] != before["labels"]
    assert (promised["headline"], promised["sentence"]) != (before["headline"], before["sentence"])
    assert frames.sent == 0
    page.mouse.up()
    page.wait_for_function(CAME, arg=size + 4)
    assert frames.sent == 1
    settled(page)
    assert page.evaluate(SHOWN) == promised  # picture, names, numbers and words, to the last digit that is shown
    expect(page).to_have_url(re.compile(f"k_m={size + 4}"))
    assert page.evaluate("graphViews.why.mounts") == 1


@pytest.mark.parametrize("asked", ["karate&node=19", "les_miserables", "molecules"])
def test_a_mouse_drags_through_all_sizes_drawn_within_a_frame_and_without_a_word_to_the_server(page, asked):
    """Every size on the way is drawn, with the names of what it keeps, before the hand comes to the next."""
    frames = Frames(page)
    open_page(page, f"/?dataset={asked}" + QUICK)
    quiet(page)
    sizes = page.evaluate("graphViews.why.sizes.map(({kept, headline}) => [[...kept].length, headline])")
    drag_to(page, 1)
    frames.sent = frames.received = 0
    left, top = page.evaluate(
        "() => { const box = graphViews.why.track.slider.getBoundingClientRect(); return [box.left, box.top + 50] }"
    )
    written = set()
    for size, (kept, headline) in enumerate(sizes[1:], 2):
        before = page.evaluate("graphViews.why.draws")
        page.mouse.move(left + page.evaluate("size => graphViews.why.track.x(size)", size), top)
        page.wait_for_function("before => graphViews.why.draws > before", arg=before, polling="raf", timeout=5000)
        shown = page.evaluate(SHOWN)
        assert (len(shown["kept"]), shown["headline"], shown["size"]) == (kept, headline, size)
        written.add(tuple(shown["labels"]))
    assert (frames.sent, frames.received) == (0, 0)
    assert len(written) > len(sizes) / 2 or asked == "molecules"  # atoms have letters, which stay where they are
    page.mouse.up()
    page.wait_for_function(CAME, arg=len(sizes))
    assert frames.sent == 1


def test_by_keyboard_one_message_after_the_last_key_and_auto_by_a_double_click(page):
    frames = Frames(page)
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    quiet(page)
    slider, found = page.get_by_role("slider", name="K_M"), page.evaluate("graphViews.why.data.explained.chosen")
    last = page.evaluate("graphViews.why.data.explained.sizes.length")
    slider.focus()
    frames.sent = 0
    for key, size in (("End", last), ("Home", 1), ("ArrowRight", 2), ("ArrowUp", 3), ("PageUp", 8), ("ArrowLeft", 7)):
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", str(size))
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^7 nodes: .+ alone give"))
    page.wait_for_function(CAME, arg=7)
    assert frames.sent == 1
    settled(page)
    box = slider.bounding_box()
    page.mouse.dblclick(box["x"] + page.evaluate("graphViews.why.track.x(7)"), box["y"] + 50)
    page.wait_for_function(CAME, arg=found)
    expect(page).to_have_url(re.compile("k_m=auto"))


def test_another_target_moves_nothing_and_says_at_once_that_it_is_looked_for(page):
    open_page(page, "/?dataset=ba_shapes&node=414&steps=300")
    quiet(page)
    click_node(page, 410, "why", "verified")  # the first click folds the newcomer's sentence away
    page.wait_for_function("() => graphViews.why.picture.nodes[graphViews.why.picture.targets[0]] === 410")
    quiet(page)
    where = (
        "() => { const box = graphViews.why.panel.stage.canvas.getBoundingClientRect(); return [box.top, box.height] }"
    )
    page.evaluate(
        """() => { globalThis.said = [];
        new MutationObserver(() => said.push(graphViews.why.headline.textContent))
          .observe(graphViews.why.headline, {childList: true, characterData: true, subtree: true}) }"""
    )
    page.evaluate("scrollTo(0, 0)")
    before = page.evaluate(where)
    click_node(page, 412, "why", "verified")
    page.wait_for_function("() => graphViews.why.picture.nodes[graphViews.why.picture.targets[0]] === 412")
    settled(page)
    assert page.evaluate("said[0]") == "Looking for the part that carries the prediction …"
    assert page.evaluate("said.at(-1)") == page.evaluate("graphViews.why.headline.textContent")
    assert page.evaluate(where) == pytest.approx(before, abs=5)
    assert page.evaluate("graphViews.why.mounts") == 1


def test_one_legend_says_what_every_mark_means(page):
    def legend(view: str = "why") -> list[str]:
        return page.evaluate(f"[...graphViews.{view}.legend.querySelectorAll('li')].map((item) => item.textContent)")

    open_page(page, "/?dataset=ba_shapes&node=414" + QUICK)
    classes, rest = ["base", "top", "middle", "bottom"], ["what is explained", "the planted answer"]
    assert legend() == [*classes, "what the prediction rests on", "differs between starts", *rest]
    assert legend("near") == [*classes, *rest]  # beside the neighbourhood too
    open_page(page, "/?dataset=karate&colour=right" + QUICK)
    assert "the planted answer" not in legend()  # nothing was planted
    assert legend("near") == ["right", "wrong", "what is explained"]
    open_page(page, "/?dataset=les_miserables" + QUICK)
    assert legend("near") == ["the two ends"]
    open_page(page, "/?dataset=molecules" + QUICK)
    assert {"C", "H"} < set(legend())
    assert {"C", "H"} < set(legend("near"))


def test_while_dragging_the_name_of_a_shape_comes_and_goes(page):
    open_page(page, "/?dataset=ba_shapes&node=414&steps=300")
    quiet(page)
    headlines = page.evaluate("graphViews.why.sizes.map((size) => size.headline)")
    named = [size for size, words in enumerate(headlines, 1) if re.search(r"this (house|triangle|ring|star)", words)]
    others = [size for size in range(1, len(headlines)) if size not in named]
    assert named, headlines
    for size in (named[0], others[-1]):
        drag_to(page, size)
        expect(page.get_by_role("heading", level=2).first).to_have_text(headlines[size - 1])
        page.mouse.up()
        quiet(page)


def test_in_a_molecule_the_track_counts_atoms(page):
    open_page(page, "/?dataset=molecules" + QUICK)
    expect(page.locator(".track .size")).to_have_text(re.compile(r"^\d+ atoms?$"))
    expect(page.get_by_role("slider", name="Size of the explanation, K_M, in atoms")).to_be_visible()
    said = page.locator(".explanation").inner_text() + page.evaluate("graphViews.near.root.innerText")
    assert not re.search(r"\b(node|edge)s?\b(?! AUC)", said), said


@pytest.mark.parametrize("colours", ["light", "dark"], indirect=True)
def test_words_are_large_enough_and_stand_out(page, colours):
    open_page(page, "/?dataset=karate&node=19" + QUICK)
    found = page.evaluate(
        """() => { const root = graphViews.why.root;
        const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b };
        const seen = (css) => { const canvas = document.createElement("canvas").getContext("2d"); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1);
          return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3) };
        const ground = light(seen(graphViews.why.theme.ground));
        return [...root.querySelectorAll(".headline, .badge, .sentence, .keys li, .size, .auto:not([aria-pressed=true]), .about, .figures, text")].map((e) => {
          const style = getComputedStyle(e), own = light(seen(e.tagName === "text" ? style.fill : style.color));
          return [e.className.baseVal ?? e.className, parseFloat(style.fontSize), (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05)] }) }"""
    )
    assert len(found) > 8
    for name, size, contrast in found:
        assert size >= 14, name
        assert contrast >= 4.5, name
