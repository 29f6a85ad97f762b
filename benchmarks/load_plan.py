"""How much the load benchmark measures, in full and in its quick version."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """How much is measured; times in seconds."""

    datasets: tuple[str, ...] = ()  # all that are here unless set
    alone: int = 48  # clicks of a single visitor
    crowds: tuple[int, ...] = (10, 25, 50)
    crowd: float = 60.0  # a crowd works for
    clicks: int = 2000  # after which memory is looked at again
    clicks_time: float = 3600.0  # at most for those
    thinking: float = 5.0
    killing: float = 60.0
    kill_every: float = 5.0
    killed_visitors: int = 10
    gone: float = 45.0  # at most, until a run has ended whose visitor is gone
    patience: float = 45.0  # with a bad request
    beside: float = 30.0  # others click beside it
    worst: int | None = None  # requests that are tried, all unless set
    others: int = 5  # visitors beside a bad request


FULL = Plan()
QUICK = Plan(
    datasets=("ba_shapes", "ba_community", "karate", "ba_2motifs"),
    alone=5,
    crowds=(3,),
    crowd=5.0,
    clicks=5,
    clicks_time=5.0,
    thinking=1.0,
    killing=5.0,
    kill_every=2.0,
    killed_visitors=3,
    gone=10.0,
    patience=35.0,
    beside=4.0,
    worst=1,
    others=2,
)
