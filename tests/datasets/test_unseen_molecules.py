"""Which of the well-known molecules the Mutagenicity data contain, checked against the data."""

import networkx as nx
import pytest

from explainer_core.datasets import tu
from explainer_core.datasets.download import is_available
from explainer_core.datasets.molecules import COMPOUNDS, NOT_IN_MUTAGENICITY, molecules


def fingerprint(graph) -> str:
    """The same for two molecules with the same atoms joined in the same way, whatever the order."""
    net = graph.to_networkx()
    for node in net:
        net.nodes[node]["atom"] = graph.node_name(node)
    return nx.weisfeiler_lehman_graph_hash(net, node_attr="atom", iterations=6)


def test_the_names_are_among_the_compounds():
    assert {compound.name for compound in COMPOUNDS} >= NOT_IN_MUTAGENICITY


@pytest.mark.skipif(not is_available(tu.MUTAGENICITY), reason="the Mutagenicity data is not on this machine")
def test_the_unseen_molecules_are_not_in_the_data():
    data = molecules()
    sizes = {graph.num_nodes for graph in data}
    known = {fingerprint(graph) for graph in tu.mutagenicity() if graph.num_nodes in sizes}
    unseen = {graph.name for graph in data if fingerprint(graph) not in known}
    assert unseen == NOT_IN_MUTAGENICITY
