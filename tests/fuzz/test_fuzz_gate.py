"""Requests as nobody's browser writes them: answered or refused in one sentence, and what is closed stays closed."""

import asyncio
from urllib.parse import unquote

import pytest
from bounds import LONGEST, examples, in_time, little_memory
from hypothesis import given
from hypothesis import strategies as st

from dashboard.address import Address
from dashboard.gate import CLOSED, COOKIE, HEADERS, OPEN, STREAM, Gate
from dashboard.seats import Seats

pytestmark = pytest.mark.long
HERE = "127.0.0.1"
OURS = ("localhost", "desk", HERE)
NAMES = ("localhost", "LOCALHOST", HERE, "[::1]", "evil.example", "localhost.evil.example", "127.1", "2130706433", "")
MARKS = st.sampled_from(["", ".", "..", ":8501", ":", ":x", "@", "/", " ", ",", "\t", "\x00", "%00", "é", "x" * 5000])
HOSTS = st.lists(st.sampled_from(NAMES) | MARKS | st.text(max_size=5), max_size=4).map("".join)
ORIGINS = st.builds("{}{}".format, st.sampled_from(["http://", "https://", "file://", "null", "", "//"]), HOSTS)
PARTS = ("_stcore", "metrics", "stream", "health", "agent", "mcp", "auth", "login", "oauth2callback", "upload_file")
STEPS = st.sampled_from(["/", "//", "/./", "/../", "\\", "%2f", "%5f", ";", "?", "#", "\x00", "class", *PARTS])
PATHS = st.lists(STEPS | st.text(max_size=4), max_size=8).map("".join)
COOKIES = st.one_of(
    st.none(), st.text(max_size=30), st.text(alphabet='Aa0_-=;" ', max_size=40).map(f"{COOKIE}={{}}".format)
)


def bytes_of(text: str) -> bytes:
    """A server reads headers as Latin-1, and no line end comes through."""
    return text.encode("utf-8", "replace").replace(b"\r", b"").replace(b"\n", b"")


@st.composite
def scopes(draw) -> dict:
    """As uvicorn makes them: the path is unquoted, headers are small letters and bytes, and may come twice."""
    path = unquote(f"/{draw(PATHS)}".partition("?")[0].partition("#")[0], errors="replace")
    headers = [(b"host", bytes_of(host)) for host in draw(st.lists(HOSTS, max_size=2))] or [(b"host", b"localhost")]
    headers += [(b"origin", bytes_of(origin)) for origin in draw(st.lists(ORIGINS, max_size=2))]
    headers += [(b"accept", draw(st.sampled_from([b"text/html", b"*/*", b"\xff"])))]
    if (cookie := draw(COOKIES)) is not None:
        headers.append((b"cookie", bytes_of(cookie)))
    kind = draw(st.sampled_from(["http", "websocket"]))
    more = {"extensions": draw(st.sampled_from([{}, {"websocket.http.response": {}}]))}
    if kind == "http":
        more = {"method": draw(st.sampled_from(["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "FOO"]))}
    return {"type": kind, "path": path, "headers": headers, "server": (HERE, 8501), "query_string": b"", **more}


class Behind:
    """The app behind the gate, which remembers whom it was asked by."""

    def __init__(self) -> None:
        self.asked: dict | None = None

    async def __call__(self, scope, receive, send) -> None:
        self.asked = scope
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send({"type": "websocket.accept"})


async def answer(gate: Gate, scope: dict) -> list[dict]:
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    await gate(scope, receive, send)
    return sent


@pytest.mark.parametrize("base", ["", "class"])
def test_only_what_is_open_is_reached_and_only_by_our_own_pages(share, monkeypatch, base):
    monkeypatch.setattr("socket.gethostname", lambda: "desk")
    monkeypatch.setattr("dashboard.uploads.runtime.exists", lambda: False)
    behind, address = Behind(), Address("0.0.0.0")  # noqa: S104
    gate = Gate(behind, address=lambda: address, seats=Seats(10_000), base=base)

    @examples(share(5_000))
    @given(scopes())
    def holds(scope):
        behind.asked = None
        with in_time():
            first, *rest = asyncio.run(answer(gate, scope))
        body = b"".join(message.get("body", b"") for message in rest)
        assert len(body) <= LONGEST
        if "headers" in first:
            assert {name.encode() for name in HEADERS} <= {name for name, _ in first["headers"]}
        if behind.asked is not None:
            check_let_in(scope, base)

    with little_memory():
        holds()


def check_let_in(scope: dict, base: str) -> None:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
    assert len(hosts) == 1
    assert hosts[0].lower().rpartition(":")[0].removesuffix(".") in (*OURS, "[::1]") or (
        hosts[0].lower().removesuffix(".") in (*OURS, "[::1]", "desk.local")
    )
    assert all(origin.partition("://")[2].lower() == hosts[0].lower() for origin in origins)
    assert len(origins) <= 1
    parts = [part for part in scope["path"].split("/") if part]
    below = "/".join(parts[1:] if base and parts[:1] == [base] else parts)
    if scope["type"] == "websocket":
        assert below == STREAM
    elif below.startswith(CLOSED):
        assert f"{below}/".startswith(OPEN) or below in OPEN
