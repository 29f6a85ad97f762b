"""Where a server is found: what people type, the QR code of it, and the names it answers to. Asks no network."""

import io
import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, urlsplit

from dashboard.limits import PREFIX, shortened

URL, ALLOW_HOST = f"{PREFIX}URL", f"{PREFIX}ALLOW_HOST"
WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 (compared with, not listened at)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# Nobody has them (RFC 5737, RFC 3849). Connecting a UDP socket sends nothing: it only chooses the way out.
NOWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
QUIET_ZONE = 2  # modules around the code


@dataclass(frozen=True)
class Address:
    """`url` is what people type where a proxy stands in front; `allowed` are more names of this server."""

    host: str = "localhost"  # where it listens
    port: int = 8501
    url: str = ""
    allowed: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls, host: str | None, port: int, environment: Mapping[str, str] = os.environ) -> "Address":
        url, names = environment.get(URL, ""), environment.get(ALLOW_HOST, "")
        return cls(
            host or "", port, checked_url(url) if url else "", tuple(map(checked_host, filter(None, names.split(","))))
        )

    @property
    def is_shared(self) -> bool:
        """Whether others than this machine are meant to come."""
        return bool(self.url) or self.host not in LOOPBACK

    @property
    def is_own(self) -> bool:
        """Whether whoever comes sits at this machine: no other address leads here, nor another name."""
        return not self.is_shared and not self.allowed

    def for_others(self) -> list[str]:
        """What people type, the best first: the proxy's address, else the one on the network, else the machine's name."""
        if self.url:
            return [self.url]
        if not self.is_shared:
            return []
        if self.host not in WILDCARDS:
            return [self._with_port(self.host)]
        return [
            self._with_port(name) for name in (lan_address(), socket.gethostname()) if name and name not in LOOPBACK
        ]

    def here(self) -> str | None:
        """What someone at this machine types."""
        local = self.host in (*WILDCARDS, *LOOPBACK)
        return f"{self._with_port('localhost')}{urlsplit(self.url).path}" if local else None

    def link(self, seen: str) -> str:
        """The address that a browser sees, without its query, as others can open it: at this machine it says localhost."""
        parts = urlsplit(seen)
        if not parts.netloc:
            return ""  # no browser was there to see one
        others = self.for_others() if parts.hostname in LOOPBACK else []
        start = _origin(urlsplit(others[0])) if others else _origin(parts)
        return f"{start}{parts.path or '/'}"

    def names(self) -> frozenset[str]:
        """The names this server answers to, beside the number that a request arrived at."""
        machine = socket.gethostname().lower()
        own = {*LOOPBACK, machine, machine.partition(".")[0], f"{machine.partition('.')[0]}.local"}
        listening = () if self.host in WILDCARDS else (self.host.lower(),)
        url = urlsplit(self.url).hostname if self.url else None
        return frozenset({*own, *listening, *self.allowed, *((url,) if url else ())})

    def _with_port(self, name: str) -> str:
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"


@cache
def server_address() -> Address:
    """Of the server that this process is. To be asked once it listens: only then is the port known."""
    from streamlit import config

    return Address.from_environment(config.get_option("server.address"), config.get_option("server.port"))


def lan_address() -> str | None:
    """This machine's number on the network it would leave by; None without one."""
    for family, nowhere in NOWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as way_out:
                way_out.connect((nowhere, 9))
                return way_out.getsockname()[0]
        except OSError:
            continue  # no way out by this family
    return None


def announcement(address: Address, visitors: int, encoding: str, colour: bool) -> str:
    """What the terminal says once the server listens."""
    lines = ["", "  Graph Explainer"]
    if here := address.here():
        lines.append(f"  On this machine: {here}")
    others = address.for_others()
    if others:
        lines.append(f"  For others:      {'  or  '.join(others)}")
        lines.append(
            f"  At most {visitors:,} at a time. What they type is not encrypted."
            if others[0].startswith("http:")
            else f"  At most {visitors:,} at a time."
        )
        lines += ["", *qr_code(others[0], encoding, colour)]
    elif address.is_shared:
        lines.append("  For others:      no network was found; connect this machine to one and start again")
    return "\n".join([*lines, "", ""])


def qr_code(text: str, encoding: str, colour: bool) -> list[str]:
    """Lines of half blocks, light on dark where the terminal has colours; none where it cannot print them."""
    try:
        "█▀▄".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return []
    import segno

    drawn = io.StringIO()
    segno.make_qr(text, error="l").terminal(drawn, border=QUIET_ZONE, compact=True)
    return [f"  \x1b[97;40m{line}\x1b[0m" if colour else f"  {line}" for line in drawn.getvalue().splitlines()]


def checked_url(text: str) -> str:
    """The address of a proxy, without a slash at its end."""
    try:
        parts = urlsplit(text)
        plain = not (parts.username or parts.password or parts.query or parts.fragment) and parts.port != 0
        fits = parts.scheme in ("http", "https") and plain and parts.hostname is not None and is_host(parts.hostname)
    except ValueError:
        fits = False
    if not fits or not re.fullmatch(r"[!-~]+", text) or not re.fullmatch(r"[A-Za-z0-9/_.~-]*", urlsplit(text).path):
        raise ValueError(
            f"the url must be one people can type, like https://explain.example.org (got {shortened(text)})"
        )
    return text.rstrip("/")


def checked_host(text: str) -> str:
    name = text.strip().lower().removeprefix("[").removesuffix("]")
    if not is_host(name):
        raise ValueError(
            f"a host must be a name or a number, without a port, like explain.example.org (got {shortened(text)})"
        )
    return name


def is_host(name: str) -> bool:
    return is_number(name) or (len(name) <= 253 and NAME.fullmatch(name.lower()) is not None)


def is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _origin(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}"
