"""What a newcomer sees first of each data set: a target worth looking at, and what its size is counted in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstLook:
    """`target` is a node, a graph or a pair of nodes, for the task of the data set's main model."""

    target: int | tuple[int, int]
    unit: str = "nodes"


FIRST_LOOKS = {
    "ba_shapes": FirstLook(414),  # a house has five nodes
    "ba_community": FirstLook(449, "edges"),  # and six edges
    "tree_cycles": FirstLook(721),  # a ring of six nodes
    "tree_grid": FirstLook(614, "edges"),  # a grid of three by three has twelve
    "ba_2motifs": FirstLook(56, "edges"),  # a house
    "karate": FirstLook(19),
    "les_miserables": FirstLook((31, 55)),  # Gavroche and Mme Hucheloup
    "mutagenicity": FirstLook(1262),
    "mutag": FirstLook(57),
    "reddit_binary": FirstLook(1263),
    "cora": FirstLook(1333),
    "molecules": FirstLook(3),  # 4-nitroquinoline 1-oxide
}
FALLBACK = FirstLook(0)


def first_look(dataset: str) -> FirstLook:
    return FIRST_LOOKS.get(dataset, FALLBACK)
