"""The dashboard's calls into the core: made once, the same numbers as called directly, and files others can read."""

import io
from contextlib import redirect_stdout
from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import explainer_core as xc
from dashboard import catalogue, services
from dashboard.services import ExplainConfig, Request, explanations, pictures, predict
from dashboard.tasks import Sealed, Timed, explaining, subjects
from explainer_core.api import agreement_over_starts
from explainer_core.explanation import metrics
from explainer_core.models import GNN, ModelSpec
from explainer_core.zoo.pretrained import find_card

QUICK = ExplainConfig(steps=20, k_m=5)
KARATE = Request("karate", "gcn", "node", 8, config=QUICK)
CYCLES = Request("tree_cycles", "gcn", "node", 600, config=QUICK)
LINK = Request("les_miserables", "gcn", "link", (73, 48), config=QUICK)
COMPOUND = Request("molecules", "gin", "graph", 0, config=QUICK)
TYPED = Request("molecules", "gin", "smiles", "O=[N+]([O-])c1ccccc1", config=QUICK)
ALL = (KARATE, CYCLES, LINK, COMPOUND, TYPED)
HOSTILE = (
    "=1+1",
    "<img src=x onerror=alert(1)>",
    "]]> & \"quoted\" 'twice'",
    "nul\x00 tab\x0b",
    "@SUM(A1)",
    "a, b\nc",
    "",
)


def answered(request: Request) -> services.Answer:
    """The answer, however long it takes."""
    return services.explain(services.ask(request))


def explained_by(request: Request, method: str) -> Timed:
    """What a method says of the prediction, the main picture's or one beside it."""
    if method == request.method:
        return explanations.optimised(request)
    return explanations.compared(request, [method]).others[0]


def name(request: Request) -> str:
    return f"{request.dataset}-{request.kind}"


forget_everything = services.clear_caches


@pytest.fixture
def alone():
    """Nothing that other tests have left, and nothing that is left to them."""
    forget_everything()
    yield
    forget_everything()


@pytest.fixture
def hostile(alone):
    """The karate club, whose members have names that look like code."""
    graph = xc.load_dataset("karate")
    names = [HOSTILE[i % len(HOSTILE)] for i in range(graph.num_nodes)]
    subjects._DATA.put("karate", replace(graph, node_names=names, class_names=HOSTILE[1:3]))
    return KARATE


# The same numbers as the core's own


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_the_python_lines_give_the_same_explanation(request_):
    asked = replace(request_, target_class=0, config=replace(QUICK, k_m="auto", k_f=2, size=0.7, refine=False))
    for each in (request_, asked, replace(asked, method=services.MASK_METHOD)):
        said, there = io.StringIO(), {}
        with redirect_stdout(said):
            exec(services.as_python(each), there)  # noqa: S102, our own lines
        ours = explanations.optimised(each).explanation
        here, shown = there["explanation"].subgraph(), ours.subgraph()
        assert replace(here, threshold=0.0) == replace(shown, threshold=0.0)
        assert here.threshold == pytest.approx(shown.threshold, abs=1e-6)  # a mask is optimised beside others, or not
        assert (there["explanation"].size, there["explanation"].method) == (ours.size, each.method)
        assert there["explanation"].top_features() == ours.top_features()
        np.testing.assert_allclose(there["explanation"].edge_weight, ours.edge_weight, rtol=1e-5)
        assert str(here) in said.getvalue()


def test_true_class_is_asked_for_by_its_number():
    assert predict.asked_class(replace(KARATE, target_class="true")) == xc.load_dataset("karate").labels[8]
    assert predict.asked_class(replace(TYPED, target_class="true")) == predict.target_facts(TYPED).predicted


