"""Files from anywhere: read in full and used, or refused with a sentence of ours."""

import hashlib
import json
import math

import numpy as np
import pytest
import torch
from archives import CORA_FILES, TU_FILES, TU_SETTINGS, small_archive, tarred, zipped
from bounds import check_error, examples, little_memory, outcome
from hypothesis import given
from hypothesis import strategies as st
from mutations import broken_bytes, broken_json
from safetensors.torch import save
from small_networks import case

import explainer_core as xc
from dashboard.view import model_text
from explainer_core.datasets import cora, tu
from explainer_core.explanation.interactive import to_pyvis
from explainer_core.zoo.compared import MOST_METHODS
from explainer_core.zoo.pretrained import list_cards, load_weights, read_cards
from explainer_core.zoo.shipped import FOLDER

pytestmark = pytest.mark.long
QUICK = xc.ExplainConfig(steps=3, seeds=2)
MODEL, WEIGHTS = "karate_gcn", (FOLDER / "karate_gcn.safetensors").read_bytes()
CARD = (FOLDER / "karate_gcn.json").read_text(encoding="utf-8")


def explanations() -> list[xc.Explanation]:
    """One for each task."""
    found = []
    for task in ("node", "graph", "link"):
        model, data, targets = case(task)
        found.append(xc.explain(model, data, targets[0], QUICK))
    return found


def check_finite(values) -> None:
    assert np.isfinite(np.asarray(values, dtype=float)).all()


def use(explanation: xc.Explanation) -> None:
    """Everything a reader does with an explanation from a file gives finite numbers."""
    subgraph = explanation.subgraph()
    assert len(subgraph.nodes) <= len(set(explanation.nodes.tolist())) + 2
    check_finite(explanation.undirected()[1])
    check_finite(explanation.edge_score)
    check_finite([subgraph.threshold])
    check_finite(explanation.to_pandas()["weight"])
    net = explanation.to_networkx()
    assert set(subgraph.nodes) <= set(net)
    assert len(explanation.top_features()) <= explanation.config.k_f
    to_pyvis(explanation)
    json.loads(explanation.to_json(), parse_constant=pytest.fail)
    assert xc.Explanation.from_json(explanation.to_json()).subgraph() == subgraph


def test_explanations_in_json(share):
    texts = [explanation.to_json() for explanation in explanations()]

    @examples(share(5_000))
    @given(st.one_of(*map(broken_json, texts)))
    def holds(text):
        found, _ = outcome(xc.Explanation.from_json, text)
        if found is not None:
            assert outcome(use, found)[1] is None

    with little_memory():
        holds()


def test_prototypes_in_json(share):
    model, data, targets = case("node")
    made = xc.prototype(model, data, targets=targets, config=QUICK, instances=3)

    @examples(share(5_000))
    @given(broken_json(made.to_json()))
    def holds(text):
        found, _ = outcome(xc.Prototype.from_json, text)
        if found is not None:
            assert outcome(use_prototype, found)[1] is None

    with little_memory():
        holds()


def use_prototype(prototype: xc.Prototype) -> None:
    for each in (prototype, *prototype.clusters):
        for values in (each.agreement, each.mean, each.median, each.presence, [each.quality]):
            check_finite(values)
        each.cut()
        each.top_features()
        assert len(each.to_networkx()) == each.num_roles
        assert all(0 <= member.distance <= 1 for member in each.outliers)
    json.loads(prototype.to_json(), parse_constant=pytest.fail)


def test_cards(share, tmp_path):
    (tmp_path / f"{MODEL}.safetensors").write_bytes(WEIGHTS)
    (tmp_path / "karate_gat.safetensors").write_bytes((FOLDER / "karate_gat.safetensors").read_bytes())
    (tmp_path / "karate_gat.json").write_bytes((FOLDER / "karate_gat.json").read_bytes())

    @examples(share(5_000))
    @given(broken_json(CARD))
    def holds(text):
        (tmp_path / f"{MODEL}.json").write_text(text, encoding="utf-8", errors="replace")
        (cards, broken), _ = outcome(read_cards, tmp_path)
        for error in broken.values():
            check_error(error)
        assert {card.model for card in cards} | {name.removeprefix("karate_") for name in broken} == {"gcn", "gat"}
        assert "gat" in {card.model for card in cards}
        listed, error = outcome(list_cards, "karate", folder=tmp_path)
        assert error is None
        for card in listed:
            assert outcome(describe, card)[1] is None
            outcome(load_weights, card, folder=tmp_path)

    with little_memory():
        holds()


