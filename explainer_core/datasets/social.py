"""Two small social networks that networkx carries, with the names of their people."""

import networkx as nx
import torch

from explainer_core.graph import Graph, undirected

# The club's teacher and its officer go by these names in Zachary's study; the other members by number.
KARATE_LEADERS = {0: "Mr. Hi", 33: "Officer"}


def karate() -> Graph:
    """Zachary's karate club: 34 members, 78 friendships, two clubs after the split."""
    net = nx.karate_club_graph()
    clubs = ("Mr. Hi", "Officer")
    names = [KARATE_LEADERS.get(member, f"member {member + 1}") for member in net]
    labels = torch.tensor([clubs.index(net.nodes[member]["club"]) for member in net])
    return _people("Karate club", net.edges, names, labels, clubs)


def les_miserables() -> Graph:
    """77 characters of Les Misérables, joined where two appear in one chapter: 254 pairs."""
    net = nx.les_miserables_graph()
    names = sorted(net)  # networkx hands the characters out in the order of the file
    number = {name: i for i, name in enumerate(names)}
    return _people("Les Misérables", [(number[a], number[b]) for a, b in net.edges], names)


def _people(name: str, pairs, names: list[str], labels=None, classes=()) -> Graph:
    """People have no features but who they are: one indicator each, so a kept feature reads as a kept person."""
    return Graph(
        x=torch.eye(len(names)),
        edge_index=undirected(pairs),
        name=name,
        labels=labels,
        node_names=tuple(names),
        class_names=classes,
        feature_names=tuple(names),
    )
