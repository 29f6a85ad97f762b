"""What this server was started with: data and networks that live in this process, seen by everybody who comes."""

from dashboard.cache import forget
from dashboard.catalogue.entry import Entry, NotHere
from dashboard.first_look import FIRST_LOOKS

PREFIX = "launched-"
_entries: dict[str, Entry] = {}


def add(entry: Entry) -> None:
    """What stood under the same name is forgotten, with everything that was worked out of it."""
    if not entry.info.name.startswith(PREFIX):
        raise ValueError(f"what a server is started with is called {PREFIX}NAME (got {entry.info.name!r})")
    remove(entry.info.name)
    _entries[entry.info.name] = entry
    if entry.first is not None:
        FIRST_LOOKS[entry.info.name] = entry.first


def remove(dataset: str) -> None:
    if _entries.pop(dataset, None) is not None:
        FIRST_LOOKS.pop(dataset, None)
        forget(dataset)


def entries() -> list[Entry]:
    return list(_entries.values())


def find(dataset: str) -> Entry:
    if dataset not in _entries:
        raise NotHere(f"{dataset[:80]!r} was not started with this server; start it again with its data")
    return _entries[dataset]