@pytest.mark.parametrize("request_", [CYCLES, LINK, COMPOUND], ids=name)
def test_scores_are_those_of_the_metrics_called_directly(request_):
    model, whole = xc.load_pretrained(request_.dataset, request_.model), xc.load_dataset(request_.dataset)
    others = ("gradient", "attention", "occlusion")
    compared = explanations.compared(request_, others)
    found = [("verified", explanations.optimised(request_)), *zip(others, compared.others, strict=True)]
    judged = [explanations.own_scores(request_), *compared.scores]
    for (method, timed), scores in zip(found, judged, strict=True):
        explanation = replace(timed.explanation, explained_class=found[0][1].explanation.explained_class)
        (judged,) = metrics.faithfulness(model, whole, [explanation])
        assert scores.method == method
        assert scores.judged.kept == pytest.approx(judged.kept, abs=1e-5)
        assert scores.judged.without == pytest.approx(judged.without, abs=1e-5)
        assert scores.judged.keeps_class == judged.keeps_class
        if request_ is CYCLES:
            assert scores.auc == pytest.approx(metrics.edge_auc(whole, [explanation]))
        if request_ is LINK:
            assert scores.auc is None


def test_only_what_is_learnt_again_is_learnt_again(alone, monkeypatch):
    runs, really = [], xc.explain_steps
    monkeypatch.setattr(xc, "explain_steps", lambda *args, **rest: runs.append(args[3]) or really(*args, **rest))
    explanations.optimised(KARATE)
    for change in ({"k_m": 9}, {"k_m": "auto"}, {"k_f": 2}, {"k_m_unit": "edges"}):
        for method in (services.MAIN_METHOD, services.MASK_METHOD):  # the mask is where the search has started
            sized = explanations.optimised(replace(KARATE, config=replace(QUICK, **change), method=method)).explanation
            assert sized.config == replace(QUICK, **change)
            assert sized.method == method
    assert len(runs) == 1
    changes = ({"size": 1.0}, {"steps": 21}, {"seed": 1}, {"connected": False}, {"refine": False})
    for number, change in enumerate(changes, start=2):
        explanations.optimised(replace(KARATE, config=replace(QUICK, **change)))
        assert len(runs) == number


def test_a_mask_is_the_same_whether_or_not_the_search_has_run(alone):
    asked = replace(CYCLES, method=services.MASK_METHOD, config=replace(QUICK, k_m="auto"))
    by_itself = explanations.optimised(asked).explanation
    forget_everything()
    explanations.optimised(replace(asked, method=services.MAIN_METHOD))
    beside = explanations.optimised(asked).explanation
    np.testing.assert_allclose(beside.edge_weight, by_itself.edge_weight, atol=1e-6)  # optimised beside others, or not
    assert beside.subgraph().edges == by_itself.subgraph().edges
    assert beside.verdict == by_itself.verdict
    assert [step for step, _ in beside.snapshots] == [step for step, _ in by_itself.snapshots]
    assert beside.top_features() == by_itself.top_features()


def test_a_mask_is_shown_without_a_search(alone, monkeypatch):
    asked = []
    really = xc.explain_steps
    monkeypatch.setattr(xc, "explain_steps", lambda *args, **rest: asked.append(args[4]) or really(*args, **rest))
    explanations.optimised(replace(KARATE, method=services.MASK_METHOD))
    assert asked == ["gnnexplainer"]
    assert not explanations.is_optimised(KARATE)


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_every_method_beside_keeps_as_much_as_is_shown(request_):
    for method in (services.MAIN_METHOD, services.MASK_METHOD):
        asked = replace(request_, config=replace(QUICK, k_m="auto"), method=method)
        size = explanations.optimised(asked).explanation.size
        for other in ("paper", "gradient", "random"):
            found = explained_by(asked, other).explanation
            assert found.config.k_m == found.size == size
            assert found.subgraph() == found.subgraph(size)


def test_the_paper_beside_is_the_mask_with_the_papers_settings():
    found = explained_by(KARATE, "paper").explanation
    config = xc.ExplainConfig.paper(k_m=QUICK.k_m)
    model, whole = xc.load_pretrained("karate", "gcn"), xc.load_dataset("karate")
    own = xc.explain(model, whole, xc.Node(8), config, "gnnexplainer")
    assert found.config == config
    np.testing.assert_allclose(found.edge_weight, own.edge_weight, rtol=1e-5)
    assert found.subgraph() == own.subgraph()


