"""The search for the part that a prediction rests on: proposals are grown, shrunk and exchanged by asking the model.

A part is a set of edges that hang together around the target. A whole graph has no target, and two groups that only
together make the class may lie far apart: there a part may be several pieces, where a piece more is worth it. A part is as good as its sufficiency plus its necessity: how much of the
probability it gives alone, and how much is lost without it. For every size the best part known is kept. Every proposal
gives one part of each size; from the best of each size others are made by one move, and the model is asked about all of
them in one batch, until no size gets better.
"""

from bisect import insort
from collections.abc import Generator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np

from explainer_core.explanation.extraction import nested_order
from explainer_core.explanation.moves import SMALL, Moves
from explainer_core.explanation.result import Explanation
from explainer_core.explanation.search_state import Answer, Asked, Part, Question, considered_pairs, keys_of
from explainer_core.explanation.verdict import Judged

LARGEST = 30  # sizes up to here are searched, and "auto" chooses among them
MOST = 50  # up to here there is a part of every size: the largest K_M that can be asked for
CONSIDERED = 200  # edges that may come in: those that come first in any of the proposals
ROUNDS = 6  # four would cost a thirtieth less, but hubs of BA-Shapes lose parts that carry their prediction
BEAM = 2  # parts of each size that others are made from, and the one that is preferred among equals
BEAM_WHOLE = 4  # of a whole graph: there is no target that all good parts lie around
REMEMBERED = 12  # parts of each size it is chosen from
EQUAL = 0.005  # parts whose scores differ by less are equally good: the one that most proposals speak for is kept
LOSES_CLASS = 0.5  # by so much a part that does not give the class alone must be better in all else
BY_CHANCE = 0.02  # by so much a part must be better that another start might not have found
PIECE = 0.03  # by so much a part of a whole graph must be better for each piece more
PLATEAU = 0.998  # of the best score: larger sizes than the first that reaches it are searched less, or not
ASKED_FOR = 10  # edges; up to here they are searched at all, because people choose them
QUESTION_EDGES = 30_000  # in one round, edges of graphs that the model is asked about without a part


