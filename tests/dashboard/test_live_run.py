"""What is seen of a run while it goes on: no more pictures than change, and none for a run that is over at once."""

from unittest.mock import Mock

import numpy as np
import pytest

from dashboard import services
from dashboard.widgets import live_run


@pytest.fixture
def watched(monkeypatch):
    """A run that is watched, with a clock of its own and a count of the pictures drawn."""
    clock, question = [0.0], services.ask(services.Request("karate", "gcn", "node", 3))
    monkeypatch.setattr(live_run.time, "monotonic", lambda: clock[0])
    widgets = Mock(), Mock()
    found = live_run._Watched(question, Mock(), Mock(), Mock())
    monkeypatch.setattr(found, "_begin", lambda: widgets)

    def show(at: float, progress) -> int:
        clock[0] = at
        found.show(progress)
        return widgets[1].image.call_count

    edges = np.full(len(question.computation.edge_weight), 0.5)
    return show, lambda number, searching=False: services.Step(number, 30, edges, searching)


def test_a_mask_that_does_not_change_is_drawn_once(watched):
    show, step = watched
    assert show(0.1, step(1)) == 0  # nobody has waited yet
    assert show(1.0, step(10)) == 1
    assert show(1.1, step(12)) == 1  # too soon
    assert show(1.5, step(30)) == 2
    assert show(2.0, step(30, searching=True)) == 2
    assert show(9.0, step(30, searching=True)) == 2


def test_who_has_waited_for_a_worker_sees_no_picture_of_a_run_that_takes_a_moment(watched):
    show, step = watched
    assert show(5.0, services.Waiting(3)) == 0
    assert show(6.0, step(1)) == 0
    assert show(6.0 + live_run.TICK / 2, step(30)) == 0
    assert show(6.0 + live_run.TICK * 2, step(31)) == 1