def test_leaving_a_run_leaves_nothing_behind(alone, monkeypatch):
    monkeypatch.setattr(explaining, "SELDOM", 0)

    class Leaves(BaseException):
        """As Streamlit ends a script."""

    def leave(progress):
        raise Leaves

    with pytest.raises(Leaves):
        explanations.optimise(KARATE, leave)
    assert not explanations.is_optimised(KARATE)
    steps = []
    explanations.optimise(KARATE, steps.append)
    assert len(steps) > 1
    assert explanations.is_optimised(KARATE)


@pytest.mark.parametrize("layers", [1, 3])
def test_attention_of_a_network_of_another_depth_lies_on_the_explained_ones_edges(layers, alone):
    gat = GNN(ModelSpec("gat", "node", in_features=34, num_classes=2, hidden=8, num_layers=layers)).eval()
    subjects._MODELS.put(("karate", "gat"), gat.requires_grad_(False))
    found, computation = explained_by(KARATE, "attention").explanation, subjects.computation_graph(KARATE)
    own = xc.explain(gat, xc.load_dataset("karate"), xc.Node(8), QUICK, "attention")
    assert found.edge_ids.tolist() == computation.edge_ids.tolist()
    assert set(found.edge_ids) != set(own.edge_ids)
    weight = dict(zip(own.edge_ids.tolist(), own.edge_weight.tolist(), strict=True))
    assert found.edge_weight.tolist() == pytest.approx([weight.get(edge, 0.0) for edge in found.edge_ids.tolist()])
    assert found.probabilities == computation.probabilities


@pytest.mark.parametrize("method", [services.MAIN_METHOD, services.MASK_METHOD])
def test_other_starts_say_what_the_core_says_and_another_size_needs_no_other_run(method, alone, monkeypatch):
    """As many as were tried: five, and ten only where five differ."""
    asked = replace(KARATE, method=method, config=replace(QUICK, k_m="auto"))
    assert explanations.agreement_of(asked) is None
    model, whole = xc.load_pretrained("karate", "gcn"), xc.load_dataset("karate")
    explanations.try_starts(asked)
    for k_m in ("auto", 4):
        sized = replace(asked, config=replace(asked.config, k_m=k_m))
        found = explanations.try_starts(sized)
        assert explanations.agreement_of(sized) is found
        shown = explanations.optimised(sized).explanation
        few = agreement_over_starts(model, whole, shown, starts=explaining.FEW_STARTS)
        direct = agreement_over_starts(model, whole, shown) if few.unstable else few
        if not found.unstable and found.starts > few.starts:  # another size had to ask more
            direct = agreement_over_starts(model, whole, shown)
        assert (found.share, found.starts, found.kept_by) == (direct.share, direct.starts, direct.kept_by)
    monkeypatch.setattr(explaining, "_started", None)  # what was tried is not tried again
    explanations._AGREEMENTS.clear()
    assert (
        explanations.try_starts(asked).starts == len(explanations._STARTS.get(explanations._cache_key(asked)).value) + 1
    )


def test_more_starts_are_tried_where_the_first_few_differ(alone, monkeypatch):
    asked = replace(KARATE, config=replace(QUICK, k_m=4))
    own = explanations.optimised(asked).explanation
    turned = replace(own, edge_weight=own.edge_weight.max() - own.edge_weight, table=(), verdict=None)
    tried = []

    def started(request, shown, starts, known, emit):
        tried.append((known, starts))
        return (turned if differ else own,) * (starts - known)

    monkeypatch.setattr(explaining, "_started", started)
    for differ, expected in ((False, [(1, 5)]), (True, [(1, 5), (5, 10)])):
        tried.clear()
        _, found = explaining.try_starts(asked, own, None, emit=lambda progress: None)
        assert (tried, found.starts, bool(found.unstable)) == (expected, expected[-1][1], differ)
    tried.clear()
    _, found = explaining.try_starts(asked, own, Sealed((turned,) * 4), emit=lambda progress: None)
    assert (tried, found.starts) == ([(5, 10)], 10)  # a size at which the known ones differ asks for the rest


