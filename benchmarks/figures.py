"""The figures of a benchmark: a table for people, JSON for machines, and whether each goal holds."""

import argparse
import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch


@dataclass(frozen=True)
class Figure:
    """One measured number; without a goal it is only reported."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None
    better: str = "higher"
    spread: float | None = None  # standard deviation, where it is the mean of several

    @property
    def holds(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value >= self.goal if self.better == "higher" else self.value <= self.goal

    def row(self) -> tuple[str, ...]:
        goal = "" if self.goal is None else f"{'>=' if self.better == 'higher' else '<='} {self.goal:g}"
        verdict = {None: "", True: "holds", False: "FALLS SHORT"}[self.holds]
        spread = "" if self.spread is None else f" ± {self.spread:.3f}"
        return self.name, f"{self.value:.4g}{spread}", self.unit, goal, verdict


class Report:
    """Collects figures, prints each as it comes, and writes them all at the end."""

    def __init__(self):
        self.figures: list[Figure] = []

    def add(
        self,
        name: str,
        value: float,
        unit: str = "",
        goal: float | None = None,
        better: str = "higher",
        spread: float | None = None,
    ) -> None:
        figure = Figure(name, float(value), unit, goal, better, spread)
        self.figures.append(figure)
        row = figure.row()
        print("{:<72}{:>16} {:<12}{:<10}{}".format(*row), flush=True)

    def note(self, values: dict[str, float]) -> None:
        """Figures without a goal that the benchmark prints itself, in a table of its own."""
        self.figures += [Figure(name, float(value)) for name, value in values.items()]

    def write(self, path: Path) -> None:
        figures = [asdict(each) | {"value": _in_json(each.value), "holds": each.holds} for each in self.figures]
        path.write_text(json.dumps({"figures": figures, "machine": machine()}, indent=1) + "\n", encoding="utf-8")


def _in_json(value: float) -> float | None:
    """None for what could not be measured: JSON has no NaN."""
    return value if math.isfinite(value) else None


def machine() -> dict:
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
    }


DEVICES = ("cpu", "cuda", "mps")


def run(
    measure, description: str | None, *, on_devices: bool = False, sets: Sequence[str] = (), kept: str = ""
) -> None:
    """The command line every benchmark has; with `on_devices` one may choose where to measure, and is told which.

    With `sets` one may choose some of them: each takes long. With `kept` what was measured can be kept, and that says where.
    """
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small version, in under a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    if on_devices:
        parser.add_argument("--device", choices=DEVICES, default="cpu", help="where both explainers work (cpu)")
    if sets:
        parser.add_argument("--only", nargs="+", choices=sets, default=sets, metavar="SET", help=", ".join(sets))
    if kept:
        parser.add_argument("--keep", action="store_true", help=f"keep the figures in {kept}")
    options = parser.parse_args()
    chosen: dict[str, object] = {"device": torch.device(options.device)} if on_devices else {}
    if on_devices and options.device != "cpu" and not getattr(torch, options.device).is_available():
        parser.error(f"--device {options.device}: there is none here; leave it out to measure on the cpu")
    if sets:
        chosen["only"] = options.only
    if kept:
        chosen["keep"] = options.keep
    torch.set_num_threads(1)
    report = Report()
    measure(report, options.quick, **chosen)
    if options.json:
        report.write(options.json)
