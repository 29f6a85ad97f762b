"""What a run will take, estimated before it begins: a request that cannot fit is refused with what would fit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard import jobs
from dashboard.jobs import RunRefused
from dashboard.limits import MB, Limits
from dashboard.schema import Request
from dashboard.tasks import ClassRequest
from dashboard.tasks.subjects import computation_graph, network, subject
from explainer_core import METHODS, Model
from explainer_core.models.protocol import offered

# Of one value of one node or directed edge in one layer, fitted to runs of 1 to 50 seeds on the largest graphs that ship.
SECONDS = 1.5e-8  # of one step
BYTES = 36  # most on the largest graph of Reddit threads, and on Cora with a mask for the words of each node
INPUT = 0.25  # of a value is what an input feature costs that no mask is optimised for
ALWAYS_MB = 80  # whatever is asked
LAYERS = 3  # of a network that looks at everything
SEARCH = 30  # steps that a search costs as much as, however many seeds there are
LONG = 2.0  # seconds; longer runs do not keep others waiting
SAMPLED = 8  # members whose cost stands for that of a class
ALIGNED = 0.1  # seconds that a member costs beside its mask and its search


@dataclass(frozen=True)
class Cost:
    seconds: float
    megabytes: float


def cost_of(request: Request) -> Cost:
    values, config = _values(request), request.config
    seconds = values * (config.steps * config.seeds + _search(request)) * SECONDS
    return Cost(seconds, ALWAYS_MB + values * config.seeds * BYTES / MB)


def _search(request: Request) -> int:
    return SEARCH if METHODS[request.method].verifies else 0


def _values(request: Request) -> int:
    """How many numbers one pass works out: each layer looks one hop less far than the one before it. The features of the
    nodes come to it; a mask for them is optimised as the numbers of a layer are worked out."""
    found, (width, layers) = computation_graph(request), _shape(network(request.dataset, request.model))
    node_hop = np.zeros(int(found.nodes.max(initial=0)) + 1, dtype=int)
    node_hop[found.nodes] = found.hop
    hops = np.concatenate([found.hop, node_hop[found.edge_index[1]]])  # of nodes, and of the nodes that edges lead to
    inputs = len(found.nodes) * subject(request)[0].num_features
    masked = request.config.features == "joint"
    in_layers = width * sum(int((hops <= layers - layer).sum()) for layer in range(1, layers + 1))
    return in_layers + int(inputs * (1 if masked else INPUT))


def _shape(model: Model) -> tuple[int, int]:
    """How many numbers a node has in a layer, and how many layers there are: of a network of one's own about so."""
    spec = getattr(model, "spec", None)
    if spec is not None:
        return spec.hidden, spec.num_layers
    parameters = offered(model, "parameters")
    widths = [min(each.shape) for each in (parameters() if parameters else ()) if each.ndim == 2]
    return max(widths, default=1), model.hops or LAYERS


def takes_long(request: Request) -> bool:
    return cost_of(request).seconds > LONG


def fits(request: Request) -> bool:
    """False for a run that would be ended anyway. In a process of one's own there is no limit."""
    limits = jobs.limits()
    return limits is None or _fits(cost_of(request), limits)


def check_run(request: Request) -> None:
    """Raises RunRefused for a run that does not fit."""
    limits = jobs.limits()
    if limits is None or fits(request):
        return
    raise _refused(request, cost_of(request), "on this graph", _what_fits(request, limits.run_seconds, limits), limits)


def check_class(request: ClassRequest, targets: Sequence[int | tuple[int, int]]) -> None:
    """Raises RunRefused where so many members of a class, which are drawn from these targets, do not fit."""
    limits = jobs.limits()
    if limits is None:
        return
    drawn = np.random.default_rng(0).permutation(len(targets))[:SAMPLED].tolist()
    members = [request.one(targets[i]) for i in drawn]
    costs = [cost_of(member) for member in members]
    each, most = float(np.mean([cost.seconds for cost in costs])) + ALIGNED, max(cost.megabytes for cost in costs)
    count = min(request.instances + 1, len(targets))  # the reference is one more
    if _fits(Cost(each * count, most), limits):
        return
    fitting = int(limits.run_seconds / each) - 1 if most <= limits.run_memory else 0
    what = f"{fitting:,} members beside the reference would fit"
    if fitting < 1:  # there are two at least
        dearest = members[int(np.argmax([cost.seconds for cost in costs]))]
        what = _what_fits(dearest, limits.run_seconds / 2 - ALIGNED, limits)
        what = f"with 1 member beside the reference {what}"
    raise _refused(members[0], Cost(each * count, most), f"for each of {count:,} members", what, limits)


def _refused(request: Request, cost: Cost, of_what: str, what_fits: str, limits: Limits) -> RunRefused:
    seconds, memory = f"{limits.run_seconds} seconds", f"{limits.run_memory:,} MB"
    return RunRefused(
        f"a run may take {seconds} and {memory} (about {cost.seconds:,.0f} seconds and {cost.megabytes:,.0f} MB for "
        f"steps {request.config.steps:,} and seeds {request.config.seeds} {of_what}); {what_fits}"
    )


def _fits(cost: Cost, limits: Limits) -> bool:
    return cost.seconds <= limits.run_seconds and cost.megabytes <= limits.run_memory


def _what_fits(request: Request, seconds: float, limits: Limits) -> str:
    """The most seeds that fit into these seconds with as many steps, or else the most steps with one seed."""
    config, values = request.config, _values(request)
    steps = seconds / (values * SECONDS) - _search(request)  # of all seeds together
    by_memory = (limits.run_memory - ALWAYS_MB) * MB / (values * BYTES)
    seeds = int(min(steps / config.steps, by_memory))
    if seeds >= 1:
        return f"seeds {min(seeds, config.seeds)} would fit"
    return f"steps {int(steps):,} and seeds 1 would fit" if steps >= 1 and by_memory >= 1 else "choose fewer edges"
