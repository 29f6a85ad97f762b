"""What must not spoil a class: workers that die, visitors who leave in the middle of a run, and requests that ask for too much."""

import asyncio
import contextlib
import itertools
import time
from dataclasses import dataclass
from functools import partial

import psutil
from websockets.exceptions import WebSocketException

import explainer_core as xc
from benchmarks import figures
from benchmarks.crowd import Clicks, Crowd, Targets, percentile
from benchmarks.load_plan import Plan
from benchmarks.load_server import REST, Server, started, warm
from benchmarks.process_tree import Peak, ProcessTree
from benchmarks.visitor import PICTURE, PROTOTYPE, NoPicture, Visitor

GB = 2**30
NAN = float("nan")
MOST = "steps=2000&seeds=50&max_edges=10000000&k_m=50&k_f=50"
JOINT = f"{MOST}&features=joint&feature_mask=per_node"
MEMBERS = f"{MOST}&instances=200"
PROTOTYPES = "prototypes"  # the page's name in the address
# What is asked of the largest target of a data set: the page, the data set, the settings.
WORST = (
    ("", "ba_community", JOINT),
    ("", "reddit_binary", MOST),
    ("", "reddit_binary", f"{JOINT}&shown=mask"),
    ("", "reddit_binary", f"methods={','.join(xc.METHODS)}"),
    ("", "ba_community", f"{JOINT}&shown=mask"),
    ("", "cora", JOINT),
    ("", "cora", f"{JOINT}&shown=mask&everything=True"),
    (PROTOTYPES, "ba_community", MEMBERS),
    (PROTOTYPES, "reddit_binary", MEMBERS),
)
# A visitor leaves in the middle of each. Of several, from the longest on, the first that is not refused and goes on for a while.
HUB = "dataset=ba_community&node=0"
LEARNING = tuple(
    f"{HUB}&shown=mask&steps={steps}&seeds={seeds}" for steps, seeds in ((2000, 50), (2000, 1), (1000, 1), (500, 1))
)
SEARCHING = (f"{HUB}&steps=1&k_m=50&k_m_unit=edges", f"{HUB}&steps=1")
UNDER_WAY = 2.0  # seconds after which a run is taken for a long one
SEARCH_UNDER_WAY = 0.25  # the mask is there by then, and the network is asked about proposals


async def measure_killed(report: figures.Report, server: Server, targets: Targets, plan: Plan) -> None:
    """The same crowd twice, the second time with a worker killed again and again."""
    who = f"{plan.killed_visitors} visitors"
    names = (f"{who}, a worker killed every {plan.kill_every:g} s: lost answers and errors", f"{who}: 95 %, the same")
    before = await Crowd(server.url, targets, plan.killed_visitors, plan.thinking).work(plan.killing)
    report.add(f"{who}, no worker killed: lost answers and errors", len(before.problems), f"of {before.count}")
    report.add(f"{who}: 95 %, no worker killed", percentile(before.waits, 95), "s")
    if not server.tree.workers():
        print("    the server has no workers that could be killed")
        report.add(names[0], NAN, "", 0, "lower")
        return
    count = len(server.tree.workers())
    killing = asyncio.create_task(kill_workers(server.tree, plan.kill_every))
    clicks = await Crowd(server.url, targets, plan.killed_visitors, plan.thinking).work(plan.killing)
    killing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await killing
    add_errors(report, names[0], clicks)
    report.add(names[1], percentile(clicks.waits, 95), "s")
    await server.tree.until_idle(REST)
    report.add("workers afterwards, of those before", len(server.tree.workers()) / count, "", 1)


async def kill_workers(tree: ProcessTree, every: float) -> None:
    """Kills the worker that has worked most since the last time, so that an answer is under way."""
    while True:
        spent = {worker.pid: _cpu(worker) for worker in tree.workers()}
        await asyncio.sleep(every)
        workers = tree.workers()
        if workers:
            busiest = max(workers, key=lambda worker: _cpu(worker) - spent.get(worker.pid, 0.0))
            with contextlib.suppress(psutil.NoSuchProcess):
                busiest.kill()


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system


async def measure_gone(report: figures.Report, server: Server, plan: Plan) -> None:
    """How long the server still works for a visitor whose page is closed, or whose browser is killed."""
    learning, searching = partial(_in_a_run, LEARNING, UNDER_WAY), partial(_in_a_run, SEARCHING, SEARCH_UNDER_WAY)
    for how, begin, leave in (
        ("has closed the page: learning", learning, Visitor.leave),
        ("is killed: learning", learning, Visitor.vanish),
        ("is killed: asking the network", searching, Visitor.vanish),
        ("is killed: trying other starts", _at_the_picture, Visitor.vanish),
    ):
        await server.tree.until_idle(REST)
        visitor, name = await begin(server), f"run ended after its visitor {how}"
        if visitor is None:
            print("    no such run went on for long enough to be left")
            report.add(name, NAN, "s", 1, "lower")
            continue
        await leave(visitor)
        ended = await server.tree.until_idle(plan.gone)
        if ended is None:
            print(f"    it still ran after {plan.gone:g} s, when the wait was given up")
        report.add(name, plan.gone if ended is None else ended, "s", 1, "lower")