@pytest.mark.parametrize("request_", ALL, ids=name)
@pytest.mark.parametrize("method", [services.MAIN_METHOD, services.MASK_METHOD])
def test_the_curve_is_what_choosing_each_size_gives(request_, method):
    asked = replace(request_, config=replace(QUICK, k_m="auto"), method=method)
    own = explanations.optimised(asked).explanation
    trust = explanations.compared(asked, ()).trust
    sizes, _ = explanations.sizes_judged(asked)
    for size, (kept, promised) in enumerate(sizes[:8], 1):
        chosen = explanations.optimised(replace(asked, config=replace(asked.config, k_m=size))).explanation
        assert chosen.subgraph() == kept
        assert promised.alone == pytest.approx(chosen.verdict.alone, abs=1e-3)
        assert promised.without == pytest.approx(chosen.verdict.without, abs=1e-3)
    # what is said of the shown size is one number wherever it stands
    scores = explanations.own_scores(asked)
    shown = sizes[own.size - 1][1]
    assert shown.alone == own.verdict.alone == scores.judged.kept == trust.faithfulness.kept
    assert shown.without == own.verdict.without == scores.judged.without == trust.faithfulness.without


# Pictures


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_a_picture_is_one_of_the_neighbourhood_with_its_target_and_its_truth(request_):
    drawing = pictures.drawn(request_)
    picture, computation, graph = drawing.picture, subjects.computation_graph(request_), subjects.graph_of(request_)
    count = len(picture.nodes)
    assert len(set(picture.nodes)) == count
    assert {len(column) for column in (picture.x, picture.y, picture.colours, picture.labels, picture.tips)} == {count}
    assert np.isfinite([picture.x, picture.y]).all()
    assert np.array(picture.edges).min() >= 0
    assert np.array(picture.edges).max() < count
    numbers = [tuple(sorted(picture.nodes[end] for end in edge)) for edge in picture.edges]
    assert numbers == [tuple(pair) for pair in computation.undirected()[0][drawing.shown].tolist()]
    assert [picture.nodes[place] for place in picture.targets] == list(computation.roots)
    assert len(picture.bonds) == (len(numbers) if request_.dataset == "molecules" else 0)
    if graph.edge_motif is None:
        assert not picture.truth
        return
    in_motif = graph.motif_edges(request_.target) if request_.kind == "node" else graph.edge_motif >= 0
    motif = {tuple(sorted(pair)) for pair in graph.edge_index[:, in_motif].T.tolist()}
    assert {numbers[place] for place in picture.truth} == motif & set(numbers)


def test_a_picture_does_not_change_with_the_settings():
    other = replace(CYCLES, config=replace(QUICK, k_m=9, size=1.0, steps=30))
    assert pictures.drawn(other) is pictures.drawn(CYCLES)


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_a_panel_keeps_exactly_the_explanations_subgraph(request_):
    drawing = pictures.drawn(request_)
    masked = replace(request_, method=services.MASK_METHOD)
    for method in ("verified", "gnnexplainer", "gradient", "occlusion"):
        found = explained_by(masked if method == "gnnexplainer" else request_, method)
        panel = services.weighed(
            drawing,
            found.explanation,
            name=method,
            title=method,
            terms={"prediction": "what it says"},
            replay=method == "gnnexplainer",
        )
        kept, nodes = found.explanation.subgraph(), drawing.picture.nodes
        drawn_pairs = {tuple(sorted(nodes[end] for end in drawing.picture.edges[place])) for place in panel.kept}
        assert drawn_pairs == set(kept.edges)
        assert {nodes[place] for place in panel.kept_nodes} == set(kept.nodes)
        assert len(panel.weights) == len(drawing.picture.edges)
        assert max(panel.weights) == 1
        assert min(panel.weights) >= 0
        assert bool(panel.frames) == (method == "gnnexplainer")
        assert {len(weights) for _, weights in panel.frames} <= {len(panel.weights)}
        assert ("what it says" in panel.curves) == (method == "gnnexplainer")


