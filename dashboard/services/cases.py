"""The cases of "Find the bug": data with a planted fault, a picture of each, and what the fault is."""

from dashboard.cache import Cache
from dashboard.schema import Card, InstanceFilter, Request
from dashboard.services.mistakes import count_mistakes
from dashboard.services.pictures import drawn
from dashboard.tasks.subjects import load_data
from dashboard.view.picture import Panel, Thumbnail
from dashboard.view.svg import svg
from explainer_core.datasets.registry import planted_fault

_PICTURES: Cache[Thumbnail] = Cache(16)
_SOLUTIONS: Cache[str] = Cache(16)
CLOSE = 40  # so many of the nearest nodes are drawn
WIDTH, CASE_HEIGHT = 300, 220


def case_picture(card: Card, *, dark: bool) -> Thumbnail:
    """What the network is most confidently wrong about, as it is, as SVG."""

    def make() -> Thumbnail:
        wrong = count_mistakes(card.dataset, card.model, InstanceFilter()).overview.wrong
        number = int(wrong.numbers[0])
        drawing = drawn(Request(card.dataset, card.model, card.task, number), near=CLOSE)
        title, labels = (
            f"{card.task.capitalize()} {number}, which the network is wrong about",
            bool(drawing.picture.bonds),
        )
        panel = Panel("case", title)
        drawn_as = svg(drawing.picture, panel, dark=dark, width=WIDTH, height=CASE_HEIGHT, title=False, labels=labels)
        return Thumbnail(number, title, "", drawn_as)

    return _PICTURES.get_or_create((card.dataset, card.model, dark), make)


def planted_in(card: Card) -> str:
    """Where the fault sits: the name of a feature or an element, the number of a node, a range of numbers."""

    def make() -> str:
        planted = planted_fault(card.dataset, card.seed)
        if planted.kind in ("feature", "type"):
            return load_data(card.dataset).feature_names[int(planted.key)]
        return planted.key.replace("-", " to ")

    return _SOLUTIONS.get_or_create((card.dataset, card.seed), make)