async def _in_a_run(queries: tuple[str, ...], under_way: float, server: Server) -> Visitor | None:
    for query in queries:
        visitor = Visitor(server.url)
        await visitor.connect()
        await visitor.ask(_anew(query))
        if not await visitor.until(partial(_has_ended, visitor), under_way):
            return visitor
        await visitor.leave()
    return None


def _has_ended(visitor: Visitor) -> bool:
    return visitor.is_settled or visitor.page.has_verdict or bool(visitor.page.failures)


async def _at_the_picture(server: Server) -> Visitor | None:
    visitor = Visitor(server.url)
    await visitor.connect()
    await visitor.ask(_anew(HUB))
    if await visitor.until(lambda: visitor.page.has_verdict and visitor.page.view(PICTURE) is not None):
        return visitor
    await visitor.leave()
    return None


def _anew(query: str) -> str:
    """With a seed that no cache knows."""
    return f"{query}&seed={time.monotonic_ns() % 2**31}"


@dataclass(frozen=True)
class Outcome:
    """What came of a bad request."""

    word: str  # answered, refused, crashed or unanswered
    seconds: float


async def request(visitor: Visitor, query: str, patience: float) -> Outcome:
    """Until all of the page stands, or says why it does not."""
    page, began = visitor.page, time.perf_counter()
    run = await visitor.ask(query)

    def is_over() -> bool:
        # a page that is done and tells of an error has refused, also where a line still speaks of looking for an answer
        refused = page.finished and bool(page.failures)
        return page.runs >= run and (visitor.is_settled or refused or any(each.is_crash for each in page.failures))

    settled = await visitor.until(is_over, patience)
    seconds = time.perf_counter() - began
    if any(failure.is_crash for failure in page.failures):
        return Outcome("crashed", seconds)
    if not settled:
        return Outcome("unanswered", seconds)
    return Outcome("answered" if page.view(PICTURE) or page.view(PROTOTYPE) else "refused", seconds)


async def measure_worst(report: figures.Report, targets: Targets, plan: Plan) -> None:
    """Each request on a server of its own, over and over with another seed, while others go on clicking."""
    asked = [each for each in WORST if each[1] in targets.sizes][: plan.worst]
    outcomes, growth, without, beside = [], [], Clicks(), Clicks()
    for page, dataset, settings in asked:
        async with started() as server:
            await warm(server, targets)
            crowd = Crowd(server.url, targets, plan.others, plan.thinking, clicks=without)
            await crowd.work(plan.beside)
            await server.tree.until_idle(REST)
            query = f"dataset={dataset}&{_largest(dataset)}&{settings}"
            async with Peak(server.tree) as peak:
                crowd = Crowd(server.url, targets, plan.others, plan.thinking, clicks=beside)
                _, found = await asyncio.gather(crowd.work(plan.beside), _insist(server, page, query, plan))
        outcomes += found
        growth.append(peak.growth)
        worst = max(found, key=lambda outcome: outcome.seconds)
        print(f"    {page or 'explain'} {query[:110]}: {worst.word}, {worst.seconds:.1f} s, {peak.growth / GB:.2f} GB")
    lost = [outcome for outcome in outcomes if outcome.word in ("crashed", "unanswered")]
    name = f"worst of {len(asked)} requests through the address"
    report.add(f"{name}: answered or refused after", max(each.seconds for each in outcomes), "s", 30, "lower")
    report.add(f"{name}: neither answered nor refused", len(lost), f"of {len(outcomes)}", 0, "lower")
    report.add(f"{name}: growth of memory, others' included", max(growth) / GB, "GB", 1, "lower")
    usual, slowed = percentile(without.waits, 95), percentile(beside.waits, 95)
    report.add(f"{plan.others} others: 95 % without it", usual, "s")
    report.add(f"{plan.others} others: 95 % meanwhile", slowed, "s")
    report.add(f"{plan.others} others: 95 % meanwhile, against without", slowed / usual, "times", 2, "lower")
    add_errors(report, f"{plan.others} others: errors meanwhile", beside)


async def _insist(server: Server, page: str, query: str, plan: Plan) -> list[Outcome]:
    """Asks again as soon as there is an answer, each time for a run that no cache knows."""
    found, end = [], time.monotonic() + plan.beside
    try:
        async with Visitor(server.url, page) as visitor:
            for seed in itertools.count(1):
                found.append(await request(visitor, f"{query}&seed={seed}", plan.patience))
                await asyncio.sleep(1.0)
                if time.monotonic() > end:
                    break
    except (NoPicture, OSError, WebSocketException):
        found.append(Outcome("crashed", 0.0))
    return found


def _largest(dataset: str) -> str:
    """The graph with most edges, or the node with most neighbours, as a query parameter."""
    data = xc.load_dataset(dataset)
    if isinstance(data, xc.GraphSet):
        return f"graph={max(range(len(data)), key=lambda i: data[i].num_edges)}"
    return f"node={data.edge_index.flatten().bincount().argmax().item()}"


def add_errors(report: figures.Report, name: str, clicks: Clicks) -> None:
    """How many clicks went wrong, and a few of them in words."""
    report.add(name, len(clicks.problems), f"of {clicks.count}", 0, "lower")
    for problem in clicks.problems[:3]:
        print(f"    {problem[:200]}")
