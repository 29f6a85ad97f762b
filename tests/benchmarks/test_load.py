"""The visitors of the load benchmark read a page as a browser does, and its figures of processes are the system's own."""

import asyncio
import json
import mmap
import subprocess
import sys
import time

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import explainer_core as xc
from benchmarks.bad_visits import kill_workers
from benchmarks.crowd import SIZES, Targets, percentile
from benchmarks.figures import Report
from benchmarks.process_tree import Peak, ProcessTree
from benchmarks.streamlit_page import MESSENGER, Page, Reply, rerun
from benchmarks.visitor import Target, Visitor
from dashboard.view.explained import Explained, Size, payload

TRYING = ":gray[:material/hourglass_empty:] Trying 10 other starts …"
STABLE = ":green[:material/casino:] Stable: 10 runs from other starts share 100 % of their edges."


def run(*fragments: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.initialize.session_id = "session"
    message.new_session.page_script_hash = "page"
    message.metadata.run.fragment_ids.extend(fragments)
    return message


def at(*path: int) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path.extend(path)
    return message


def markdown(text: str, *path: int) -> ForwardMsg:
    message = at(*path)
    message.delta.new_element.markdown.body = text
    return message


SIZES_SENT = [[[], [], 0.1, 0.9, 0, "○", "not enough", f"headline {i + 1}", ""] for i in range(3)]


def picture(nodes: list[int], targets: list[int], *path: int, key: str = "why", starts: str = "") -> ForwardMsg:
    message = at(*path)
    component = message.delta.new_element.bidi_component
    component.id, component.component_name = f"$$ID-0-{key}", "graph_view_network"
    explained = {"sizes": SIZES_SENT, "chosen": 2, "starts": starts} if key == "why" else None
    component.json = json.dumps({"key": key, "picture": {"nodes": nodes, "targets": targets}, "explained": explained})
    return message


def number(key: str, value: int, *path: int) -> ForwardMsg:
    message = at(*path)
    box = message.delta.new_element.number_input
    box.id, box.value = f"$$ID-0-{key}", value
    return message


def finished(status=ForwardMsg.FINISHED_SUCCESSFULLY) -> ForwardMsg:
    message = ForwardMsg()
    message.script_finished = status
    return message


def read(*messages: ForwardMsg) -> Page:
    page = Page()
    for message in messages:
        page.read(message)
    return page


def test_a_verdict_comes_with_the_explanation_and_with_no_other_picture():
    page = read(run(), picture([7, 9], [1], 0, 4, key="near"))
    assert not page.has_verdict
    page.read(picture([7, 9], [1], 0, 5))
    assert (page.has_verdict, page.view("why").headline) == (True, "headline 2")


def test_what_is_sent_of_a_size_has_its_headline_where_visitors_read_it():
    size = Size((), (), 0.5, 0.5, True, ("●", "carries it"), "Top, because of this house", "These 5 nodes …")
    sent = payload(
        Explained("t", (size,), None, None, 1, 1, True, "edges", 0.9, "Top", "9 other starts agree.", (), ())
    )
    message = picture([7], [0], 0, 4)
    data = json.loads(message.delta.new_element.bidi_component.json) | {"explained": sent}
    message.delta.new_element.bidi_component.json = json.dumps(data)
    view = read(run(), message).view("why")
    assert (view.headline, view.starts) == ("Top, because of this house", "9 other starts agree.")


def test_other_starts_agree_only_when_the_picture_says_so():
    page = read(run(), picture([7, 9], [1], 0, 4), markdown(TRYING, 0, 5))
    assert not page.has_agreement
    page.read(picture([7, 9], [1], 0, 4, starts="9 other starts agree."))
    assert page.has_agreement


def test_a_page_is_settled_when_the_script_is_done_and_nothing_is_waited_for():
    page = read(run(), picture([7, 9], [1], 0, 4), markdown(TRYING, 0, 5), finished())
    assert not page.is_settled
    page.read(markdown(STABLE, 0, 5))
    assert page.is_settled
    assert not read(run(), finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN)).is_settled