def test_a_sampled_neighbourhood_is_the_same_in_the_picture_and_in_the_explanation():
    few = replace(KARATE, target=0, config=replace(QUICK, max_edges=20, seed=3))
    assert (
        subjects.computation_graph(few).edge_ids.tolist() == explanations.optimised(few).explanation.edge_ids.tolist()
    )


# Browsing


def test_random_choices_fall_on_what_they_say():
    said = predict.all_predictions("tree_cycles", "gat")
    wrong = services.candidates("tree_cycles", "gat", "wrong")
    assert (said.predicted[wrong] != said.truth[wrong]).all()
    assert len(wrong) == (said.predicted != said.truth).sum()
    motif = services.candidates("tree_cycles", "gat", "motif")
    assert (xc.load_dataset("tree_cycles").node_motif[motif] >= 0).all()
    assert len(services.candidates("tree_cycles", "gat", "all")) == services.num_targets("tree_cycles", "gat")


def test_wrong_ones_are_listed_by_the_part_of_the_split_they_were_in():
    """As the card counts the parts, and as its accuracy on each of them says how many are wrong."""
    card = next(card for card in services.all_cards() if (card.dataset, card.model) == ("tree_cycles", "gat"))
    parts = services.parts_of("tree_cycles", "gat")
    for part, accuracy in (("train", card.train_accuracy), ("val", card.val_accuracy), ("test", card.test_accuracy)):
        wrong = services.candidates("tree_cycles", "gat", "wrong", part)
        assert (parts == part).sum() == card.split[part]
        assert len(wrong) == round((1 - accuracy) * card.split[part])
        assert set(parts[wrong]) <= {part}
    assert services.parts_of("molecules", "gin") is None  # its networks were trained on other data
    assert services.parts_of("les_miserables", "gcn") is None  # pairs are split there, not nodes


def test_the_gallery_of_wrong_graphs_begins_with_those_the_network_never_saw():
    parts = services.parts_of("ba_2motifs", "gcn")
    found = services.filtered_graphs("ba_2motifs", "gcn", services.GraphFilter(right=True))
    order = [services.FROM_UNSEEN.index(part) for part in parts[found]]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}
    only = services.filtered_graphs("ba_2motifs", "gcn", services.GraphFilter(part="val"))
    assert only.tolist() == np.flatnonzero(parts == "val").tolist()
    assert services.gallery("ba_2motifs", "gcn", only, 0)[0].note.endswith(" · val")


def test_the_sieve_lets_through_what_it_says_and_the_gallery_shows_a_page_of_it():
    said, sizes = predict.all_predictions("molecules", "gin"), services.sizes("molecules")
    everything = services.filtered_graphs("molecules", "gin", services.GraphFilter())
    assert len(everything) == len(sizes)
    small = services.filtered_graphs("molecules", "gin", services.GraphFilter(label=0, right=True, most=20))
    assert len(small)
    assert (sizes[small] <= 20).all()
    assert (said.truth[small] == 0).all()
    assert said.right[small].all()
    first = services.gallery("molecules", "gin", everything, 0)
    assert [card.id for card in first] == everything[: services.PER_PAGE].tolist()
    assert all(card.svg.startswith("<svg") for card in first)
    (named,) = services.filtered_graphs("molecules", "gin", services.GraphFilter(text=first[3].title.upper()))[:1]
    assert services.gallery("molecules", "gin", np.array([named]), 0)[0].title == first[3].title


