"""All notes of a data set as one HTML file: opens offline, asks the network for nothing, holds no script at all.

A picture is an image and not a part of the page: whatever is in it, an image runs nothing.
"""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dashboard.view.explanation_text import counted, percent
from dashboard.view.notes import MARKS, Note, Shown
from dashboard.view.standalone import styles
from dashboard.view.svg_shapes import escaped, theme_rules

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
LAYOUT = """
article { border-top: 1px solid var(--border); padding: 1.2rem 0 .6rem; break-inside: avoid; }
article h2 { margin: 0 0 .3rem; overflow-wrap: anywhere; }
article .text { font-size: 1.1rem; }
article .about { color: var(--soft); font-size: .875rem; }
article .panels { grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 30rem)); margin: 1rem 0 .8rem; }
figure img { width: 100%; height: auto; border: 1px solid var(--border); border-radius: 6px; }
"""


OTHER_WEIGHTS = "written about other weights than the network has now"


class Network(NamedTuple):
    """One that notes may be about, as it is now."""

    title: str
    weights: str


Networks = Mapping[str, Network]  # by name


class NamedGroup(NamedTuple):
    """A group of mistakes that a visitor gave a name."""

    model: str  # the network's title
    rule: str
    counts: str
    caption: str
    svg: str  # of its most typical member
    name: str = ""


def is_outdated(note: Note, networks: Networks) -> bool:
    """Whether the network of this name is not the one that the note was written about."""
    return note.model not in networks or networks[note.model].weights != note.weights


def title_of(note: Note, networks: Networks) -> str:
    return networks[note.model].title if note.model in networks else note.model


def report(
    title: str, notes: Sequence[tuple[Note, Shown]], networks: Networks, groups: Sequence[NamedGroup] = ()
) -> str:
    """The whole page."""
    marks = Counter(note.mark for note, _ in notes)
    summary = ", ".join(f"{marks[mark]:,} {mark}" for mark in MARKS if marks[mark])
    heading, number = f"Notes on {title}", counted(len(notes), "note")
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{escaped(heading)}</title>\n<style>{styles()}{LAYOUT}</style>\n</head>\n<body>\n<main>",
            f"<h1>{escaped(heading)}</h1>",
            f"<p>{escaped(f'{number}: {summary}.' if notes else 'There is no note yet.')}</p>",
            *map(_group, groups),
            *(_article(note, shown, networks) for note, shown in notes),
            "</main>\n</body>\n</html>\n",
        )
    )


def _article(note: Note, shown: Shown, networks: Networks) -> str:
    truth = f"; true: “{note.truth}”" if note.truth else ""
    lines = shown.lines or (f"Predicted “{note.predicted}” ({percent(note.probability)}){truth}.",)
    about = [f"{title_of(note, networks)}, weights {note.weights[:12]}", note.made.replace("T", " ")[:16] + " UTC"]
    about += [OTHER_WEIGHTS] if is_outdated(note, networks) else []
    return "\n".join(
        (
            "<article>",
            f"<h2>{escaped(f'{MARKS[note.mark]} {note.mark.capitalize()}: {note.name}')}</h2>",
            f'<p class="text">{escaped(note.text)}</p>' if note.text else "",
            *(f"<p>{escaped(line)}</p>" for line in lines),
            f'<div class="panels">{"".join(_figure(caption, svg) for caption, svg in shown.pictures)}</div>'
            if shown.pictures
            else "",
            f'<p class="about">{escaped(" · ".join(about))}</p>',
            "</article>",
        )
    )


def _group(group: NamedGroup) -> str:
    return "\n".join(
        (
            "<article>",
            f"<h2>{escaped(f'Group “{group.name}”')}</h2>",
            f'<p class="text">{escaped(group.rule)}</p>',
            f"<p>{escaped(group.counts)}</p>",
            f'<div class="panels">{_figure(group.caption, group.svg)}</div>',
            f'<p class="about">{escaped(group.model)}</p>',
            "</article>",
        )
    )


def _figure(caption: str, svg: str) -> str:
    """The picture in its own colours for light and dark ground, as its reader's machine asks."""
    opening, bracket, rest = svg.partition(">")
    night = f"<style>@media screen and (prefers-color-scheme:dark){{{theme_rules(True)}}}</style>"
    data = base64.b64encode(f"{opening}{bracket}{night}{rest}".encode()).decode()
    return (
        f"<figure><figcaption><strong>{escaped(caption)}</strong></figcaption>"
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(caption)}"/></figure>'
    )
