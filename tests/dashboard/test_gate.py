"""The gate as plain ASGI: whom it answers, what is closed, which headers it adds, and who gets a seat."""

import asyncio
import base64
import hashlib
import random
import re
from pathlib import Path
from typing import ClassVar

import pytest

from dashboard.address import Address
from dashboard.gate import COOKIE, OPEN, Gate, content_security_policy, host_name, streamlit_index
from dashboard.seats import Seats

ROOT = Path(__file__).resolve().parents[2]
PAGE = {"accept": "text/html,*/*"}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Browser:
    """Asks an app through the gate, with a cookie jar; `here` is the number that its requests arrive at."""

    def __init__(self, gate: Gate, host: str = "localhost:8501", here: str = "127.0.0.1"):
        self.gate, self.host, self.here, self.cookie = gate, host, here, ""

    def scope(self, kind: str, path: str, headers: dict[str, str]) -> dict:
        found = {"host": self.host} | ({"cookie": self.cookie} if self.cookie else {}) | headers
        raw = [(name.encode(), value.encode("latin-1")) for name, value in found.items()]
        scope = {"type": kind, "path": path, "headers": raw, "server": (self.here, 8501), "query_string": b""}
        more = {"method": "GET"} if kind == "http" else {"extensions": {"websocket.http.response": {}}}
        return scope | more

    def get(self, path: str = "/", **headers: str) -> tuple[int, dict[str, str], str]:
        sent = asyncio.run(messages(self.gate, self.scope("http", path, headers)))
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        if "set-cookie" in found:
            self.cookie = found["set-cookie"].partition(";")[0]
        return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:]).decode()

    def open_page(self) -> int:
        return self.get("/", **PAGE)[0]

    def socket(self, path: str = "/_stcore/stream", **headers: str) -> "Socket":
        return Socket(self.gate, self.scope("websocket", path, headers))


class Socket:
    """A websocket that stays open until it is closed, at the end of the test at the latest, in an event loop of its own."""

    made: ClassVar[list["Socket"]] = []

    def __init__(self, gate: Gate, scope: dict):
        self.made.append(self)
        self.loop = asyncio.new_event_loop()
        self.sent: list[dict] = []
        self.incoming: asyncio.Queue = asyncio.Queue()
        self.task = self.loop.create_task(gate(scope, self.incoming.get, self._send))
        self.loop.run_until_complete(asyncio.sleep(0))

    async def _send(self, message: dict) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int | str:
        first = self.sent[0]
        return first.get("status", first["type"].removeprefix("websocket."))

    def close(self) -> None:
        self.incoming.put_nowait({"type": "websocket.disconnect", "code": 1001})
        self.loop.run_until_complete(self.task)
        self.loop.close()
        self.made.remove(self)


@pytest.fixture(autouse=True)
def _all_sockets_are_closed():
    yield
    for socket in list(Socket.made):
        socket.close()


async def messages(app, scope: dict) -> list[dict]:
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    await app(scope, receive, send)
    return sent


