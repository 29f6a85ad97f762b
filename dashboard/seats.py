"""Who is in: as many visitors as there are seats, and the page that the next one reads."""

import secrets
import time
from collections import Counter
from collections.abc import Callable

ON_THE_WAY = 20.0  # seconds a seat is kept for a browser that was given the page and has still to connect
JUST_LEFT = 3.0  # seconds it is kept for one that may be reloading: some close the old page before they ask for the new
TRY_AGAIN = 10  # seconds


class Seats:
    """Open pages are counted, by the visitor they belong to. A seat is kept for whoever has just been given the page.

    A visitor who reloads asks for the new page while the old one is still open: known visitors are never turned away.
    All calls come from the server's one event loop, so there is nothing to lock.
    """

    def __init__(self, count: int, clock: Callable[[], float] = time.monotonic):
        self.count = count
        self._clock = clock
        self._open: Counter[str] = Counter()
        self._kept: dict[str, float] = {}  # visitor: until when

    @property
    def taken(self) -> int:
        self._forget()
        return sum(self._seats(visitor) for visitor in {*self._open, *self._kept})

    def is_open(self, visitor: str) -> bool:
        """Whether a page of theirs is open now; asked from other threads too."""
        return self._open.get(visitor, 0) > 0

    def reserve(self, visitor: str) -> bool:
        """Before the page is given to a browser: keeps a seat until it connects. False where there is none."""
        self._forget()
        if not self._seats(visitor) and self.taken >= self.count:
            return False
        self._kept[visitor] = self._clock() + ON_THE_WAY
        return True

    def enter(self, visitor: str) -> bool:
        """A page connects. False where there is no seat for it."""
        self._forget()
        others = self.taken - self._seats(visitor)
        if others + self._open.get(visitor, 0) + 1 > self.count:
            return False
        self._kept.pop(visitor, None)
        self._open[visitor] += 1
        return True

    def leave(self, visitor: str) -> None:
        self._open[visitor] -= 1
        if not self._open[visitor]:
            del self._open[visitor]
            self._kept[visitor] = max(self._kept.get(visitor, 0.0), self._clock() + JUST_LEFT)

    def _seats(self, visitor: str) -> int:
        return max(self._open.get(visitor, 0), int(visitor in self._kept))

    def _forget(self) -> None:
        now = self._clock()
        self._kept = {visitor: until for visitor, until in self._kept.items() if until > now}


def new_visitor() -> str:
    return secrets.token_urlsafe(16)


FULL_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{again}">
<title>Graph Explainer: all seats are taken</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; background: #FCFCFB; color: #1F2328;
  font: 18px/1.5 "Source Sans", system-ui, sans-serif; }}
main {{ max-width: 34rem; padding: 2rem; }}
h1 {{ font-size: 1.9rem; font-weight: 650; line-height: 1.2; margin: 0 0 1rem; }}
p {{ margin: 0 0 .75rem; }}
a {{ color: #0072B2; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14171A; color: #E6E8EA; }} a {{ color: #56B4E9; }} }}
</style>
</head>
<body>
<main>
<h1>All seats are taken</h1>
<p>This server has room for {seats}, and all of it is in use.</p>
<p>You will be let in as soon as someone leaves: this page tries again by itself every {again} seconds, or
<a href="">right now</a>.</p>
</main>
</body>
</html>
"""


def full_page(count: int) -> bytes:
    seats = "one open page" if count == 1 else f"{count:,} open pages at a time"
    return FULL_PAGE.format(again=TRY_AGAIN, seats=seats).encode()