def test_a_new_run_forgets_the_page_and_a_fragments_run_does_not():
    page = read(run(), picture([7, 9], [1], 0, 4), finished())
    page.read(run("fragment"))
    assert (page.runs, page.has_verdict, page.view("why").targets) == (1, True, (9,))
    page.read(run())
    assert (page.runs, page.has_verdict, page.view("why")) == (2, False, None)


def test_a_message_that_is_only_named_is_the_one_sent_before():
    sent = picture([7, 9], [0], 0, 4)
    sent.hash, sent.metadata.cacheable = "known", True
    page = read(run(), sent)
    assert list(rerun(page, url="").rerun_script.cached_message_hashes) == ["known"]
    page.read(run())
    named = at(0, 6)
    named.ref_hash = "known"
    page.read(named)
    assert page.view("why").targets == (7,)
    for _ in range(4):
        page.read(run())
    assert not rerun(page, url="").rerun_script.cached_message_hashes


def test_errors_are_told_from_words():
    message = at(0, 1)
    message.delta.new_element.alert.body = "steps must be 1 to 2000"
    message.delta.new_element.alert.format = message.delta.new_element.alert.WARNING
    page = read(run(), message)
    assert (page.failures, page.words) == ([], "steps must be 1 to 2000")
    message.delta.new_element.alert.format = message.delta.new_element.alert.ERROR
    page.read(message)
    assert [failure.is_crash for failure in page.failures] == [False]
    message.delta.new_element.exception.message = "Oh no"
    page.read(message)
    assert [failure.is_crash for failure in page.failures] == [True]


def test_the_browser_answers_a_messenger_once_and_a_fragment_again_and_again():
    message, page = at(0, 2), read(run())
    component = message.delta.new_element.bidi_component
    component.id, component.component_name, component.json = "id", MESSENGER, '{"key": "k", "token": "1"}'
    assert page.read(message) == [Reply(component="id", event="shown")]
    assert page.read(message) == []
    widget = rerun(page, url="", reply=Reply(component="id", event="shown")).rerun_script.widget_states.widgets[0]
    assert widget.id == "$$STREAMLIT_INTERNAL_KEY_id__events"
    assert json.loads(widget.json_trigger_value) == [{"event": "shown", "value": True}]
    again = ForwardMsg()
    again.auto_rerun.fragment_id, again.auto_rerun.interval = "fragment", 0.5
    [reply] = page.read(again)
    asked = rerun(page, url="", reply=reply).rerun_script
    assert reply.repeats
    assert (asked.fragment_id, asked.is_auto_rerun) == ("fragment", True)


@pytest.mark.parametrize(
    ("target", "is_its"),
    [
        (Target("karate", "", nodes=(9,)), True),
        (Target("karate", "", nodes=(7,)), False),
        (Target("mutag", "", graph=3), False),
    ],
)
def test_only_the_picture_of_the_target_answers_a_click(target, is_its):
    visitor = Visitor("http://localhost")
    for message in (run(), number("graph", 3, 1, 0), picture([7, 9], [1], 0, 4)):
        visitor.page.read(message)
    assert visitor._is_answered(target, 1) == is_its
    assert not visitor._is_answered(target, 2)


def test_the_picture_of_a_whole_graph_is_known_by_the_number_box():
    visitor = Visitor("http://localhost")
    for message in (run(), number("graph", 3, 1, 0), picture([7, 9], [], 0, 4)):
        visitor.page.read(message)
    assert visitor._is_answered(Target("mutag", "", graph=3), 1)
    assert not visitor._is_answered(Target("mutag", "", graph=4), 1)


def test_targets_are_fresh_and_data_sets_mixed():
    targets = Targets({"karate": ("node", 34), "mutag": ("graph", 188), "les_miserables": ("link", 5)})
    drawn = [targets.draw() for _ in range(300)]
    assert len({target.query for target in drawn}) == 300
    assert [sum(target.dataset == name for target in drawn) for name in targets.sizes] == [100, 100, 100]
    assert {"&seed=1" in target.query for target in drawn if target.dataset == "mutag"} == {False}
    assert all(target.nodes[0] != target.nodes[1] for target in drawn if target.dataset == "les_miserables")


