"""What a newcomer sees first of each data set: a target and a class worth looking at, and what sizes are counted in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FirstLook:
    """`target` is a node, a graph or a pair of nodes, for the task of the data set's main model.

    `label` is the class people ask about: mutagens, the first one that lies in a planted motif, pairs that are joined.
    """

    target: int | tuple[int, int]
    unit: str = "nodes"
    label: int = 0
    instances: int = 10  # members of a prototype beside its reference


MOLECULES = 30  # fragments are counted, and a share of eleven is a coarse one


FIRST_LOOKS = {
    "ba_shapes": FirstLook(414, label=1),  # a house has five nodes
    "ba_community": FirstLook(449, "edges", label=1),  # and six edges
    "tree_cycles": FirstLook(721, label=1),  # a ring of six nodes
    "tree_grid": FirstLook(614, "edges", label=1),  # a grid of three by three has twelve
    "ba_2motifs": FirstLook(56, "edges"),  # a house
    "karate": FirstLook(19),
    "les_miserables": FirstLook((31, 55), label=1),  # Gavroche and Mme Hucheloup
    "mutagenicity": FirstLook(1262, instances=MOLECULES),
    "mutag": FirstLook(57, label=1, instances=MOLECULES),
    "reddit_binary": FirstLook(1263),
    "cora": FirstLook(1333),
    "molecules": FirstLook(3, instances=MOLECULES),  # 4-nitroquinoline 1-oxide
}
FALLBACK = FirstLook(0)


def first_look(dataset: str) -> FirstLook:
    return FIRST_LOOKS.get(dataset, FALLBACK)
