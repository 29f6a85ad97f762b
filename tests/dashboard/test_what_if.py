"""What if, on the Debug page: edits are in the link, answers are those of a graph built so, and flips flip."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import explainer_core as xc
from dashboard import services
from dashboard.schema import AddEdge, CutEdge, DeleteNode, HideFeature, Request, SetFeature, SetType, edits_to_text
from dashboard.view import what_if_text
from explainer_core.predictions import target_probabilities

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "screens" / "debug.py"
HOUSE = Request("ba_shapes", "gcn", "node", 534)
CUT = CutEdge(530, 534)
MOLECULE = Request("molecules", "gin", "graph", 3)


def opened(dataset: str = "ba_shapes", **address) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=120)
    app.query_params.update({"dataset": dataset, "steps": "5"} | {name: str(value) for name, value in address.items()})
    return run(app)


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception
    assert not app.error
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return run(app)


def view(app: AppTest, key: str = "what_if") -> dict:
    sent = [json.loads(each.proto.json or each.proto.mixed.json) for each in app.get("bidi_component")]
    return {data["key"]: data for data in sent}[key]


def bars(app: AppTest) -> list[str]:
    html = next(element.value for element in app.html if "what-if" in element.value)
    return re.findall(r'class="share">([^<]*)<', html)


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown).replace("\\", "")


def of_graph(graph, target, dataset: str = "ba_shapes", model: str = "gcn") -> tuple[float, ...]:
    return tuple(target_probabilities(xc.load_pretrained(dataset, model), graph, [target])[0].tolist())


@pytest.mark.parametrize("edit", [CUT, AddEdge(534, 100), CutEdge(90, 530)])
def test_an_edited_answer_is_that_of_a_graph_built_so(edit):
    graph = xc.load_dataset("ba_shapes")
    built = xc.apply_edits(graph, [edit]).graph
    pairs = set(map(tuple, built.edge_index.t().tolist()))
    assert ((edit.source, edit.target) in pairs) == isinstance(edit, AddEdge)
    assert services.ask_edited(replace(HOUSE, edits=(edit,))) == pytest.approx(of_graph(built, xc.Node(534)), abs=1e-6)


def test_without_edits_the_bars_are_those_of_the_heading():
    facts = services.target_facts(HOUSE)
    assert services.ask_edited(HOUSE) == pytest.approx(facts.probabilities, abs=1e-6)
    assert bars(opened(node=534)) == [what_if_text.percent(share) for share in facts.probabilities]


def test_edits_of_a_link_are_drawn_said_and_answered():
    app = opened(node=534, edits=edits_to_text([CUT, AddEdge(531, 533)]))
    after = services.ask_edited(replace(HOUSE, edits=(CUT, AddEdge(531, 533))))
    assert bars(app) == [what_if_text.percent(share) for share in after]
    sent = view(app)
    panel, nodes = sent["panels"][0], sent["picture"]["nodes"]
    assert len(panel["cut"]) == len(panel["added"]) == 1
    assert panel["added"][0] == len(services.changed_drawing(HOUSE).drawing.picture.edges)
    assert {530, 531, 533, 534} <= set(nodes)
    assert "2 changes: cut 530 – 534, added 531 – 533." in said(app)


def test_undo_redo_and_reset_walk_through_the_edits():
    app = opened(node=534, edits=edits_to_text([CUT, AddEdge(531, 533)]))
    press(app, "undo")
    assert app.query_params["edits"] == edits_to_text([CUT])
    press(app, "undo")
    assert "edits" not in app.query_params
    assert app.button(key="undo").disabled
    press(app, "redo")
    press(app, "redo")
    assert app.query_params["edits"] == edits_to_text([CUT, AddEdge(531, 533)])
    assert app.button(key="redo").disabled
    press(app, "reset_edits")
    assert "edits" not in app.query_params
    assert not view(app)["panels"][0]["cut"]


def query(app: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def test_what_was_undone_is_in_the_link_too():
    cut, add = edits_to_text([CUT]), edits_to_text([CUT, AddEdge(534, 100)])
    app = press(press(opened(node=534, edits=add), "undo"), "undo")
    assert query(app)["undone"] == f"{add}~{cut}"
    app = opened(
        **{name: value for name, value in query(app).items() if name not in ("dataset", "steps")}
    )  # a colleague
    assert query(press(app, "redo"))["edits"] == cut
    assert query(press(app, "redo"))["edits"] == add
    assert app.button(key="redo").disabled
    assert "undone" not in query(app)


def test_a_reset_can_be_undone_and_made_again():
    text = edits_to_text([CUT])
    app = press(opened(node=534, edits=text), "reset_edits")
    assert "edits" not in query(app)
    assert query(press(app, "undo"))["edits"] == text
    assert query(app)["undone"] == "none"
    assert "edits" not in query(press(app, "redo"))


@pytest.mark.parametrize("undone", ["nonsense", "cut-1-2~cut", "~~~", "x" * 9_000])
def test_steps_that_are_none_lead_nowhere(undone):
    app = opened(node=534, undone=undone)
    assert app.button(key="redo").disabled == (undone != "~~~")
    assert not app.warning


def test_a_link_stays_short_however_much_was_undone():
    long = "_".join(f"add-{i}-{i + 200}" for i in range(40))
    steps = "~".join([long[:-1]] * 5)
    app = press(opened(node=534, edits=long, undone=steps), "undo")
    assert len(query(app)["undone"]) <= 2_500
    assert query(press(app, "redo"))["edits"] == long


def test_what_a_click_changes_and_what_may_flip_it_is_in_the_link():
    app = opened("molecules", graph=3)
    assert view(app)["joins"]
    app.button_group(key="changes").set_value("nodes")
    run(app)
    assert query(app)["changes"] == "nodes"
    app.button_group(key="flip").set_value(["delete", "feature"])
    run(app)
    assert query(app)["flip"] == "delete,feature"
    again = opened("molecules", graph=3, changes="nodes", flip="delete,feature")
    assert not view(again)["joins"]
    assert list(again.button_group(key="flip").value) == ["delete", "feature"]
    assert opened("molecules", graph=3, flip="none").button(key="find_flip").disabled
    assert "changes must be" in opened("molecules", graph=3, changes="all").warning[0].value.replace("\\", "").lower()


def test_the_wanted_class_is_in_the_link_and_means_nothing_for_another_node():
    facts = services.target_facts(HOUSE)
    other = next(label for label in range(4) if label != facts.predicted)
    app = opened(node=534, flip_to=other, flip="add,feature")
    assert app.selectbox(key="flip_to").value == other
    assert "flip must be" in app.warning[0].value.replace("\\", "").lower()  # all nodes have the same features here
    app.number_input(key="node").set_value(530)
    run(app)
    assert "flip_to" not in query(app)
    app = opened(node=534, flip_to=facts.predicted)
    assert "must be a class that is not predicted" in app.warning[0].value.replace("\\", "")
    app = press(opened(node=534, flip_to=other), "find_flip")
    known = services.known_flip(HOUSE, ("delete",), other)
    assert known is not None
    assert known.wanted == other


@pytest.mark.parametrize("edits", ["cut-1", "cut-0-699", "cut-1-99999", "boom", "drop-534", "cut-530-534_" * 60])
def test_edits_that_cannot_be_made_are_a_sentence_and_leave_the_graph_as_it_is(edits):
    app = opened(node=534, edits=edits)
    assert len(app.warning) == 1
    assert bars(app) == [what_if_text.percent(share) for share in services.target_facts(HOUSE).probabilities]


def test_an_edge_is_cut_and_restored_and_a_new_one_added_and_taken_away():
    cut = services.toggled(HOUSE, 534, 530)
    assert cut == (CUT,) or cut == (CutEdge(534, 530),)
    assert services.toggled(replace(HOUSE, edits=cut), 530, 534) == ()
    added = services.toggled(HOUSE, 533, 531)
    assert added == (AddEdge(531, 533),)
    assert services.toggled(replace(HOUSE, edits=added), 531, 533) == ()


def test_the_link_that_is_asked_about_cannot_be_cut():
    request = Request("les_miserables", "gcn", "link", (31, 55))
    with pytest.raises(ValueError, match="hidden from the network already"):
        services.toggled(request, 55, 31)


def test_a_feature_is_set_or_hidden_once_however_often_it_is_changed():
    request = Request("karate", "gcn", "node", 19)
    one = services.with_feature(request, 19, 0, 2.0)
    assert one == (SetFeature(19, 0, 2.0),)
    assert services.with_feature(replace(request, edits=one), 19, 0, None) == (HideFeature(19, 0),)


def test_atoms_are_changed_and_deleted_and_the_picture_says_so():
    graph = xc.load_dataset("molecules")[3]
    elements = list(graph.feature_names)
    hydrogen = next(i for i in range(graph.num_nodes) if graph.node_name(i) == "H")
    edits = services.with_type(MOLECULE, hydrogen, elements.index("F"))
    assert edits == (SetType(hydrogen, elements.index("F")),)
    edited = replace(MOLECULE, edits=edits)
    assert services.with_type(edited, hydrogen, elements.index("H")) == ()
    drawing = services.changed_drawing(edited).drawing
    assert drawing.picture.labels[drawing.picture.nodes.index(hydrogen)] == "F"
    gone = replace(MOLECULE, edits=services.without_node(MOLECULE, hydrogen))
    assert gone.edits == (DeleteNode(hydrogen),)
    assert len(services.changed_drawing(gone).cut) == 1
    assert services.node_facts(gone, hydrogen) is None
    app = opened("molecules", graph=3, edits=edits_to_text(gone.edits))
    built = xc.apply_edits(graph, gone.edits).graph
    after = of_graph(built, xc.WholeGraph(), "molecules", "gin")
    assert bars(app) == [what_if_text.percent(share) for share in after]


def test_the_edited_graph_is_explained_again_in_the_places_of_before():
    app = opened(node=534, edits=edits_to_text([CutEdge(90, 530)]), again=True)
    first, again = view(app)["panels"]
    assert again["title"] == "What it rests on now"
    assert again["cut"] == first["cut"]
    assert not set(again["kept"]) & set(again["cut"])
    assert again["kept"]


def test_after_a_node_was_deleted_the_explanation_is_drawn_in_the_numbers_of_before():
    edited = replace(MOLECULE, edits=(DeleteNode(0),), config=services.ExplainConfig(steps=5))
    answer = services.explain_edited(edited)
    changed = services.changed_drawing(edited)
    panel = services.explained_panel(edited, answer, changed, "again", ())
    assert not set(panel.kept) & set(changed.cut)
    assert changed.drawing.picture.nodes.index(0) not in panel.kept_nodes
    assert len(panel.kept_nodes) == len(answer.explanation.subgraph().nodes)


def test_a_flip_is_found_drawn_as_edits_and_said_and_really_flips():
    app = press(opened(node=534), "find_flip")
    flip = services.known_flip(HOUSE, ("delete",), None)
    assert app.query_params["edits"] == edits_to_text(flip.changes)
    assert len(view(app)["panels"][0]["cut"]) == len(flip.changes)
    facts = services.target_facts(HOUSE)
    after = services.ask_edited(replace(HOUSE, edits=flip.changes))
    assert max(range(4), key=after.__getitem__) == flip.reached != facts.predicted
    assert f"makes it “{facts.class_names[flip.reached]}”, {what_if_text.percent(flip.after[flip.reached])}" in said(
        app
    )
    press(app, "undo")
    assert "edits" not in app.query_params


def flip_of(**changes) -> xc.Flip:
    known = {
        "target": xc.Node(0), "predicted": 0, "wanted": None, "changes": (CutEdge(0, 1), CutEdge(0, 2)), "reached": 1,
        "before": (0.9, 0.1), "after": (0.39, 0.61), "proven": True, "exhausted": 1, "candidates": 12, "tried": 80,
        "most": 5, "sampled": False,
    }  # fmt: skip
    return xc.Flip(**(known | changes))


@pytest.mark.parametrize(
    ("flip", "words"),
    [
        (flip_of(), "Cutting these 2 edges makes it “b”, 61.0 %; proven: no single one of the 12 candidates does."),
        (flip_of(proven=False), "Cutting these 2 edges makes it “b”, 61.0 %; leaving out any one of them does not."),
        (flip_of(changes=(AddEdge(0, 1),)), "Adding this edge makes it “b”, 61.0 %; no smaller change is possible."),
        (
            flip_of(changes=None, reached=None, after=None, exhausted=3, proven=False),
            "None within 5: cutting edges, up to 5 of them, does not flip it "
            "(all of up to 3 were tried, of more the most promising).",
        ),
    ],
)
def test_a_flip_in_one_sentence(flip, words):
    assert what_if_text.flip_said(flip, ("a", "b"), ("delete",)).replace("\u00a0", " ") == words
