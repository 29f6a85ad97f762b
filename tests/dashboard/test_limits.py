"""The limits of a server: what they are unless set, how they travel through the environment, and what is refused."""

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from dashboard.limits import Limits, variable


def test_unless_set_a_run_has_half_a_minute_and_a_gigabyte(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 5}, raising=False)
    limits = Limits.from_environment({})
    assert (limits.visitors, limits.workers, limits.run_seconds, limits.run_memory) == (60, 3, 30, 1024)


def test_what_is_written_to_the_environment_is_read_from_it():
    limits = Limits(visitors=7, workers=3, run_seconds=11, run_memory=512, cache_bytes=2**21)
    written = limits.to_environment()
    assert written["GRAPH_EXPLAINER_VISITORS"] == "7"
    assert len(written) == len(fields(Limits))
    assert Limits.from_environment(written) == limits
    assert Limits.from_environment({"GRAPH_EXPLAINER_RUN_SECONDS": "5"}).run_seconds == 5


@pytest.mark.parametrize("name", [each.name for each in fields(Limits)])
@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "many", "٣", " 5", "9" * 5000])
def test_no_other_text_is_a_limit(name, text):
    with pytest.raises(ValueError, match=f"^{variable(name)} must be [0-9,]+ to [0-9,]+ .got ") as broken:
        Limits.from_environment({variable(name): text})
    assert "unset it" in str(broken.value)
    assert len(str(broken.value)) < 250


@pytest.mark.parametrize("value", [0, 10_001, True, 5.0, "5", None])
def test_limits_check_themselves(value):
    with pytest.raises(ValueError, match="visitors must be 1 to 10,000"):
        Limits(visitors=value)


def test_reading_them_needs_neither_torch_nor_streamlit():
    program = (
        "import sys, dashboard.limits; print([n for n in ('torch', 'streamlit', 'explainer_core') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("each", fields(Limits), ids=lambda each: each.name)
def test_the_documentation_has_every_limit_as_it_is(each):
    page = (Path(__file__).resolve().parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if f"`{variable(each.name)}`" in line]
    assert f"| `--{each.name.replace('_', '-')}` |" in row
    if each.name != "workers":
        assert f"| {each.default:,} |" in row
    power = {2**20: "2^20", 2**50: "2^50"}
    low, high = each.metadata["low"], each.metadata["high"]
    ends = [power[end] for end in (low, high)] if low in power else [f"{low:,}", f"{high:,}"]
    assert f"| {' to '.join(ends)} |" in row


def test_as_many_files_may_be_open_as_visitors_need_and_never_fewer_than_before():
    """In a process of its own: the limit cannot be forgotten."""
    program = (
        "import resource; from dashboard.limits import allow_open_files\n"
        "known = lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 2_000))\n"
        "allow_open_files(60); print(known()); allow_open_files(1); print(known())\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 300)); allow_open_files(60); print(known())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1624", "1624", "300"]
