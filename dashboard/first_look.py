"""What a newcomer sees first of each data set: a target worth looking at, and a K_M that suits it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstLook:
    """`place` is a node, a graph or a pair of nodes, for the task of the data set's main model."""

    place: int | tuple[int, int]
    k_m: int
    unit: str = "nodes"


FIRST_LOOKS = {
    "ba_shapes": FirstLook(414, 5),  # a house has five nodes
    "ba_community": FirstLook(449, 6, "edges"),  # and six edges
    "tree_cycles": FirstLook(721, 6),  # a ring of six nodes
    "tree_grid": FirstLook(614, 12, "edges"),  # a grid of three by three has twelve
    "ba_2motifs": FirstLook(56, 6, "edges"),  # a house
    "karate": FirstLook(19, 3),
    "les_miserables": FirstLook((31, 55), 8),  # Gavroche and Mme Hucheloup
    "mutagenicity": FirstLook(1262, 6),
    "mutag": FirstLook(12, 12),
    "reddit_binary": FirstLook(1665, 12),
    "cora": FirstLook(1333, 8),
    "molecules": FirstLook(3, 6),  # 4-nitroquinoline 1-oxide
}
FALLBACK = FirstLook(0, 6)


def first_look(dataset: str) -> FirstLook:
    return FIRST_LOOKS.get(dataset, FALLBACK)
