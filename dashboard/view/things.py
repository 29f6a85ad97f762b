"""What nodes and edges are called: in a molecule they are atoms and bonds."""

from typing import NamedTuple

from dashboard.view.picture import Picture


class Things(NamedTuple):
    node: str
    edge: str

    def many(self, unit: str) -> str:
        """The word for what K_M counts, "nodes" or "edges"."""
        return f"{self.node if unit == 'nodes' else self.edge}s"


NODES, ATOMS = Things("node", "edge"), Things("atom", "bond")


def things_of(picture: Picture) -> Things:
    return ATOMS if picture.bonds else NODES