@pytest.mark.parametrize("name", [name for name, info in xc.DATASETS.items() if info.archive is None])
def test_the_sizes_of_data_sets_are_theirs(name):
    data = xc.load_dataset(name)
    assert SIZES[name] == (len(data) if isinstance(data, xc.GraphSet) else data.num_nodes)


def test_every_data_set_has_a_size():
    assert set(SIZES) == set(xc.DATASETS)


def test_a_percentile_is_one_of_the_waits_in_order():
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([], 95) != percentile([], 95)  # not a number


def test_what_could_not_be_measured_falls_short_and_is_null_in_json(tmp_path):
    report = Report()
    report.add("no workers", float("nan"), "", 0, "lower")
    report.write(tmp_path / "figures.json")
    [figure] = json.loads((tmp_path / "figures.json").read_text(), parse_constant=pytest.fail)["figures"]
    assert (figure["value"], figure["holds"]) == (None, False)


BUSY = (
    "import time; end = time.monotonic() + 1.0\nwhile time.monotonic() < end: pass\nprint('done', flush=True); input()"
)
PARENT = f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {BUSY!r}]); child.wait(); input()"


def test_the_work_of_children_counts_also_when_they_have_ended():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        tree = ProcessTree(parent.pid)
        assert parent.stdout.readline() == b"done\n"
        assert len(tree.processes()) == 2
        assert asyncio.run(tree.until_idle(20)) is not None
        worked = tree.cpu()
        assert worked > 0.02
        parent.stdin.write(b"\n")
        parent.stdin.flush()
        while len(tree.processes()) > 1:
            time.sleep(0.02)
        assert tree.cpu() >= worked
        parent.communicate(b"\n")


def test_one_that_works_is_not_idle():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        assert asyncio.run(ProcessTree(process.pid).until_idle(1.0)) is None
        process.kill()


SPINNING, SLEEPING = "while True: pass", "import time; time.sleep(60)"
PARENT_OF_TWO = f"""import subprocess, sys
for work in ({SPINNING!r}, {SLEEPING!r}):
    print(subprocess.Popen([sys.executable, '-c', work]).pid, flush=True)
input()
"""


def test_the_worker_that_is_killed_is_the_one_that_works():
    async def kill(tree: ProcessTree) -> None:
        killing = asyncio.create_task(kill_workers(tree, every=0.5))
        while len(running := [worker for worker in tree.workers() if worker.status() != "zombie"]) == 2:
            await asyncio.sleep(0.05)
        killing.cancel()
        assert [worker.pid for worker in running] == [sleeping]

    with subprocess.Popen(
        [sys.executable, "-c", PARENT_OF_TWO], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        _, sleeping = (int(parent.stdout.readline()) for _ in range(2))
        tree = ProcessTree(parent.pid)
        workers = tree.workers()
        try:
            asyncio.run(kill(tree))
        finally:
            for worker in workers:
                worker.kill()
            parent.communicate(b"\n")


HOLD = "import sys; kept = bytearray(b'1' * 50_000_000); print('ready', flush=True); input()"


def test_memory_of_one_process_counts_in_full():
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert 50_000_000 < ProcessTree(process.pid).memory() < 120_000_000
        process.communicate(b"\n")


FORKED = f"""import os, mmap
kept = mmap.mmap(-1, 50_000_000); kept[:] = b'1' * 50_000_000
if os.fork() == 0:
    assert kept[{mmap.PAGESIZE}] and sum(kept[::{mmap.PAGESIZE}]); print('ready', flush=True); input(); os._exit(0)
os.wait()
"""


def test_memory_that_processes_share_counts_once():
    with subprocess.Popen([sys.executable, "-c", FORKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        tree = ProcessTree(process.pid)
        assert len(tree.processes()) == 2
        assert 50_000_000 < tree.memory() < 100_000_000
        process.communicate(b"\n")


def test_a_peak_is_kept():
    class Rising:
        sizes = iter([10, 30, *[20] * 1000])

        def memory(self) -> int:
            return next(self.sizes)

    async def watch() -> Peak:
        async with Peak(Rising(), every=0.01) as peak:
            await asyncio.sleep(0.2)
        return peak

    peak = asyncio.run(watch())
    assert (peak.growth, peak.most, peak.last) == (20, 30, 20)