def describe(card: xc.Card) -> None:
    """As the pages do."""
    for text in (model_text.model_title(card), model_text.architecture(card), model_text.how_to_read([card])):
        assert text
    for label, value in (*model_text.accuracies(card), *model_text.training(card)):
        assert label
        assert value
    compared = card.methods_compared
    if compared is not None:
        assert all(math.isfinite(each.score) and 0 <= each.alone <= 1 for each in compared.methods.values())
        assert 1 <= len(compared.methods) <= MOST_METHODS
    assert all(score is None or math.isfinite(score) for score in (card.test_accuracy, card.test_auc))


ODD_TENSORS = st.sampled_from(
    [
        torch.zeros(0),
        torch.full((16, 34), torch.nan),
        torch.full((16,), torch.inf),
        torch.zeros(16, 34, dtype=torch.float64),
        torch.zeros(16, 34, dtype=torch.int8),
        torch.zeros(16, 34, dtype=torch.bool),
        torch.zeros(16, 34, dtype=torch.complex64),
        torch.zeros(16, 34, dtype=torch.bfloat16),
        torch.zeros(34, 16),
        torch.full((16, 34), 3e38),
        torch.zeros(16),
    ]
)


def test_weights_in_safetensors(share, tmp_path):
    """The checksum on the card is that of the broken file: the next line of defence has to hold."""
    (card,), _ = read_cards_of(tmp_path, WEIGHTS)
    known = dict(load_weights(card, folder=tmp_path).state_dict())
    exchanged = st.dictionaries(
        st.sampled_from([*known, "other", "\ud800".encode("utf-8", "replace").decode()]), ODD_TENSORS
    )
    rewritten = exchanged.map(lambda changes: save({name: value.clone() for name, value in (known | changes).items()}))
    # most of the file is weights, any bytes of which are numbers: the header deserves most of the attempts
    head = broken_bytes(WEIGHTS[:600]).map(lambda data: data + WEIGHTS[600:])

    @examples(share(5_000))
    @given(st.one_of(broken_bytes(WEIGHTS), head, head, rewritten))
    def holds(data):
        (cards, _), error = outcome(read_cards_of, tmp_path, data)
        assert error is None
        for each in cards:
            model, _ = outcome(load_weights, each, folder=tmp_path)
            assert model is None or all(torch.isfinite(values).all() for values in model.state_dict().values())

    with little_memory():
        holds()


def read_cards_of(folder, data: bytes):
    (folder / f"{MODEL}.safetensors").write_bytes(data)
    values = json.loads(CARD) | {"sha256": hashlib.sha256(data).hexdigest()}
    (folder / f"{MODEL}.json").write_text(json.dumps(values), encoding="utf-8")
    return read_cards(folder)


def test_archives(share, tmp_path, monkeypatch):
    """Broken as a whole, where checksums catch it; and with broken files inside whose checksums are right."""
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))
    kinds = {
        "SET.zip": (TU_FILES, zipped, lambda archive: tu.read_tu(archive, *TU_SETTINGS[0], **TU_SETTINGS[1])),
        "tiny.tgz": (CORA_FILES, tarred, cora.read_cora),
    }

    @st.composite
    def archives(draw):
        name = draw(st.sampled_from(list(kinds)))
        files, pack, read = kinds[name]
        if draw(st.booleans()):
            return name, files, draw(broken_bytes(pack(files))), read
        broken = draw(st.sampled_from(list(files)))
        files = files | {broken: draw(broken_bytes(files[broken]))}
        return name, files, pack(files), read

    @examples(share(5_000))
    @given(archives())
    def holds(made):
        name, files, packed, read = made
        (tmp_path / name).write_bytes(packed)
        data, _ = outcome(read, small_archive(name, files))
        if data is not None:
            assert torch.isfinite(data.x).all()
            assert len(data.class_names) >= 1

    with little_memory():
        holds()
