"""Prototypes kept on disk: what is read is what was made, and nothing odd, stale or broken is ever believed."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

import explainer_core as xc
from explainer_core.prototypes.joining import compare
from explainer_core.prototypes.stored import StoredError, read_prototypes, save_prototypes, stored_file
from explainer_core.zoo.pretrained import find_card

CONFIG = xc.ExplainConfig(steps=20)
INSTANCES = 5


@pytest.fixture(scope="module", params=["karate", "molecules"])
def made(request):
    data, model = xc.load_dataset(request.param), xc.load_pretrained(request.param)
    prototypes = {label: xc.prototype(model, data, label, instances=INSTANCES, config=CONFIG) for label in (0, 1)}
    return find_card(request.param), data, prototypes


@pytest.fixture
def folder(made, tmp_path):
    card, _, prototypes = made
    save_prototypes(prototypes, card, INSTANCES, CONFIG, tmp_path)
    return tmp_path


def change(card, folder, edit) -> None:
    path = stored_file(card, folder)
    values = json.loads(gzip.decompress(path.read_bytes()))
    edit(values)
    path.write_bytes(gzip.compress(json.dumps(values).encode()))


def first_explanation(values: dict) -> dict:
    return values["prototypes"]["0"]["explanations"][0]


def test_what_is_read_is_what_was_made(made, folder):
    card, data, prototypes = made
    read = read_prototypes(card, data, INSTANCES, CONFIG, folder)
    assert set(read) == set(prototypes)
    for label, before in prototypes.items():
        after = read[label]
        assert np.array_equal(after.agreement, before.agreement)
        assert np.allclose(after.mean, before.mean, atol=1e-4)
        assert after.cut().edges == before.cut().edges
        assert after.reference == before.reference
        assert (after.cost, after.random_cost, after.share) == (before.cost, before.random_cost, before.share)
        assert len(after.clusters) == len(before.clusters)
        for one, other in zip(after.members, before.members, strict=True):
            fields = ("target", "nodes", "edges", "unaligned", "missing", "extra", "distance")
            assert all(getattr(one, name) == getattr(other, name) for name in fields)
            assert one.explanation.subgraph().edges == other.explanation.subgraph().edges
        if before.features is not None:
            assert np.array_equal(after.features, before.features)
            assert np.array_equal(after.feature_scale, before.feature_scale)
        assert after.top_features(3) == before.top_features(3)


def test_another_explanation_lies_beside_it_as_beside_the_one_that_was_made(made, folder):
    card, data, prototypes = made
    read = read_prototypes(card, data, INSTANCES, CONFIG, folder)
    for explanation in (member.explanation for member in prototypes[0].members):
        one, other = (compare(each[0], explanation, data) for each in (read, prototypes))
        assert one.distance == other.distance


def test_the_same_prototypes_give_the_same_bytes_and_no_features_of_the_data(made, folder, tmp_path):
    card, _, prototypes = made
    before = stored_file(card, folder).read_bytes()
    save_prototypes(prototypes, card, INSTANCES, CONFIG, tmp_path)
    assert stored_file(card, tmp_path).read_bytes() == before
    for one in json.loads(gzip.decompress(before))["prototypes"].values():
        assert one["prototype"]["features"] is one["prototype"]["feature_scale"] is None
        assert not any(isinstance(value, str) and value.count("=") for value in one["prototype"].values())


def test_prototypes_of_other_weights_or_another_request_are_not_shown(made, folder):
    card, data, _ = made
    assert read_prototypes(replace(card, sha256="0" * 64), data, INSTANCES, CONFIG, folder) == {}
    assert read_prototypes(card, data, INSTANCES + 1, CONFIG, folder) == {}
    assert read_prototypes(card, data, INSTANCES, replace(CONFIG, seed=1), folder) == {}
    assert read_prototypes(card, data, INSTANCES, CONFIG, folder / "nowhere") == {}


def swap_edge(values):
    ends = first_explanation(values)["edge_index"]
    ends[0][0], ends[1][0] = ends[1][0], ends[0][0]


TAMPERED = {
    "edges that are not the data's": swap_edge,
    "an edge that is not there": lambda v: first_explanation(v)["edge_ids"].__setitem__(0, 10**9),
    "a negative node": lambda v: v["prototypes"]["0"]["prototype"]["members"][0]["nodes"].__setitem__(0, -1),
    "a member twice": lambda v: v["prototypes"]["0"]["prototype"]["members"].append(
        v["prototypes"]["0"]["prototype"]["members"][0]
    ),
    "another class": lambda v: v["prototypes"].update({"1": v["prototypes"]["0"]}),
    "no prototypes": lambda v: v.pop("prototypes"),
    "a list": lambda v: v.update(prototypes=[1]),
    "a label that is no number": lambda v: v["prototypes"].update({"x": v["prototypes"]["0"]}),
    "an unknown setting": lambda v: first_explanation(v)["config"].update(evil=1),
    "not a number": lambda v: first_explanation(v).update(edge_weight=["x"] * len(first_explanation(v)["edge_weight"])),
}


@pytest.mark.parametrize("edit", TAMPERED.values(), ids=TAMPERED)
def test_a_file_that_was_tampered_with_is_refused(made, folder, edit):
    card, data, _ = made
    change(card, folder, edit)
    with pytest.raises(StoredError, match=r"prototypes\.json\.gz must hold .*; restore it, or run:"):
        read_prototypes(card, data, INSTANCES, CONFIG, folder)


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"[]"), gzip.compress(b'{"key": "x'), gzip.compress(b"\xff"), gzip.compress(b"[" * 10**5)],
    ids=["empty", "not packed", "a list", "half", "no text", "deep"],
)  # fmt: skip
def test_a_broken_file_is_refused(made, folder, content):
    card, data, _ = made
    stored_file(card, folder).write_bytes(content)
    with pytest.raises(StoredError):
        read_prototypes(card, data, INSTANCES, CONFIG, folder)


def test_a_file_cut_short_is_refused(made, folder):
    card, data, _ = made
    path = stored_file(card, folder)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(StoredError):
        read_prototypes(card, data, INSTANCES, CONFIG, folder)


def test_a_file_that_unpacks_to_a_flood_is_not_read_to_its_end(made, folder):
    card, data, _ = made
    stored_file(card, folder).write_bytes(gzip.compress(b" " * 10**9, compresslevel=1)[:1_900_000])
    with pytest.raises(StoredError, match="unpack to at most"):
        read_prototypes(card, data, INSTANCES, CONFIG, folder)
