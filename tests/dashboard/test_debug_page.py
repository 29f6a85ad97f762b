"""The Debug page: all views count the same instances, and what is chosen is in the link."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import explainer_core as xc
from dashboard import services, tasks
from dashboard.schema import InstanceFilter
from dashboard.services import mistakes as service
from dashboard.tasks import Listed
from dashboard.view import cases_text
from explainer_core.debugging.patterns import Group, Pattern, Trait
from explainer_core.debugging.systematic import Systematic
from explainer_core.zoo.pretrained import find_card

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "screens" / "debug.py"
EVERYWHERE = ("ba_shapes", "karate", "les_miserables", "molecules", "ba_2motifs")


def opened(dataset: str, **address) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=120)
    app.query_params.update({"dataset": dataset, "steps": "5"} | {name: str(value) for name, value in address.items()})
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    assert not app.error
    return app


def views(app: AppTest) -> dict[str, dict]:
    sent = [json.loads(each.proto.json or each.proto.mixed.json) for each in app.get("bidi_component")]
    return {data["key"]: data for data in sent}


def counts(app: AppTest) -> np.ndarray:
    return np.array(views(app)["confusion"]["counts"])


def shares(app: AppTest) -> dict[str, tuple[float, int]]:
    """The rows of the table of shares: percent right, and of how many."""
    html = next(element.value for element in app.html if "How often it is right<" in element.value)
    row = r'<th scope="row">(?:<span[^>]*></span>)?([^<]*)</th>.*?<td>([^<]*)</td><td>([^<]*)</td></tr>'
    found = re.findall(row, html)
    return {
        name: (float(right.split("\u00a0")[0]), int(of.replace(",", ""))) for name, right, of in found if right != "–"
    }


def heading(app: AppTest) -> str:
    return app.html[0].value


def listed(app: AppTest):
    return app.dataframe[0].value if app.dataframe else None


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown).replace("\\", "")


def warned(app: AppTest) -> str:
    return "\n".join(element.value for element in app.warning).replace("\\", "")


@pytest.mark.parametrize("dataset", EVERYWHERE)
@pytest.mark.parametrize("split", ["test", "all"])
def test_the_counts_of_all_views_agree(dataset, split):
    app = opened(dataset, split=split)
    cells, found = counts(app), shares(app)
    right, total = int(np.trace(cells)), int(cells.sum())
    assert f"{100 * right / total:.1f}\u00a0% right" in heading(app)
    names = [name for name, _ in views(app)["confusion"]["rows"]]
    assert sum(of for name, (_, of) in found.items() if name in names) == total
    for label, name in enumerate(names):
        if cells[label].sum():
            share = 100 * cells[label, label] / cells[label].sum()
            assert found[name] == (pytest.approx(share, abs=0.051), cells[label].sum())
    assert (0 if listed(app) is None else len(listed(app))) == total - right
    if split == "test" and dataset != "molecules":
        assert found["test"] == (pytest.approx(100 * right / total, abs=0.051), total)


@pytest.mark.parametrize("dataset", ["ba_shapes", "karate", "ba_2motifs", "tree_grid"])
def test_the_accuracy_of_every_part_is_the_one_on_the_card(dataset):
    card, found = find_card(dataset), shares(opened(dataset))
    on_card = {"training": card.train_accuracy, "validation": card.val_accuracy, "test": card.test_accuracy}
    for part, accuracy in on_card.items():
        assert found[part][0] == pytest.approx(100 * accuracy, abs=0.06)


def test_links_are_judged_as_the_explain_page_judges_them_and_no_pair_twice():
    everything = services.everything("les_miserables", "gcn")
    pairs = everything.pairs
    assert len(set(pairs)) == len(pairs) == len(everything.instances)
    for row in (0, len(pairs) // 3, len(pairs) - 1):
        facts = services.ask(services.Request("les_miserables", "gcn", "link", pairs[row])).facts
        assert everything.instances.probabilities[row] == pytest.approx(facts.probabilities, abs=1e-5)
        assert facts.truth == everything.instances.truth[row]


def test_a_cell_lists_its_instances_the_surest_first_and_the_first_is_looked_at():
    app = opened("ba_shapes", split="all")
    cells = counts(app)
    truth, predicted = next((t, p) for t, p in np.argwhere(cells) if t != p)
    app = opened("ba_shapes", split="all", cell=f"{truth},{predicted}")
    rows = listed(app)
    assert len(rows) == cells[truth, predicted]
    assert rows["confidence"].is_monotonic_decreasing
    everyone = services.everything("ba_shapes", "gcn").instances
    assert set(everyone.truth[rows["number"]]) == {truth}
    assert set(everyone.predicted[rows["number"]]) == {predicted}
    assert app.number_input(key="node").value == rows["number"].iloc[0]
    assert views(app)["confusion"]["chosen"] == [truth, predicted]


def test_who_was_chosen_stays_whatever_is_listed():
    app = opened("ba_shapes", node=414)
    assert app.number_input(key="node").value == 414


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ({"cell": "9,0"}, "cell must be a row below 4"),
        ({"cell": "1"}, "cell must be a row below 4"),
        ({"cell": "1,-1"}, "cell must be a row below 4"),
        ({"split": "other"}, "split must be"),
        ({"with_degree": "5,2"}, "with_degree must be two numbers"),
        ({"with_degree": "a,b"}, "with_degree must be two numbers"),
        ({"with_motif": "perhaps"}, "with_motif must be"),
    ],
)
def test_a_link_that_asks_in_vain_is_told_so_and_answered(address, complaint):
    app = opened("ba_shapes", **address)
    assert complaint in warned(app).lower()
    assert counts(app).sum() == 70


def test_filters_narrow_all_views_alike():
    app = opened("ba_shapes", split="all", with_degree="2,3", with_motif="inside")
    everyone = services.everything("ba_shapes", "gcn").instances
    passes = (everyone.degree >= 2) & (everyone.degree <= 3) & (everyone.motif == 1)
    assert counts(app).sum() == passes.sum() > 0
    assert "Only degree 2 to 3, in a motif" in said(app)
    app.button(key="unfilter").click()
    run(app)
    assert counts(app).sum() == len(everyone)


def test_a_filter_nobody_passes_is_a_sentence():
    app = opened("les_miserables", with_text="nobody is called so")
    assert "No pair passes these filters" in heading(app)
    assert counts(app).sum() == 0


def test_a_list_becomes_a_file_that_a_spreadsheet_cannot_run():
    found = services.count_mistakes("les_miserables", "gcn", InstanceFilter(split=None))
    some = found.listed(None)
    rows = list(csv.reader(io.StringIO(services.list_as_csv(replace(some, names=["=1+1"] * len(some))))))
    assert len(rows) == len(some) + 1
    assert all(row[1] == "'=1+1" for row in rows[1:])
    assert [float(row[5]) for row in rows[1:]] == sorted((float(row[5]) for row in rows[1:]), reverse=True)


def test_without_labels_instances_are_listed_by_prediction_and_confidence(monkeypatch):
    known = services.everything("karate", "gcn").instances
    unknown = Listed(replace(known, truth=np.full(len(known), -1)))
    monkeypatch.setattr(service, "everything", lambda *args: unknown)
    monkeypatch.setattr(services, "everything", lambda *args: unknown)
    app = opened("karate", split="all")
    assert counts(app).tolist() == [np.bincount(known.predicted, minlength=2).tolist()]
    assert "No true class is known" in heading(app)
    assert len(listed(app)) == len(known)
    assert not [element for element in app.html if "How often it is right<" in element.value]
    rows = listed(opened("karate", split="all", cell="0,1"))
    assert set(known.predicted[rows["number"]]) == {1}
    assert rows["confidence"].is_monotonic_decreasing


def test_another_data_set_drops_what_means_nothing_there():
    app = opened("ba_shapes", cell="1,3", with_degree="2,3", split="all")
    app.selectbox(key="dataset").set_value("karate")
    run(app)
    assert not {"cell", "with_degree", "split"} & set(app.query_params)


# One instance


def test_the_cause_is_said_first_where_a_rule_finds_one_and_nothing_where_none_does():
    wrong = services.count_mistakes("ba_shapes", "gcn", InstanceFilter(split=None)).listed(None).numbers.tolist()
    causes = {node: services.cause(services.Request("ba_shapes", "gcn", "node", node)) for node in wrong}
    assert any(causes.values())
    for node, cause in causes.items():
        found = [each.value for each in opened("ba_shapes", node=node).markdown if "lightbulb" in each.value]
        text = [each.replace("\\", "").split("**")[1] for each in found]
        assert text == ([] if cause is None else [cause.text[:1].upper() + cause.text[1:]])


def test_no_cause_is_looked_for_where_the_network_is_right():
    app = opened("ba_shapes", node=414)
    assert not [each for each in app.markdown if "lightbulb" in each.value]


@pytest.mark.parametrize("dataset", ["ba_shapes", "les_miserables", "molecules"])
def test_both_classes_are_explained_on_one_layout_and_shared_edges_marked_alike(dataset):
    app = opened(dataset)
    why, why_not = views(app)["why"], views(app)["why_not"]
    assert why["picture"] == why_not["picture"]
    kept = [set(view["panels"][0]["kept"]) for view in (why, why_not)]
    assert set(why["panels"][0]["shared"]) == set(why_not["panels"][0]["shared"]) == kept[0] & kept[1]
    titles = [view["panels"][0]["title"] for view in (why, why_not)]
    assert titles[0].endswith("predicted")
    assert titles[1].endswith("true")


def test_the_other_class_is_the_true_one_unless_another_is_asked_for():
    node = int(services.count_mistakes("ba_shapes", "gcn", InstanceFilter()).listed(None).numbers[0])
    facts = services.target_facts(services.Request("ba_shapes", "gcn", "node", node))
    assert opened("ba_shapes", node=node).selectbox(key="instead").value == facts.truth
    other = next(label for label in range(4) if label not in (facts.truth, facts.predicted))
    app = opened("ba_shapes", node=node, instead=other)
    assert f"For “{facts.class_names[other]}”" == views(app)["why_not"]["panels"][0]["title"]
    assert "must be a class that is not predicted" in warned(opened("ba_shapes", node=node, instead=facts.predicted))


def test_not_enough_is_said_where_no_part_carries_the_other_class():
    said_of = {}
    for node in range(0, 34, 4):
        request = services.Request("karate", "gcn", "node", node, config=services.ExplainConfig(steps=5))
        facts = services.target_facts(request)
        both = services.why_and_why_not(request, 1 - facts.predicted)
        verdict = both.why_not.explanation.verdict
        app = opened("karate", node=node)
        said_of[node] = "Not enough for" in said(app)
        if not verdict.keeps_class:
            assert said_of[node]
    assert any(said_of.values())
    assert not all(said_of.values())


# What mistakes have in common


def test_mistakes_are_compared_with_as_many_right_ones_of_the_same_part_and_prediction():
    found = services.count_mistakes("les_miserables", "gcn", InstanceFilter(split=None))
    row = {pair: number for number, pair in enumerate(found.pairs)}
    for cell in (None, (1, 0), (0, 1)):
        wrong, right = ([row[pair] for pair in some] for some in services.compared(found, cell))
        assert wrong == found.listed(cell).numbers.tolist()
        assert len(right) == len(wrong)
        assert found.everyone.right[right].all()
        assert cell is None or set(found.everyone.predicted[right]) == {cell[1]}


def test_patterns_are_said_with_their_counts_and_where_there_is_none_that_is_said(monkeypatch):
    found = services.count_mistakes("les_miserables", "gcn", InstanceFilter(split=None))
    count = len(found.listed(None))
    target = found.target(int(found.listed(None).numbers[0]))
    explained = xc.explain(xc.load_pretrained("les_miserables"), xc.load_dataset("les_miserables"), xc.Link(*target))
    looked = Pattern(Trait("node", "3", "The network looks at a leak."), (0, 1, 2), count, 0, 1, count, 0.004)
    cause = Group(Trait("cause", "near_tie", "It is a near tie."), tuple(range(count)), count, 0)
    for patterns, words in (
        ((looked,), f"3 of {count} mistakes ({300 / count:.1f}\u00a0%), 1 of {count} right ones (p 0.004)."),
        ((), "no pattern is called"),
    ):
        services.clear_caches()
        known = Systematic(patterns, (cause,), 7, {0: explained})
        monkeypatch.setattr(tasks, "find_patterns", lambda *args, emit, known=known: known)
        app = opened("les_miserables", split="all")
        app.button(key="find_patterns").click()
        run(app)
        assert words in said(app)
        assert "7 groups were compared" in "".join(caption.value for caption in app.caption)
        assert f"The same {count} mistakes by their cause" in [each.label for each in app.expander]
        if patterns:
            assert "The network looks at a leak." in said(app)
            assert f"{count - 3} mistakes show none of the patterns." in said(app)


def test_a_group_can_be_named_and_is_saved_under_its_name(monkeypatch):
    services.clear_caches()
    app = opened("case_4")
    app.button(key="find_patterns").click()
    run(app)
    name = next(box for box in app.text_input if box.key.startswith("name case_4 gin shortcut"))
    name.set_value("  =chlorine \n everywhere ")
    run(app)
    assert next(box for box in app.text_input if box.key == name.key).value == "=chlorine everywhere"
    (saved,) = app.session_state["named groups"].values()
    assert (saved.name, saved.model) == ("=chlorine everywhere", "GIN")
    assert "atom “Cl”" in saved.rule
    assert "mistakes" in saved.counts
    found = services.count_mistakes("case_4", "gin", InstanceFilter())
    groups = services.compared(found, None)
    known = services.known_patterns("case_4", "gin", groups)
    rows = list(csv.DictReader(io.StringIO(services.groups_as_csv(groups, known, {known.patterns[0]: "=type 2"}))))
    assert rows[0]["name"] == "'=type 2"  # no spreadsheet takes it for a formula
    assert rows[0]["pattern"] == "yes"
    assert int(rows[0]["mistakes"]) == len(rows[0]["members"].split())
    causes = [row for row in rows if row["pattern"] == "no"]
    assert sum(int(row["mistakes"]) for row in causes) == len(groups[0])
    members = [int(each) for row in causes for each in row["members"].split()]
    assert sorted(members) == sorted(groups[0])


def test_a_run_for_patterns_tells_how_far_it_is_and_ends_where_that_raises():
    found = services.count_mistakes("case_4", "gin", InstanceFilter())
    groups, told = services.compared(found, None), []
    total = len(groups[0]) + len(groups[1])
    tasks.find_patterns("case_4", "gin", *groups, emit=told.append)
    assert [each.of for each in told] == [total] * len(told)
    assert [each.done for each in told] == [*range(20, total, 20), total]

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tasks.find_patterns("case_4", "gin", *groups, emit=stop)


def test_the_most_typical_mistake_of_a_group_is_one_click_away():
    app = opened("case_4")
    if [button for button in app.button if button.key == "find_patterns"]:
        app.button(key="find_patterns").click()
        run(app)
    button = next(button for button in app.button if button.key.startswith("typical shortcut"))
    button.click()
    run(app)
    assert button.label == f"Look at graph {app.query_params['graph']}"


def test_a_case_says_its_complaint_and_gives_hints():
    app = opened("case_2")
    assert "Find the bug" in app.expander[0].label
    assert "99.6\u00a0% right in training" in app.expander[0].label
    app.button(key="hint case_2").click()
    assert cases_text.CASES["case_2"].hints[0] in said(run(app))
    assert not opened("karate").expander or "Find the bug" not in opened("karate").expander[0].label


def test_of_few_mistakes_or_of_what_is_right_no_pattern_is_asked_for():
    assert "find_patterns" not in [button.key for button in opened("ba_shapes").button]  # three mistakes
    assert "find_patterns" not in [button.key for button in opened("les_miserables", split="all", cell="1,1").button]