class Search:
    """The search around one target. `run` yields questions and is sent their answers."""

    def __init__(
        self,
        explanation: Explanation,
        proposals: dict[str, np.ndarray],
        asked: Asked,
        *,
        exchanges: bool,
        steady: Sequence[str] = (),
        cost: int = 1,
        sibling: "Search | None" = None,
    ):
        """`sibling` is a search from another start: the proposals that no start decides are taken from it."""
        self.explanation, self.asked, self.exchanges = explanation, asked, exchanges
        self.steady = tuple(name for name in steady if name in proposals) if sibling is None else sibling.steady
        self.in_pieces = explanation.config.connected and not explanation.roots
        self.connected = explanation.config.connected and not self.in_pieces
        ways = (True, False) if self.in_pieces else (self.connected,)
        names = [*(name for name in proposals if name not in self.steady), *self.steady]
        known = {} if sibling is None else {k: order for k, order in sibling.prepared.items() if k[0] in self.steady}
        keys = [(name, connected) for name in names for connected in ways]
        self.prepared = {key: known[key] if key in known else self._order(proposals[key[0]], key[1]) for key in keys}
        self.considered, num_steady = considered_pairs(
            [order for (name, _), order in self.prepared.items() if name in self.steady],
            [order for (name, _), order in self.prepared.items() if name not in self.steady],
            len(explanation.pairs),
            CONSIDERED,
        )
        self.groups = self._groups(num_steady)
        self.hops = explanation.pair_hops[self.considered]
        roots = explanation.roots
        pairs = explanation.pairs[self.considered]
        self.moves = Moves(pairs, roots, connected=self.connected, in_pieces=self.in_pieces)
        self.num_steady = num_steady or len(pairs)  # the first of the considered edges, the same from every start
        self.phase, self.ranks = 0, []
        self.known: dict[bytes, Part] = {}
        self.expanded: set[bytes] = set()  # those whose neighbours were asked about
        self.best: dict[int, list[Part]] = {}  # by number of edges, the best first
        self.cost = max(1, cost)  # edges that a question about the rest of the graph comes to

    def _groups(self, num_steady: int) -> list[list[tuple[str, list[int]]]]:
        """The orders of the proposals as positions among the considered edges: first those that no start decides, of which no
        edge is looked at that another start might not consider; then the others."""
        if not len(self.considered):
            return []
        everywhere = {pair: i for i, pair in enumerate(self.considered.tolist())}
        steadily = {pair: i for i, pair in enumerate(self.considered[:num_steady].tolist())}
        groups: tuple[list, list] = [], []
        for (name, _), order in self.prepared.items():
            position = steadily if name in self.steady else everywhere
            groups[name not in self.steady].append((name, [position[pair] for pair in order if pair in position]))
        return [group for group in groups if group]

    def run(self) -> Generator[Question, Answer, tuple[Judged, ...]]:
        """First from the proposals that are the same from every start, then from the others: what these bring must be
        clearly better, or the explanation would change with the start for nothing."""
        yield from self.begin()
        return (yield from self.end())

    def begin(self) -> Generator[Question, Answer, None]:
        """The part of the search that no start decides."""
        if self.groups:
            yield from self._from_proposals(0)

    def end(self) -> Generator[Question, Answer, tuple[Judged, ...]]:
        """The rest, once it has begun."""
        if not self.groups:
            return ()
        for phase in range(1, len(self.groups)):
            yield from self._from_proposals(phase)
        if self.exchanges:
            base = self.best[self._enough()][0]
            self._enter(base.phase)  # what it is grown into depends on the start no more than it does
            yield from self._ask(*self._grown_on(base))
        return self._table()

    def begun(self) -> "Search":
        """What it knows now that it has begun, for searches from other starts: this one goes on."""
        as_begun = copy(self)
        as_begun.explanation = replace(self.explanation, history={}, snapshots=())  # only its settings are looked at
        as_begun.known, as_begun.expanded = dict(self.known), set(self.expanded)
        as_begun.best = {size: list(ranked) for size, ranked in self.best.items()}
        return as_begun

    def begin_as(self, sibling: "Search") -> bool:
        """Takes over what a search from another start has begun, where the beginning of this one is the same."""
        ours, theirs = (search.groups[:1] for search in (self, sibling))
        steady = self.num_steady
        same = ours == theirs and np.array_equal(self.considered[:steady], sibling.considered[: sibling.num_steady])
        if not same or not all(name in self.steady for group in ours for name, _ in group):
            return False
        for group in ours:
            self._rank_edges(0, group)
        if len(self.considered) == len(
            sibling.considered
        ):  # rows mean the same: only those that no start decides are in any
            begun = sibling.begun()
            self.moves.rings, self.known, self.expanded, self.best = (
                sibling.moves.rings,
                begun.known,
                begun.expanded,
                begun.best,
            )
            return True
        self.moves.rings = self._widened(sibling.moves.rings)
        parts = list(sibling.known.values())
        rows = self._widened(np.array([part.row for part in parts], dtype=bool).reshape(len(parts), -1))
        ours_of = {
            part.key: replace(part, row=row, key=key) for part, row, key in zip(parts, rows, keys_of(rows), strict=True)
        }
        self.known = {part.key: part for part in ours_of.values()}
        self.expanded = {ours_of[key].key for key in sibling.expanded}
        self.best = {size: [ours_of[part.key] for part in ranked] for size, ranked in sibling.best.items()}
        return True

    def _widened(self, rows: np.ndarray) -> np.ndarray:
        """Rows of edges that no start decides, over the edges that this search considers."""
        wide = np.zeros((len(rows), len(self.considered)), dtype=bool)
        wide[:, : self.num_steady] = rows[:, : self.num_steady]
        return wide

    def _from_proposals(self, phase: int) -> Generator[Question, Answer, None]:
        orders = self.groups[phase]
        self._rank_edges(phase, orders)
        self._enter(phase)
        rows, origins = self._proposed(orders)
        yield from self._ask(rows, origins, np.zeros(len(rows)))
        if self.exchanges:
            yield from self._improve()

    def _improve(self) -> Generator[Question, Answer, None]:
        for _ in range(ROUNDS):
            bases = [part for part in self._to_improve() if part.key not in self.expanded]
            if not bases:
                return
            self.expanded |= {part.key for part in bases}
            yield from self._ask(*self._moves(bases))

    def _grown_on(self, base: Part) -> tuple[np.ndarray, list[str], np.ndarray]:
        """The smallest part that is nearly as good as any, with one edge more for every larger size: there is nothing to
        gain, but what is larger should not lose what the smaller has."""
        rows = self.moves.grown(base.row, MOST)
        return rows, [base.origin] * len(rows), np.full(len(rows), base.without)

    # What the proposals say

    def _order(self, scores: np.ndarray, connected: bool) -> list[int]:
        """The first edges of a proposal, in the order in which they come in."""
        e = self.explanation
        settings = {"connected": connected, "hop": e.pair_hops, "touching": e.edges_at}
        order = nested_order(e.pairs, scores, e.roots, **settings)
        return [pair for _, pair in zip(range(CONSIDERED), order, strict=False)]

    def _rank_edges(self, phase: int, orders: Sequence[tuple[str, list[int]]]) -> None:
        """How early any of these proposals has an edge, or one before them had it, and how early all of them do."""
        count = len(self.considered)
        ranks = np.full((len(orders), count), float(count))
        for row, (_, order) in zip(ranks, orders, strict=True):
            row[order] = np.arange(len(order))
        self.ranks.append(ranks.min(0) if phase == 0 else np.minimum(self.ranks[0], ranks.min(0)))  # (considered,)
        if phase == 0:
            behind = np.minimum(ranks, self.num_steady).mean(0)
            self.consensus = 1 - behind / max(self.num_steady, 1)  # (considered,)

    def _enter(self, phase: int) -> None:
        """From here on parts are of this phase: at first only edges may come in that no start decides."""
        self.phase = phase
        self.moves.enter(
            self.ranks[phase], np.arange(len(self.considered)) < (len(self.considered) if phase else self.num_steady)
        )

    def _proposed(self, orders: Sequence[tuple[str, list[int]]]) -> tuple[np.ndarray, list[str]]:
        """A part of every size from each proposal; at first also every edge at the target, and rings."""
        rows, origins = [], []
        for name, order in orders:
            size = min(len(order), MOST)
            nested = np.zeros((size, len(self.considered)), dtype=bool)
            nested[:, order[:size]] = np.tri(size, dtype=bool)
            rows.append(nested)
            origins += [name] * size
        if self.exchanges and self.phase == 0:
            rows.append(self.moves.beginnings())
            origins += ["growth"] * len(rows[-1])
        return np.concatenate(rows), origins

    # Asking

    def _ask(self, rows: np.ndarray, origins: Sequence[str], guesses: np.ndarray) -> Generator[Question, Answer, None]:
        """Judges the rows that are new: all alone, and without those that look best as many as can be afforded."""
        fresh: dict[bytes, int] = {}
        for i, key in enumerate(keys_of(rows)):
            if key not in self.known:
                fresh.setdefault(key, i)
        if not fresh:
            return
        numbers = list(fresh.values())
        rows, guesses, origins = rows[numbers], guesses[numbers], [origins[i] for i in numbers]
        affords_all = len(rows) <= self._affordable  # then both sides are one question
        answer = yield self._question(rows, rows if affords_all else rows[:0])
        alone = answer.alone[:, self.asked.label]
        keeps = answer.alone.argmax(1) == self.asked.label
        scores = np.minimum(1.0, alone / max(self.asked.ceiling, 1e-12)) + self.asked.full - guesses
        columns = rows, fresh, rows.sum(1).tolist(), origins, alone.tolist(), keeps.tolist(), scores.tolist()
        parts = [Part(*values, phase=self.phase) for values in zip(*columns, strict=True)]
        self.known |= zip(fresh, parts, strict=True)
        if not affords_all:
            parts = self._contenders(parts)
            rows = np.array([part.row for part in parts])
            answer = yield self._question(rows[:0], rows)
        self._judge(parts, rows, answer.without[:, self.asked.label])

    def _question(self, alone: np.ndarray, without: np.ndarray) -> Question:
        return Question(alone, without, self.considered, len(self.explanation.pairs))

    @property
    def _affordable(self) -> int:
        """How many parts the model can be asked about without in one round."""
        return max(1, QUESTION_EDGES // self.cost)

    def _judge(self, parts: Sequence[Part], rows: np.ndarray, without: np.ndarray) -> None:
        """Scores parts now that the model was asked, and keeps the best of each size; of equals the one that was there first."""
        alone = np.array([part.alone for part in parts])
        scores = np.minimum(1.0, alone / max(self.asked.ceiling, 1e-12)) + self.asked.full - without
        if self.in_pieces:
            scores = scores - PIECE * (self.moves.pieces(rows) - 1)
        scores = np.where([part.keeps_class for part in parts], scores, scores - LOSES_CLASS)
        scores = scores - BY_CHANCE * self.phase
        for part, score, left in zip(parts, scores.tolist(), without.tolist(), strict=True):
            part.score, part.without = score, left
            ranked = self.best.setdefault(part.size, [])
            if len(ranked) < REMEMBERED or score > ranked[-1].score:
                insort(ranked, part, key=_falling)
                del ranked[REMEMBERED:]

    def _contenders(self, parts: Sequence[Part]) -> list[Part]:
        """Those that look best of each size, so that every size has its share of the questions that can be afforded."""
        by_size: dict[int, list[Part]] = {}
        for part in sorted(parts, key=lambda part: -part.score):
            by_size.setdefault(part.size, []).append(part)
        each = max(1, self._affordable // len(by_size))
        return [part for sized in by_size.values() for part in sized[:each]]

    # Moves

    def _to_improve(self) -> list[Part]:
        """The best parts of each size up to the first that is nearly as good as any, and the best of the sizes people ask for."""
        enough, bases = self._enough(), []
        for size in sorted(self.best):
            ranked = self.best[size]
            if size > min(max(enough + 2, ASKED_FOR), LARGEST):
                break
            if size > enough + 2:
                bases += ranked[:1]
            elif size > SMALL:
                bases += ranked[:1] if size % 2 == 0 else []
            else:
                equal = [part for part in ranked if part.score >= ranked[0].score - EQUAL]
                preferred = min(equal, key=self._preference)
                foremost = ranked[: BEAM_WHOLE if self.in_pieces else BEAM]
                bases += foremost if preferred in foremost else [*foremost, preferred]
        return bases

    def _enough(self) -> int:
        """The smallest size whose best part is nearly as good as any."""
        top = max(ranked[0].score for ranked in self.best.values())
        return min(size for size, ranked in self.best.items() if ranked[0].score >= top - (1 - PLATEAU) * abs(top))

    def _moves(self, bases: Sequence[Part]) -> tuple[np.ndarray, list[str], np.ndarray]:
        """All parts one move away from the bases, where each came from, and a guess of the prediction without it."""
        rows, of_base = self.moves.around(np.array([base.row for base in bases]), self._known_scores)
        few = rows.sum(1) <= MOST
        rows, of_base = rows[few], of_base[few]
        guesses = np.array([base.without for base in bases])[of_base]
        return rows, [bases[i].origin for i in of_base.tolist()], guesses

    def _known_scores(self, rows: np.ndarray) -> np.ndarray:
        known = (self.known.get(key) for key in keys_of(rows))
        return np.array([-np.inf if part is None else part.score for part in known])

    # The result

    def _table(self) -> tuple[Judged, ...]:
        """The best part of each number of edges and of each number of nodes.

        Those for numbers of nodes alone come last, those for numbers of edges alone first, so that the first of so
        many edges is the one for them, and the last of so many nodes.
        """
        judged = [part for part in self.known.values() if part.without is not None and part.size <= MOST]
        rows = np.array([part.row for part in judged])
        scores = np.array([part.score for part in judged])
        edges, phases = np.array([part.size for part in judged]), np.array([part.phase for part in judged])
        nodes = self.moves.nodes(rows).sum(1)
        chosen: tuple[set[int], set[int]] = set(), set()
        for of_unit, sizes in zip(chosen, (edges, nodes), strict=True):
            for size in np.unique(sizes):
                some = np.flatnonzero(sizes == size)
                equal = some[scores[some] >= scores[some].max() - EQUAL]
                for first in (phases, nodes, edges):  # what a preference begins with: few are left to work it out for
                    equal = equal[first[equal] == first[equal].min()]
                of_unit.add(min(equal.tolist(), key=lambda i: self._preference(judged[i])))
        by_edges, by_nodes = chosen
        group = {i: (i in by_nodes) - (i in by_edges) for i in by_edges | by_nodes}
        order = sorted(group, key=lambda i: (group[i], -scores[i], self._preference(judged[i])))
        return tuple(self._judged(judged[i]) for i in order)

    def _preference(self, part: Part) -> tuple:
        """Smaller for a part that was found without chance, then for one of fewer nodes, as a ring is, and fewer edges, that
        more proposals speak for, that is nearer to the target, that has smaller numbers."""
        if part.preference is None:
            row = part.row
            nodes = int(self.moves.nodes(row[None]).sum())
            support, hops = round(float(self.consensus[row].sum()), 2), int(self.hops[row].sum())
            part.preference = part.phase, nodes, part.size, -support, hops, tuple(np.flatnonzero(row).tolist())
        return part.preference

    @cached_property
    def _pairs_in_order(self) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """The considered edges as they stand in the explanation: where each is among them, and its ends."""
        order = np.argsort(self.considered)
        return order, [(a, b) for a, b in self.explanation.pairs[self.considered[order]].tolist()]

    def _judged(self, part: Part) -> Judged:
        assert part.without is not None  # others are not in the table
        order, pairs = self._pairs_in_order
        edges = tuple(pairs[i] for i in np.flatnonzero(part.row[order]).tolist())
        return Judged(edges, part.alone, part.without, part.keeps_class, part.origin)


def _falling(part: Part) -> float:
    return -part.score
