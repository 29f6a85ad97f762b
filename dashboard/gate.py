"""The gate before Streamlit, as ASGI middleware: whom the server answers, what is closed, safe headers, and seats.

A page elsewhere must not reach a server at home or in a class: neither by a name that it points at this machine (DNS
rebinding: the Host is then foreign), nor across origins (the Origin is). Refusals name no address of this server.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.address import Address, is_number
from dashboard.limits import shortened
from dashboard.seats import TRY_AGAIN, Seats, full_page, new_visitor
from dashboard.uploads import UPLOADS
from dashboard.uploads import refusal as upload_refusal

STREAM = "_stcore/stream"
# All of Streamlit's own endpoints but these are closed: figures about the server, the interface for agents, sign-in.
OPEN = ("_stcore/health", "_stcore/host-config", "_stcore/bidi-components/", UPLOADS, STREAM)
CLOSED = ("_stcore/", "auth/", "oauth2callback")
NO_PAGE = ("_stcore/", "static/", "media/", "component/")
POLICY_VIOLATION, TRY_AGAIN_LATER = 1008, 1013  # why a websocket is closed
COOKIE = "graph_explainer_visitor"
VISITOR = re.compile(r"[A-Za-z0-9_-]{22}")
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# Streamlit and Plotly write style attributes; inline modules of components become blobs; protobuf's numbers of 64 bits are
# WebAssembly. JavaScript made from text is not allowed.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self' blob: 'wasm-unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "media-src": "'self'",
    "manifest-src": "'self'",
    "worker-src": "'self' blob:",
    "frame-src": "'none'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
FULL_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
}


class Gate:
    """`address` is asked when the first request arrives: only then is the port known. `base` is the path of the app."""

    def __init__(self, app: ASGIApp, *, address: Callable[[], Address], seats: Seats, base: str = "", index: str = ""):
        self._app, self._seats = app, seats
        self._address = address
        self._base = f"/{base.strip('/')}/" if base.strip("/") else "/"
        self._policy = content_security_policy(index)
        self._names: frozenset[str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await self._refuse(refused, scope, receive, send)
        elif scope["type"] == "websocket":
            await self._stream(scope, receive, send)
        else:
            await self._answer(scope, receive, send)

    # Who is answered

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        host = host_name(hosts[0]) if len(hosts) == 1 else None
        if host is None or not self._is_ours(host, scope):
            return _sentence(
                403,
                f"the Host must be a name of this server (got {shortened(', '.join(hosts))}); "
                "if it is one, start the server with --allow-host and that name",
            )
        if origins and not (len(origins) == 1 and self._is_home(origins[0], hosts[0])):
            return _sentence(
                403,
                f"the Origin must be this server's own (got {shortened(', '.join(origins))}); "
                "behind a proxy, start the server with --url and the address that people type",
            )
        path = self._path(scope)
        is_open = path == STREAM if scope["type"] == "websocket" else _is_open(path)
        if not is_open:
            return _sentence(404, "nothing is served at this path")
        full = upload_refusal(path) if path.startswith(UPLOADS) and scope["method"] == "PUT" else None
        return None if full is None else _sentence(413, full)

    def _is_ours(self, host: str, scope: Scope) -> bool:
        """One of our names, or the very number that the request arrived at."""
        if self._names is None:
            self._names = self._address().names()
        arrived_at = (scope.get("server") or ("",))[0]
        return host in self._names or (is_number(host) and host == arrived_at.removeprefix("::ffff:"))

    def _is_home(self, origin: str, host: str) -> bool:
        """The origin of the page is where it asks, or the proxy in front; the scheme may be the proxy's."""
        scheme, _, netloc = origin.partition("://")
        if scheme not in ("http", "https"):
            return False
        address = self._address()
        url = urlsplit(address.url)
        proxy = address.url and (scheme, netloc.lower()) == (url.scheme, url.netloc.lower())
        return netloc.lower() == host.lower() or bool(proxy) or host_name(netloc) in address.allowed

    def _path(self, scope: Scope) -> str:
        """Below the app's own, as Streamlit's routes see it; doubled slashes lead nowhere else."""
        path = scope["path"]
        below = path[len(self._base) :] if path.startswith(self._base) else path
        return re.sub("/+", "/", below).lstrip("/")

    async def _refuse(self, response: Response, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" or "websocket.http.response" in scope.get("extensions", {}):
            await response(scope, receive, self._with_headers(send, self._policy))
        else:
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ""})

    # Seats

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = self._with_headers(send, self._policy)
        headers, path = Headers(scope=scope), self._path(scope)
        wants_page = (
            scope["method"] == "GET" and "text/html" in headers.get("accept", "") and not path.startswith(NO_PAGE)
        )
        if not wants_page:
            await self._app(scope, receive, send)
            return
        known = visitor_of(headers)
        visitor = known or new_visitor()
        if not self._seats.reserve(visitor):
            waiting = HTMLResponse(full_page(self._seats.count), 503)
            waiting.headers.update(
                {"retry-after": str(TRY_AGAIN), "cache-control": "no-store", "content-security-policy": FULL_POLICY}
            )
            await waiting(scope, receive, send)
            return
        await self._app(scope, receive, send if known else self._with_cookie(send, visitor))

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor = visitor_of(Headers(scope=scope)) or new_visitor()
        if not self._seats.enter(visitor):
            # Streamlit's page asks again by itself, and shows no answer: closed in the way that fills no log.
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": ""})
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._seats.leave(visitor)

    # Headers

    def _with_headers(self, send: Send, policy: str) -> Send:
        def add(headers: MutableHeaders) -> None:
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", policy)

        return _on_start(send, add)

    def _with_cookie(self, send: Send, visitor: str) -> Send:
        """It tells a reload from a newcomer, and lives as long as the browser is open."""
        secure = "; Secure" if self._address().url.startswith("https:") else ""
        cookie = f"{COOKIE}={visitor}; Path={self._base}; HttpOnly; SameSite=Lax{secure}"
        return _on_start(send, lambda headers: headers.append("set-cookie", cookie))


def content_security_policy(index: str) -> str:
    """For a page with these inline scripts and no others."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in INLINE_SCRIPT.findall(index)
    ]
    scripts = " ".join([POLICY["script-src"], *(f"'sha256-{digest}'" for digest in hashes)])
    return "; ".join(f"{name} {value}" for name, value in (POLICY | {"script-src": scripts}).items())


def host_name(netloc: str) -> str | None:
    """The host of `host:port`, in small letters; None for what is neither a name nor a number."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?", netloc)
    return found[1].lower().strip("[]").removesuffix(".") if found else None


def visitor_of(headers: Headers) -> str | None:
    visitor = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return visitor if VISITOR.fullmatch(visitor) else None


def _is_open(path: str) -> bool:
    return not path.startswith(CLOSED) or any(
        path.startswith(open_) if open_.endswith("/") else path == open_ for open_ in OPEN
    )


def _sentence(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status, {"cache-control": "no-store"})


def _on_start(send: Send, change: Callable[[MutableHeaders], Any]) -> Send:
    async def changed(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            change(MutableHeaders(scope=message))
        await send(message)

    return changed


def streamlit_index() -> str:
    """The page that Streamlit serves."""
    import streamlit

    return Path(streamlit.__file__).with_name("static").joinpath("index.html").read_text(encoding="utf-8")
