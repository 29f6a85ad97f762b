"""Notes: what was shown as saved is there, whoever writes at the same time and however the writer ends; nobody sees another's."""

import base64
import csv
import io
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import services
from dashboard.address import Address
from dashboard.schema import Request
from dashboard.services import notes as service
from dashboard.view.notes import MOST_TEXT, Note, Shown, clean
from dashboard.view.report import NamedGroup, Network, report
from dashboard.widgets import notes as widget

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "dashboard" / "screens" / "debug.py"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><title>a</title></svg>'
HOSTILE = """<script>alert(1)</script>"><img src=x onerror=alert(2)>]]>&{{7*7}}\u202e[x](javascript:alert(3))"""
WRITER = """
import sys
from dashboard.services.notes import keep_note
from dashboard.view.notes import Note, Shown
name, count = sys.argv[1], int(sys.argv[2])
for i in range(count):
    keep_note(Note(f"{name}{i}", "2026-01-01T00:00:00+00:00", "karate", "gcn", "0" * 64, "node", str(i), f"node {i}", "good",
        f"{name} {i}", "one", "two", 0.5), Shown(("a line",), (("a picture", "<svg/>"),)))
    print(f"saved {name}{i}", flush=True)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv(service.FOLDER, str(tmp_path / "kept"))
    return tmp_path / "kept"


def note(**changes) -> Note:
    usual = Note(
        *(
            "id",
            "2026-01-01T00:00:00+00:00",
            "karate",
            "gcn",
            "0" * 64,
            "node",
            "3",
            "node 3",
            "good",
            "",
            "one",
            "two",
        ),
        probability=0.5,
    )
    return replace(usual, **changes)


def writer(name: str, count: int) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WRITER, name, str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


# The file


def test_what_is_kept_is_read_again_the_newest_first():
    shown = Shown(("Predicted “one”.",), (("Why", PICTURE),))
    for i in range(3):
        services.keep_note(note(id=str(i), text=f"note {i}", made=f"2026-01-01T00:00:0{i}+00:00"), shown)
    services.keep_note(note(id="other", dataset="cora"), shown)
    assert [each.text for each in services.kept_notes("karate")] == ["note 2", "note 1", "note 0"]
    assert services.kept_with_pictures("cora") == ((note(id="other", dataset="cora"), shown),)
    services.delete_note("1")
    assert [each.id for each in services.kept_notes("karate")] == ["2", "0"]


def test_looking_makes_no_file(folder):
    assert services.kept_notes("karate") == ()
    assert not folder.exists()


def test_the_file_is_nobody_elses_and_every_commit_waits_for_the_disk(folder):
    services.keep_note(note(), Shown())
    assert stat.S_IMODE((folder / "notes.sqlite").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with service._opened() as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert file.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_two_processes_that_write_at_once_lose_nothing():
    both = [writer(name, 200) for name in ("a", "b")]
    told = [process.communicate(timeout=120)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert {each.id for each in services.kept_notes("karate")} == {f"{name}{i}" for name in "ab" for i in range(200)}
    assert [len(words) for words in told] == [400, 400]


@pytest.mark.parametrize("after", [1, 2, 17])
def test_who_is_killed_after_saving_has_saved(after):
    process = writer("k", 10_000)
    told = [process.stdout.readline().split()[1] for _ in range(after)]
    os.kill(process.pid, signal.SIGKILL)
    rest = process.communicate()[0]
    told += re.findall(r"^saved (\S+)$", rest, re.MULTILINE)
    assert process.returncode == -signal.SIGKILL
    found = services.kept_with_pictures("karate")
    assert {each.id for each, _ in found} >= set(told)
    assert all(shown.pictures == (("a picture", "<svg/>"),) for _, shown in found)
    services.keep_note(note(id="afterwards"), Shown())  # and the file is as good as before
    assert "afterwards" in {each.id for each in services.kept_notes("karate")}


def test_a_file_that_is_none_of_ours_is_told_and_left_alone(folder):
    folder.mkdir()
    (folder / "notes.sqlite").write_bytes(b"something else " * 100)
    for act in (lambda: services.keep_note(note(), Shown()), lambda: services.kept_notes("karate")):
        with pytest.raises(services.NotesUnavailable, match="set GRAPH_EXPLAINER_NOTES to another folder"):
            act()
    assert (folder / "notes.sqlite").read_bytes() == b"something else " * 100


def test_tables_of_a_later_version_are_left_alone(folder):
    services.keep_note(note(), Shown())
    with sqlite3.connect(folder / "notes.sqlite") as file:
        file.execute("PRAGMA user_version=2")
    with pytest.raises(services.NotesUnavailable, match="tables of version 2"):
        services.keep_note(note(id="new"), Shown())


def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(service.FOLDER, str(tmp_path / "file" / "below"))
    with pytest.raises(services.NotesUnavailable, match="must be a file of ours that can be written"):
        services.keep_note(note(), Shown())


def test_what_others_wrote_into_the_file_is_read_with_care(folder):
    services.keep_note(note(), Shown())
    with sqlite3.connect(folder / "notes.sqlite") as file:
        file.execute("UPDATE notes SET probability = 'much', text = ?, shown = ?", ("a\x00b\x1b[31m", b"no pictures"))
        file.execute("INSERT INTO notes SELECT 'x', made, dataset, model, weights, kind, target, name, 'bad mark', text, predicted, truth, probability, edits, shown FROM notes")  # fmt: skip
    ((found, shown),) = services.kept_with_pictures("karate")
    assert found.text == "a b [31m"
    assert found.probability != found.probability
    assert shown == Shown()


def test_there_are_not_more_notes_than_a_report_can_show(monkeypatch):
    monkeypatch.setattr(service, "MOST_NOTES", 2)
    for i in range(2):
        services.keep_note(note(id=str(i)), Shown())
    with pytest.raises(services.NotesUnavailable, match="at most 2 notes are kept of a data set"):
        services.keep_note(note(id="2"), Shown())
    services.keep_note(note(id="2", dataset="cora"), Shown())


# Text from outside


def test_a_text_is_one_line_without_control_characters_and_of_bounded_length():
    assert clean("  two\nlines\tand\x07 a bell \x00") == "two lines and a bell"
    assert clean("a\u202eb\u2066c\ufeffd\u00ade") == "abcde"  # nothing turns the reading direction or hides
    assert clean("\ud800half a letter") == "half a letter"
    assert clean("مى‌خواهم 👩‍🔬") == "مى‌خواهم 👩‍🔬"
    assert len(clean("x" * 10_000)) == MOST_TEXT == 500
    assert clean("\n" * 10_000) == ""


def test_a_mark_that_is_none_is_refused():
    card = next(card for card in services.all_cards() if card.name == "karate_gcn")
    request = Request("karate", "gcn", "node", 3)
    with pytest.raises(ValueError, match="spurious, good, unsure"):
        services.new_note(card, request, services.target_facts(request), "brilliant", "")
    made = services.new_note(card, request, services.target_facts(request), "good", "x" * 600)
    assert len(made.text) == 500
    assert made.weights == card.sha256


def test_csv_holds_every_note_and_no_formula():
    some = [note(text='=HYPERLINK("http://x")', name='a, “b”\n"c"'), note(text="@SUM(A1)"), note(text="plain; text")]
    rows = list(csv.DictReader(io.StringIO(services.notes_as_csv(some))))
    assert [row["text"] for row in rows] == ['\'=HYPERLINK("http://x")', "'@SUM(A1)", "plain; text"]
    assert rows[0]["name"] == 'a, “b”\n"c"'
    assert "id" not in rows[0]
    assert rows[0]["mark"] == "good"


# The report


def parsed(html: str) -> ET.Element:
    """The page reads as XML, which no unescaped mark would survive."""
    return ET.fromstring(html.removeprefix("<!DOCTYPE html>\n"))  # noqa: S314, our own text


def test_a_named_group_is_in_the_report_with_its_rule_counts_and_picture():
    group = NamedGroup("GIN", "It has an atom “Cl”.", "3 of 5 mistakes.", "Graph 7", PICTURE, "only chlorine")
    said = "".join(parsed(report("Case 4", [], {}, [group])).itertext())
    for words in ("Group “only chlorine”", "It has an atom “Cl”.", "3 of 5 mistakes.", "Graph 7", "GIN"):
        assert words in said


def test_a_hostile_text_is_letters_and_nothing_else():
    bad = note(text=HOSTILE, name=HOSTILE, predicted=HOSTILE, truth=HOSTILE, model=HOSTILE, weights=HOSTILE, made=HOSTILE, edits=HOSTILE)  # fmt: skip
    picture = f'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(9)</script></svg>{HOSTILE}'
    for shown in (Shown(), Shown((HOSTILE,), ((HOSTILE, picture),))):
        group = NamedGroup(HOSTILE, HOSTILE, HOSTILE, HOSTILE, picture, HOSTILE)
        html = report(HOSTILE, [(bad, shown)], {}, [group])
        page = parsed(html)
        assert not list(page.iter("script"))
        assert not [each for each in page.iter() for name in each.attrib if name.startswith("on")]
        assert {each.get("src")[:26] for each in page.iter("img")} <= {"data:image/svg+xml;base64,"}
        assert not [each for each in page.iter() if each.tag in ("a", "iframe", "object", "link", "form")]
        assert "".join(page.find("head/title").itertext()).startswith("Notes on <script>alert(1)")
        policy = next(each.get("content") for each in page.iter("meta") if each.get("http-equiv"))
        assert "default-src 'none'" in policy
        assert "script-src" not in policy  # none at all is allowed


def test_the_report_tells_marks_texts_lines_pictures_and_other_weights():
    shown = Shown(("Predicted “one” (50 %).",), (("Why", PICTURE),))
    old, new = (
        note(id="1", mark="spurious", text="a leak", weights="1" * 64),
        note(id="2", weights="2" * 64, text="fine"),
    )
    html = report("Karate", [(new, shown), (old, shown)], {"gcn": Network("GCN", "2" * 64)})
    page = parsed(html)
    articles = list(page.iter("article"))
    assert "2 notes: 1 spurious, 1 good." in "".join(page.itertext())
    told = ["".join(each.itertext()) for each in articles]
    assert "✓ Good: node 3" in told[0]
    assert "✗ Spurious: node 3" in told[1]
    assert ["written about other weights" in each for each in told] == [False, True]
    assert all("Predicted “one” (50 %)." in each for each in told)
    assert all("GCN, weights" in each for each in told)
    data = next(page.iter("img")).get("src").partition(",")[2]
    assert parsed(base64.b64decode(data).decode()).find("{http://www.w3.org/2000/svg}title").text == "a"
    assert "http" not in html.replace("http-equiv", "")  # nothing is fetched


def test_an_empty_report_is_a_page_too():
    assert "There is no note yet." in "".join(parsed(report("Karate", [], {})).itertext())


# The page


def opened(dataset: str = "karate", **address) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=120)
    app.query_params.update({"dataset": dataset, "steps": "5"} | {name: str(value) for name, value in address.items()})
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    return app


def write(app: AppTest, text: str, mark: str = "spurious") -> AppTest:
    next(box for box in app.text_input if box.label == "A line about it").set_value(text)
    next(each for each in app.button_group if each.label.startswith("What the network rests on")).set_value(mark)
    next(button for button in app.button if button.label == "Save note").click()
    return run(app)


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown).replace("\\", "")


def listed(app: AppTest) -> list[str]:
    tables = [each.value for each in app.dataframe if "mark" in each.value]
    return tables[0]["text"].tolist() if tables else []


@pytest.mark.parametrize("dataset", ["karate", "les_miserables", "molecules"])
def test_a_note_is_saved_shown_and_kept_with_its_picture(dataset):
    app = write(opened(dataset), "it looks at the\nwrong thing")
    told = "✗ spurious: “it looks at the wrong thing”"
    assert [each.value.replace("\\", "") for each in app.success] == [f"Saved: {told}"]
    assert told in said(app)
    assert listed(app) == ["it looks at the wrong thing"]
    ((kept, shown),) = services.kept_with_pictures(dataset)
    card = next(card for card in services.all_cards() if card.dataset == dataset)
    assert (kept.model, kept.weights, kept.mark) == (card.model, card.sha256, "spurious")
    assert [title for title, _ in shown.pictures] == ["What the prediction rests on"]
    assert parsed(shown.pictures[0][1]).tag.endswith("svg")
    assert shown.lines[0].startswith(f"Predicted “{kept.predicted}”")
    assert listed(opened(dataset)) == ["it looks at the wrong thing"]  # another tab


def test_edits_go_with_the_note_and_are_drawn():
    facts = services.target_facts(Request("karate", "gcn", "node", 19))
    app = write(opened(node=19, edits="cut-0-19"), "without the first")
    assert not app.error
    ((kept, shown),) = services.kept_with_pictures("karate")
    assert kept.edits == "cut-0-19"
    assert any(line.startswith("1 change: cut ") for line in shown.lines)
    assert [title for title, _ in shown.pictures] == ["What the prediction rests on", "What was changed"]
    assert kept.predicted == facts.class_names[facts.predicted]  # of the graph as it is


def test_what_cannot_be_saved_is_told_and_stays_in_the_box(folder):
    app = opened()
    folder.write_text("in the way")
    app = write(app, "a long thought")
    assert "must be a file of ours" in app.error[0].value.replace("\\", "")
    assert not app.success
    assert next(box.value for box in app.text_input if box.label == "A line about it") == "a long thought"


def test_a_note_is_deleted_by_its_own_button():
    app = write(write(opened(), "first"), "second")
    button = [each for each in app.button if each.key and each.key.startswith("delete_note")][1]
    button.click()
    assert listed(run(app)) == ["second"]
    assert [each.text for each in services.kept_notes("karate")] == ["second"]


def test_notes_of_another_instance_are_listed_and_not_shown_as_this_ones():
    write(opened(node=5, model="gat"), "five")
    (found,) = services.kept_notes("karate")
    assert (found.target, found.model) == ("5", "gat")
    for address, is_shown in (
        ({"node": 7, "model": "gat"}, False),
        ({"node": 5}, False),
        ({"node": 5, "model": "gat"}, True),
    ):
        app = opened(**address)
        assert listed(app) == ["five"]
        assert bool([each for each in app.button if (each.key or "").startswith("delete_note")]) == is_shown


def test_lists_show_how_their_instances_are_marked_under_this_network():
    app = opened("ba_shapes", split="all")
    first = int(app.dataframe[0].value["number"].iloc[0])
    assert "note" not in app.dataframe[0].value
    app = write(write(app, "", "unsure"), "", "good")  # of two notes the newest counts
    assert app.dataframe[0].value.set_index("number")["note"].to_dict()[first] == "✓ good"
    assert (app.dataframe[0].value["note"] != "").sum() == 1
    assert "note" not in opened("ba_shapes", split="all", model="gat").dataframe[0].value
    pairs = write(opened("les_miserables", split="all"), "", "spurious").dataframe[0].value
    assert pairs["note"].tolist()[:2] == ["✗ spurious", ""]


def test_on_a_shared_server_notes_stay_with_their_visitor_and_no_file_is_made(monkeypatch, folder):
    for shared in (Address("0.0.0.0"), Address(url="https://explain.example.org"), Address(allowed=("explain.example.org",))):  # noqa: S104  # fmt: skip
        monkeypatch.setattr(widget, "server_address", lambda shared=shared: shared)
        one, other = write(opened(), "for my eyes only"), opened()
        assert "save the report to keep them" in "".join(each.value for each in one.caption)
        assert listed(one) == ["for my eyes only"]
        assert listed(run(one)) == ["for my eyes only"]
        assert listed(other) == []
        assert listed(write(other, "mine")) == ["mine"]
        assert listed(run(one)) == ["for my eyes only"]
        assert "for my eyes only" not in json.dumps([str(each) for each in other.main])
        assert not folder.exists()


def test_a_visitor_of_a_shared_server_has_a_bounded_number_of_notes(monkeypatch):
    monkeypatch.setattr(widget, "server_address", lambda: Address("0.0.0.0"))  # noqa: S104
    monkeypatch.setattr("dashboard.state.notes.MOST_NOTES", 1)
    app = write(write(opened(), "first"), "second")
    assert "at most 1 notes are kept for a visitor" in app.error[0].value.replace("\\", "").lower()
    assert listed(app) == ["first"]


def test_only_who_sits_at_the_machine_is_at_their_own():
    assert Address().is_own
    assert Address("127.0.0.1").is_own
    for shared in ({"host": ""}, {"host": "10.0.0.7"}, {"url": "https://x.org"}, {"allowed": ("x.org",)}):
        assert not Address(**shared).is_own