def test_the_list_of_links_has_both_kinds_and_the_scores_of_the_network():
    table = services.links("les_miserables", "gcn")
    assert set(table["joined"]) == {True, False}
    assert table["score"].is_monotonic_decreasing
    row = table.iloc[len(table) // 2]
    facts = predict.target_facts(replace(LINK, target=(int(row["source"]), int(row["head"]))))
    assert facts.probabilities[1] == pytest.approx(row["score"], abs=1e-4)
    assert facts.truth == int(row["joined"])
    assert facts.name == f"{row['one']} and {row['other']}"


def test_every_link_of_the_list_is_in_the_part_of_the_split_it_was_trained_or_tested_in():
    table, card = services.links("les_miserables", "gcn"), find_card("les_miserables", "gcn")
    joined = table.loc[table["joined"]]
    assert joined["part"].value_counts().to_dict() == {part: card.split[part] for part in ("train", "val", "test")}
    listed = services.everything("les_miserables", "gcn")
    parts = {(row.source, row.head): row.part for row in table.itertuples() if row.part}
    both = [(parts[pair], listed.instances.split[i]) for i, pair in enumerate(listed.pairs) if pair in parts]
    assert len(both) > 100
    assert all(here == there for here, there in both)


@pytest.mark.parametrize("layout", ["graph", "embedding"])
def test_a_map_has_every_node_once_in_the_unit_square(layout):
    for colour in services.COLOURS:
        points = services.points("karate", "gcn", layout, colour)
        assert points.ids == tuple(range(services.num_targets("karate", "gcn")))
        assert min(*points.x, *points.y) >= 0
        assert max(*points.x, *points.y) <= 1
        assert max(points.colour_of) < len(points.legend)
        assert bool(points.edges) == (layout == "graph")


def test_a_map_of_a_thousand_points_does_not_read_the_models_card_for_each(alone, monkeypatch):
    reads, really = [], catalogue.find_card
    monkeypatch.setattr(catalogue, "find_card", lambda *args: reads.append(args) or really(*args))
    assert len(services.points("tree_cycles", "gcn", "embedding", "class").ids) > 900
    assert len(reads) < 10


# Files


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_json_comes_back_as_the_same_explanation(request_):
    ours = explanations.optimised(request_).explanation
    back = services.Explanation.from_json(services.as_json(answered(request_)))
    assert back.subgraph() == ours.subgraph()
    assert (back.target, back.config) == (ours.target, ours.config)
    np.testing.assert_array_equal(back.edge_weight, ours.edge_weight)


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_graphml_and_csv_hold_the_subgraph_and_every_weight(request_):
    ours, graph = explanations.optimised(request_).explanation, subjects.graph_of(request_)
    kept = set(ours.subgraph().edges)
    net = nx.parse_graphml(services.as_graphml(answered(request_)), node_type=int)
    assert {tuple(sorted(edge)) for edge in net.edges if net.edges[edge]["kept"]} == kept
    assert {net.nodes[node]["name"] for node in net} == {graph.node_name(node) for node in net}
    table = pd.read_csv(io.StringIO(services.as_csv(answered(request_))))
    assert len(table) == len(ours.edge_weight)
    assert table["weight"].sum() == pytest.approx(ours.edge_score.sum())
    assert table["mask"].sum() == pytest.approx(ours.edge_weight.sum())
    assert table["weight"].is_monotonic_decreasing
    rows = table[table["kept"]]
    assert {tuple(sorted(pair)) for pair in zip(rows["source"], rows["head"], strict=True)} == kept


def test_names_in_files_are_text_and_no_formula(hostile):
    net = nx.parse_graphml(services.as_graphml(answered(hostile)), node_type=int)
    assert {data["name"] for _, data in net.nodes(data=True)} >= {"=1+1", HOSTILE[1], HOSTILE[2], "nul\ufffd tab\ufffd"}
    assert {data["class"] for _, data in net.nodes(data=True)} == set(HOSTILE[1:3])
    table = pd.read_csv(io.StringIO(services.as_csv(answered(hostile))), keep_default_na=False)
    assert not table["source_name"].str.match(r"[=+\-@\t\r]").any()
    assert {"'=1+1", "'@SUM(A1)", HOSTILE[1], HOSTILE[5], ""} <= set(table["source_name"])
