"""Starts a Streamlit script on a free port and waits until it answers; for browser tests and for benchmarks."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NO_NETWORK = "http://127.0.0.1:9"  # a proxy at the discard port: every download is refused at once
PATIENCE = 60  # seconds


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    pid: int
    log: Path


@contextmanager
def serving(
    log: Path,
    *,
    script: str = "dashboard/server.py",
    environment: dict[str, str] | None = None,
    options: Sequence[str] | None = None,
) -> Iterator[Served]:
    """A server of its own, stopped at the end. It has no network: the address in the proxy settings refuses all.

    With options it is started as people do it, by the command `run`.
    """
    port = free_port()
    known = {name: value for name, value in os.environ.items() if name != "GNN_DATA_DIR"}
    known |= {"http_proxy": NO_NETWORK, "https_proxy": NO_NETWORK} | (environment or {})
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    if options is not None:
        command = [sys.executable, "-m", "dashboard", "run", "--port", str(port), *options]
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=known, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_until_healthy(process, port, log)
        yield Served(f"http://localhost:{port}", process.pid, log)
    finally:
        process.terminate()
        process.wait(20)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_until_healthy(process: subprocess.Popen, port: int, log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server must start (it ended at once): {log.read_text()}")
        try:
            with opener.open(f"http://localhost:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the server must start within {PATIENCE} s (it did not): {log.read_text()}")
