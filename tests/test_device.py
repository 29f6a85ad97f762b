"""How many threads torch works on while explaining, and after it."""

from threading import Barrier, Thread

import pytest
import torch
from small_networks import network, random_graph

from explainer_core.api import explain, explain_many, explain_steps
from explainer_core.config import ExplainConfig
from explainer_core.device import one_thread
from explainer_core.targets import Node

GRAPH, QUICK = random_graph(20, 30), ExplainConfig(steps=5)


class Watched(torch.nn.Module):
    """A network that notes on how many threads it is run, and may fail after some runs."""

    def __init__(self, most=None):
        super().__init__()
        self.inner, self.threads, self.most = network(), [], most
        self.task, self.num_classes, self.hops = self.inner.task, self.inner.num_classes, self.inner.hops

    def logits(self, batch, edge_weight=None, x=None):
        self.threads.append(torch.get_num_threads())
        if len(self.threads) == self.most:
            raise RuntimeError("that will do")
        return self.inner.logits(batch, edge_weight, x)


@pytest.fixture(autouse=True)
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    "ask", [explain, lambda model, data, target, config: explain_many(model, data, [target], config)]
)
def test_explaining_takes_one_thread_and_gives_the_others_back(ask):
    model = Watched().eval()
    ask(model, GRAPH, Node(4), QUICK)
    assert set(model.threads) == {1}
    assert torch.get_num_threads() == 3


def test_the_others_are_back_after_a_failure():
    with pytest.raises(RuntimeError, match="that will do"):
        explain(Watched(most=3).eval(), GRAPH, Node(4), QUICK)
    assert torch.get_num_threads() == 3


def test_a_caller_that_watches_has_all_threads_between_the_steps_and_after_leaving():
    model, seen = Watched().eval(), []
    for step in explain_steps(model, GRAPH, Node(4), QUICK):
        step.explanation()
        seen.append(torch.get_num_threads())
        if step.number == 3:
            break
    assert seen == [3, 3, 3]
    assert set(model.threads) == {1}
    assert torch.get_num_threads() == 3


def test_threads_that_come_and_go_at_the_same_time_leave_the_count_as_it_was():
    """The second comes while the first is in, and leaves after it; a thread that comes later must find three again."""
    counts, both_in, one_out = {}, Barrier(2), Barrier(2)

    def first():
        with one_thread():
            both_in.wait(10)
        one_out.wait(10)

    def second():
        with one_thread():
            both_in.wait(10)
            one_out.wait(10)
            counts["inside"] = torch.get_num_threads()

    def later():
        counts["later"] = torch.get_num_threads()

    together = [Thread(target=first), Thread(target=second)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    last = Thread(target=later)
    last.start()
    last.join()
    assert counts == {"inside": 1, "later": 3}
    assert torch.get_num_threads() == 3
