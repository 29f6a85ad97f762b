"""What a newcomer sees first of each data set: a target worth looking at, and a K_M that suits it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstLook:
    """`place` is a node, a graph or a pair of nodes, for the task of the data set's main model."""

    place: int | tuple[int, int]
    k_m: int
    unit: str = "nodes"


FIRST_LOOKS = {
    "ba_shapes": FirstLook(576, 6, "edges"),  # a house has six edges
    "ba_community": FirstLook(1277, 6, "edges"),
    "tree_cycles": FirstLook(853, 6),  # a ring of six nodes
    "tree_grid": FirstLook(614, 12, "edges"),  # a grid of three by three has twelve
    "karate": FirstLook(19, 6),
    "les_miserables": FirstLook((73, 48), 8),  # Valjean and Marguerite
    "mutagenicity": FirstLook(678, 6),
    "mutag": FirstLook(98, 6),
    "reddit_binary": FirstLook(1673, 12),
    "cora": FirstLook(2252, 8),
    "molecules": FirstLook(3, 6),  # 4-nitroquinoline 1-oxide
}
FALLBACK = FirstLook(0, 6)


def first_look(dataset: str) -> FirstLook:
    return FIRST_LOOKS.get(dataset, FALLBACK)
