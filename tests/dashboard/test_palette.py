"""Colours stay apart for eyes that lack a kind of cone, simulated as Machado, Oliveira and Fernandes (2009) measured it."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dashboard.view.palette import CLASSES, ELEMENTS, GROUND, LEAST, RIGHT, WRONG, class_colours, shade
from dashboard.view.style import DARK, LIGHT, STYLE, Ink, colour
from dashboard.widgets.verdict import MARKS

ASSETS = Path(__file__).resolve().parents[2] / "dashboard" / "view" / "assets"

# What linear red, green and blue turn into without the long, the middle and the short cones.
WITHOUT = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "nothing missing": np.eye(3),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def seen(colour: str, missing: str) -> np.ndarray:
    """CIE L*a*b* of a colour as it is seen."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(WITHOUT[missing]) @ linear, 0, 1) / (TO_XYZ @ np.ones(3))
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: str, other: str, missing: str) -> float:
    return float(np.linalg.norm(seen(one, missing) - seen(other, missing)))


@pytest.mark.parametrize("missing", WITHOUT)
def test_the_colours_of_classes_stay_apart(missing):
    """A difference of 2.3 is just noticeable side by side; dots on a map need several times that."""
    for one, other in combinations((*CLASSES[:4], GROUND[0]), 2):
        assert distance(one, other, missing) > 15, (one, other)


@pytest.mark.parametrize("missing", WITHOUT)
def test_right_and_wrong_and_sure_and_unsure_stay_apart(missing):
    assert distance(RIGHT, WRONG, missing) > 40
    lightness = [seen(shade(p), missing)[0] for p in (0.4, 0.6, 0.8, 0.95, 0.995)]
    assert lightness == sorted(lightness, reverse=True)  # surer is darker, so it reads in grey as well


def test_the_ground_is_quiet_and_the_motif_is_not():
    assert class_colours([True, False, False]) == (GROUND[0], CLASSES[0], CLASSES[1])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_colour_stands_out_from_the_ground(theme):
    """By brightness alone: a disc needs little, letters more. No painter has to correct a colour then."""

    def brightness(colour: str) -> float:
        return float(np.dot([int(colour[i : i + 2], 16) for i in (1, 3, 5)], [0.3, 0.59, 0.11])) / 255

    discs = (*CLASSES, *GROUND, RIGHT, WRONG, *(colour for *_, colour in LEAST))
    for least, colours in ((0.1, discs), (0.3, ELEMENTS.values())):
        assert all(abs(brightness(colour) - brightness(theme.ground)) >= least for colour in colours)


# ---- contrast as WCAG 2 counts it ----


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        return float(TO_XYZ[1] @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4))

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_black_on_white_is_twenty_one_to_one():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)  # the usual example of just too pale


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_words_stand_out_four_and_a_half_times(theme):
    """Text, the accent as text, and every share of the text's colour that a style sheet mixes for words."""
    assert contrast(theme.text, theme.ground) >= 4.5
    assert contrast(theme.accent, theme.ground) >= 4.5
    style, view = (ASSETS.parent.parent / "style.css").read_text(), (ASSETS / "view.css").read_text()
    shares = [int(found) for found in re.findall(r"(?<![\w-])color: color-mix\(in srgb, currentColor (\d+)%", style)]
    shares += [int(found) for found in re.findall(r"--quiet: color-mix\(in srgb, var\(--st-text-color\) (\d+)%", view)]
    assert len(shares) >= 2
    for share in shares:
        assert contrast(colour(Ink("text", share / 100), theme), theme.ground) >= 4.5, share


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_letters_of_atoms_stand_out_four_and_a_half_times(theme):
    """No colour does from both grounds, so each has some of the text's in it; what is faded still stands out."""
    letters = {name: Ink(own, toned=True) for name, own in ELEMENTS.items()}
    assert [name for name, ink in letters.items() if contrast(colour(ink, theme), theme.ground) < 4.5] == []
    faded = {name: ink._replace(share=STYLE["atom"]["faded"]) for name, ink in letters.items()}
    assert [name for name, ink in faded.items() if contrast(colour(ink, theme), theme.ground) < 3] == []


def test_right_and_wrong_have_their_colours_from_the_palette_alone():
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b", (ASSETS.parent.parent / "style.css").read_text())
    assert WRONG in MARKS[False]
    assert RIGHT not in MARKS[True]  # it is also the colour of a class, which stands beside these words