async def echo(scope, receive, send):
    """The app behind the gate: says its path, and keeps a websocket open until the other side leaves."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].encode()})
    else:
        await send({"type": "websocket.accept"})
        await receive()


def gate(address: Address | None = None, seats: Seats | None = None, base: str = "") -> Gate:
    return Gate(echo, address=lambda: address or Address("0.0.0.0"), seats=seats or Seats(9), base=base)  # noqa: S104


# Hosts


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8501",
        "localhost.",
        "127.0.0.1:1",
        "[::1]:8501",
        "192.168.7.7:8501",
        "desk",
        "desk.local:80",
    ],
)
def test_this_machine_is_answered_by_all_its_names(host, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Desk.school.example")
    assert Browser(gate(), host, here="192.168.7.7").get()[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "192.168.7.8",
        "127.0.0.2",
        "",
        "localhost@evil.example",
        "a b",
        "localhost:x",
        "localhost..",
        "localhost, evil.example",
        "localhost .evil.example",
        "127.1",
        "2130706433",
        "0.0.0.0",  # noqa: S104
    ],
)
def test_a_foreign_host_is_refused_with_a_sentence(host):
    browser = Browser(gate(), host, here="192.168.7.7")
    status, headers, text = browser.get()
    assert status == 403
    assert text.startswith(f"the Host must be a name of this server (got {host!r})")
    assert "192.168" not in text.replace(host or "-", "")  # it tells a stranger nothing about us
    assert headers["x-content-type-options"] == "nosniff"
    assert browser.socket().status == 403


def test_a_second_host_is_refused():
    scope = Browser(gate()).scope("http", "/", {})
    scope["headers"].append((b"host", b"evil.example"))
    assert asyncio.run(messages(gate(), scope))[0]["status"] == 403


def test_the_proxys_name_and_those_allowed_are_answered():
    address = Address("127.0.0.1", url="https://explain.example.org", allowed=("other.example.org",))
    for host, status in {"explain.example.org": 200, "other.example.org:81": 200, "third.example.org": 403}.items():
        assert Browser(gate(address), host).get()[0] == status


def test_a_long_host_is_shortened():
    text = Browser(gate(), "x" * 5000).get()[2]
    assert len(text) < 250


@pytest.mark.parametrize(
    ("netloc", "host"),
    [("A.b:1", "a.b"), ("[2001:DB8::1]:8501", "2001:db8::1"), ("a/b", None), ("a:b", None), ("é", None)],
)
def test_hosts_are_read_as_browsers_write_them(netloc, host):
    assert host_name(netloc) == host


# Origins


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:3000", "http://localhost", "file://", "", "localhost:8501"],
)
def test_a_foreign_origin_is_refused(origin):
    """Another port of this machine is another origin."""
    browser = Browser(gate())
    status, _, text = browser.get(origin=origin)
    assert status == 403
    assert text.startswith("the Origin must be this server's own")
    assert browser.socket(origin=origin).status == 403


def test_a_page_reaches_the_server_it_came_from():
    assert Browser(gate()).socket(origin="http://localhost:8501").status == "accept"
    assert Browser(gate()).get(origin="https://LOCALHOST:8501")[0] == 200  # a proxy may have added the s


def test_the_proxys_origin_is_home_whatever_host_it_asks_with():
    behind = Browser(gate(Address("127.0.0.1", url="https://explain.example.org")), "127.0.0.1:8501")
    assert behind.socket(origin="https://explain.example.org").status == "accept"
    assert behind.socket(origin="http://explain.example.org").status == 403
    assert behind.socket(origin="https://explain.example.org.evil.example").status == 403


# What is closed


@pytest.mark.parametrize(
    "path",
    [
        *(
            "_stcore/metrics",
            "/_stcore/metrics",
            "_stcore/agent/mcp",
            "_stcore/agent/openapi.json",
            "_stcore/agent/interact",
        ),
        *(
            "_stcore/script-health-check",
            "_stcore/healthy",
            "auth/login",
            "auth/logout",
            "oauth2callback",
        ),
    ],
)
@pytest.mark.parametrize("base", ["", "class"])
def test_endpoints_nobody_needs_are_closed(path, base):
    prefix = f"/{base}/" if base else "/"
    assert Browser(gate(base=base)).get(prefix + path)[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "",
        "prototypes",
        "_stcore/health",
        "_stcore/host-config",
        "_stcore/upload_file/a/b",
        "static/js/index.js",
        "component/a/b.js",
        "media/a.svg",
    ],
)
@pytest.mark.parametrize("base", ["", "class"])
def test_what_the_pages_need_is_open(path, base):
    prefix = f"/{base}/" if base else "/"
    assert Browser(gate(base=base)).get(prefix + path)[::2] == (200, prefix + path)


def test_a_websocket_leads_to_the_stream_only():
    assert Browser(gate()).socket("/prototypes").status == 404
    assert Browser(gate(base="class")).socket("/class/_stcore/stream").status == "accept"


def test_uploads_are_open_only_where_a_page_takes_a_file():
    taken = any("st.file_uploader(" in path.read_text(encoding="utf-8") for path in (ROOT / "dashboard").rglob("*.py"))
    assert taken == any("upload_file" in path for path in OPEN)


def test_without_the_extension_a_refused_websocket_is_closed():
    scope = Browser(gate(), "evil.example").scope("websocket", "/_stcore/stream", {}) | {"extensions": {}}
    assert asyncio.run(messages(gate(), scope)) == [{"type": "websocket.close", "code": 1008, "reason": ""}]


# Headers


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/metrics", "/media/a.html"])
def test_every_answer_has_the_safe_headers(path):
    _, headers, _ = Browser(gate()).get(path)
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_websocket_that_is_refused_is_answered_with_the_safe_headers_too():
    refused = Browser(gate()).socket(origin="http://evil.example").sent[0]
    headers = {name.decode(): value.decode() for name, value in refused["headers"]}
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_only_the_inline_scripts_of_the_page_may_run():
    policy = dict(
        part.split(" ", 1) for part in content_security_policy("<p><script>\n let a = 1\n</script>").split("; ")
    )
    known = base64.b64encode(hashlib.sha256(b"\n let a = 1\n").digest()).decode()
    assert policy["script-src"].endswith(f"'sha256-{known}'")
    assert "'unsafe-" not in policy["script-src"]
    assert policy["default-src"] == "'none'"


def test_streamlits_page_has_no_inline_script_that_would_be_missed():
    index = streamlit_index()
    inline = [attributes for attributes in re.findall(r"<script([^>]*)>", index) if "src=" not in attributes]
    assert len(inline) == content_security_policy(index).count("'sha256-") > 0


# Seats


@pytest.fixture
def clock():
    return Clock()


def test_the_next_visitor_reads_a_friendly_page_and_gets_in_when_one_leaves(clock):
    full = gate(seats=Seats(2, clock))
    visitors = [Browser(full) for _ in range(3)]
    assert [visitor.open_page() for visitor in visitors] == [200, 200, 503]  # before anyone has connected
    sockets = [visitor.socket() for visitor in visitors[:2]]
    status, headers, text = visitors[2].get("/", **PAGE)
    assert (status, headers["retry-after"], headers["cache-control"]) == (503, "10", "no-store")
    assert "set-cookie" not in headers
    assert "2 open pages" in text
    assert 'http-equiv="refresh" content="10"' in text
    assert "prefers-color-scheme: dark" in text
    assert "script" not in headers["content-security-policy"]
    assert visitors[2].socket().sent == [{"type": "websocket.close", "code": 1013, "reason": ""}]
    sockets[0].close()
    clock.now += 4
    assert visitors[2].open_page() == 200
    assert visitors[2].socket().status == "accept"


def test_a_reload_keeps_its_seat(clock):
    """The new page is asked for before the old one is closed, or just after; a newcomer between cannot have the seat."""
    full = gate(seats=Seats(1, clock))
    inside, newcomer = Browser(full), Browser(full)
    inside.open_page()
    first = inside.socket()
    assert inside.open_page() == 200  # asks first
    first.close()
    assert newcomer.open_page() == 503
    second = inside.socket()
    assert second.status == "accept"
    second.close()  # closes first
    assert newcomer.open_page() == 503
    assert inside.open_page() == 200
    assert inside.socket().status == "accept"


def test_a_seat_is_not_kept_for_ever(clock):
    full = gate(seats=Seats(1, clock))
    Browser(full).open_page()  # and never connects
    assert Browser(full).open_page() == 503
    clock.now += 21
    assert Browser(full).open_page() == 200


def test_another_page_of_the_same_visitor_is_another_seat(clock):
    full = gate(seats=Seats(2, clock))
    visitor = Browser(full)
    visitor.open_page()
    assert [visitor.socket().status for _ in range(3)] == ["accept", "accept", "close"]


def test_without_cookies_sockets_are_counted_all_the_same(clock):
    full = gate(seats=Seats(2, clock))
    assert [Browser(full).socket().status for _ in range(3)] == ["accept", "accept", "close"]


def test_a_seat_is_freed_when_the_app_fails(clock):
    async def broken(scope, receive, send):
        raise RuntimeError("broken")

    seats = Seats(1, clock)
    failing = Gate(broken, address=Address, seats=seats)
    with pytest.raises(RuntimeError, match="broken"):
        asyncio.run(messages(failing, Browser(failing).scope("websocket", "/_stcore/stream", {})))
    clock.now += 4
    assert seats.taken == 0


def test_only_what_looks_like_our_cookie_is_one(clock):
    browser = Browser(gate(seats=Seats(5, clock)))
    browser.cookie = f"{COOKIE}=<script>"
    assert browser.get("/", **PAGE)[1]["set-cookie"].startswith(f"{COOKIE}=")
    kept = browser.cookie
    assert "set-cookie" not in browser.get("/", **PAGE)[1]
    assert browser.cookie == kept


def test_behind_tls_the_cookie_is_secure():
    secure = Browser(gate(Address("127.0.0.1", url="https://explain.example.org")), "explain.example.org")
    assert "; Secure" in secure.get("/", **PAGE)[1]["set-cookie"]
    assert "Secure" not in Browser(gate()).get("/", **PAGE)[1]["set-cookie"]


def test_files_and_probes_take_no_seat(clock):
    seats = Seats(1, clock)
    browser = Browser(gate(seats=seats))
    for path in ("/static/a.js", "/_stcore/health", "/media/x", "/component/x"):
        browser.get(path, **PAGE)
    browser.get("/")  # a program that asks for no page
    assert seats.taken == 0


def test_seats_hold_for_any_order_of_events(clock):
    """Never more sockets than seats, and none lost once all are gone."""
    chance, seats = random.Random(7), Seats(4, clock)
    inside: list[str] = []
    for _ in range(5000):
        visitor = f"visitor {chance.randrange(12)}"
        match chance.randrange(4):
            case 0:
                seats.reserve(visitor)
            case 1:
                inside += [visitor] if seats.enter(visitor) else []
            case 2 if inside:
                seats.leave(inside.pop(chance.randrange(len(inside))))
            case 3:
                clock.now += chance.choice([0.1, 2, 8])
        assert len(inside) <= seats.taken <= 4
    for visitor in inside:
        seats.leave(visitor)
    clock.now += 30
    assert seats.taken == 0
