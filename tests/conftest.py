"""What all tests share: one torch thread, and how much of the long tests is run."""

import os
from collections.abc import Callable

import pytest
import torch

SHARE = 20  # without --long a twentieth of a long test's cases is run


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help=f"all cases of tests marked long, instead of one in {SHARE}")


def pytest_collection_modifyitems(config, items):
    """Marks browser tests by their folder, and keeps every twentieth case of a long test that is parametrised.

    A long test that asks for `share` counts for itself.
    """
    for item in items:
        if "browser" in item.path.relative_to(config.rootpath).parts:
            item.add_marker("browser")
    if config.getoption("--long"):
        return
    seen: dict[str, int] = {}
    kept, left_out = [], []
    for item in items:
        if item.get_closest_marker("long") is None or "share" in item.fixturenames:
            kept.append(item)
            continue
        test = item.nodeid.partition("[")[0]
        number = seen[test] = seen.get(test, -1) + 1
        (left_out if number % SHARE else kept).append(item)
    items[:] = kept
    if left_out:
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def share(request) -> Callable[[int], int]:
    """How many of so many cases to run: `for seed in range(share(4_000))` is 200 of them, and with --long all."""
    long = request.config.getoption("--long")
    return lambda cases: cases if long else max(1, cases // SHARE)


@pytest.fixture(scope="session", autouse=True)
def notes_of_tests(tmp_path_factory):
    """Notes that tests write are not among those of whoever runs them; servers of tests inherit it."""
    before = os.environ.get("GRAPH_EXPLAINER_NOTES")
    os.environ["GRAPH_EXPLAINER_NOTES"] = str(tmp_path_factory.mktemp("notes"))
    yield
    if before is None:
        del os.environ["GRAPH_EXPLAINER_NOTES"]
    else:
        os.environ["GRAPH_EXPLAINER_NOTES"] = before


@pytest.fixture(scope="session", autouse=True)
def one_torch_thread():
    """On small tensors more of them only wait for each other."""
    torch.set_num_threads(1)
