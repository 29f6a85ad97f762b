"""What a run will take, estimated before it begins: a request that cannot fit is refused with what would fit."""

from dataclasses import dataclass, replace

import numpy as np

from dashboard import jobs
from dashboard.jobs import RunRefused
from dashboard.limits import MB, Limits
from dashboard.schema import Request
from dashboard.tasks.subjects import computation_graph, network, subject
from explainer_core import Model
from explainer_core.models.protocol import offered

# Of one value of one node or directed edge in one layer, fitted to runs of 1 to 50 seeds on the largest graphs that ship.
SECONDS = 1.5e-8  # of one step
BYTES = 36  # most on the largest graph of Reddit threads, and on Cora with a mask for the words of each node
INPUT = 0.25  # of a value is what an input feature costs that no mask is optimised for
ALWAYS_MB = 80  # whatever is asked
LAYERS = 3  # of a network that looks at everything
LONG = 2.0  # seconds; longer runs do not keep others waiting


@dataclass(frozen=True)
class Cost:
    seconds: float
    megabytes: float


def cost_of(request: Request) -> Cost:
    values, config = _values(request) * request.config.seeds, request.config
    return Cost(values * config.steps * SECONDS, ALWAYS_MB + values * BYTES / MB)


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
    config, cost = request.config, cost_of(request)
    seconds, memory = f"{limits.run_seconds} seconds", f"{limits.run_memory:,} MB"
    raise RunRefused(
        f"a run may take {seconds} and {memory} (about {cost.seconds:,.0f} seconds and {cost.megabytes:,.0f} MB for "
        f"steps {config.steps:,} and seeds {config.seeds} on this graph); {_what_fits(request, limits)}"
    )


def _fits(cost: Cost, limits: Limits) -> bool:
    return cost.seconds <= limits.run_seconds and cost.megabytes <= limits.run_memory


def _what_fits(request: Request, limits: Limits) -> str:
    """The most seeds that fit with as many steps, or else the most steps with one seed."""
    config, one = request.config, cost_of(replace(request, config=replace(request.config, seeds=1)))
    by_memory = (limits.run_memory - ALWAYS_MB) / max(one.megabytes - ALWAYS_MB, 1e-9)
    seeds = int(min(limits.run_seconds / max(one.seconds, 1e-9), by_memory))
    if seeds >= 1:
        return f"seeds {min(seeds, config.seeds)} would fit"
    steps = int(limits.run_seconds / (one.seconds / config.steps))
    return f"steps {steps:,} and seeds 1 would fit" if steps >= 1 and by_memory >= 1 else "choose fewer edges"
