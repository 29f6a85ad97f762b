"""Small files of each format, made here: what a newcomer sends first, and what shows how a file has to look."""

import csv
import io
import json
import random

import networkx as nx

from explainer_core.datasets.molecules import COMPOUNDS
from explainer_core.files.text import SentFile

CLUBS = ("chess", "choir", "rowing")
INTERESTS = ("games", "music", "water")
PER_CLUB = 30
FRIENDS = 2  # that each names in their own club
SEED = 7
UNDECIDED = 5  # people whose club nobody knows


def example_files(format: str) -> tuple[SentFile, ...]:
    """Ninety people of three clubs who know each other, or well-known compounds and whether they are mutagens."""
    if format == "smiles":
        return (_table("molecules.csv", ("smiles", "label", "name"), _compounds()),)
    net = club_network()
    if format == "csv":
        people = [(person, *net.nodes[person].values()) for person in net]
        fields = ("id", *next(iter(net.nodes.values())))
        return _table("edges.csv", ("source", "target"), net.edges), _table("nodes.csv", fields, people)
    if format == "graphml":
        return (SentFile("clubs.graphml", "\n".join(nx.generate_graphml(net)).encode()),)
    data = nx.node_link_data(net, edges="links")
    return (SentFile("clubs.json", json.dumps(data, indent=1).encode()),)


def club_network() -> nx.Graph:
    """A person's interest is that of their club in about two of three cases; their friends' interests tell the rest."""
    chance, net = random.Random(SEED), nx.Graph()
    for i in range(len(CLUBS) * PER_CLUB):
        club = i // PER_CLUB
        interest = INTERESTS[club] if chance.random() < 0.5 else chance.choice(INTERESTS)
        net.add_node(f"p{i + 1:02d}", label=CLUBS[club], age=chance.randint(18, 60), interest=interest)
    people = list(net)
    for i, person in enumerate(people):
        club = people[i // PER_CLUB * PER_CLUB :][:PER_CLUB]
        others = [*chance.sample(club, FRIENDS), *chance.sample(people, chance.randint(0, 1))]
        net.add_edges_from((person, other) for other in others if other != person)
    for person in chance.sample(people, UNDECIDED):
        net.nodes[person]["label"] = ""
    return net


def _compounds() -> list[tuple[str, str, str]]:
    return [(each.smiles, "mutagen" if each.mutagen else "nonmutagen", each.name) for each in COMPOUNDS]


def _table(name: str, heading, rows) -> SentFile:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return SentFile(name, text.getvalue().encode())
