"""Notes kept on one's own machine, in SQLite: what was saved is on the disk before anybody is told so.

Two tabs, or two servers, may write at the same time (WAL): a note is a row of its own and never changes. `synchronous=FULL`
makes a commit wait for the disk, so that neither kill -9 nor a power cut takes a note that was shown as saved.
"""

import json
import os
import sqlite3
import time
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

from dashboard.cache import Cache
from dashboard.limits import PREFIX
from dashboard.schema import Card, Request, TargetFacts
from dashboard.services.mistakes import as_safe_csv
from dashboard.tasks.subjects import network
from dashboard.view.notes import MARKS, Note, Shown, clean, target_text
from explainer_core.adapters.weights import weights_digest

FOLDER = f"{PREFIX}NOTES"  # environment variable: where notes are kept instead
FILE = "notes.sqlite"
VERSION = 1  # of the tables
MOST_NOTES = 1_000  # of one data set: what one report can show
MOST_BYTES = 4_000_000  # of the pictures of one note
LONGEST = 10_000  # letters of a value in the file
PATIENCE = 10.0  # seconds that one waits for another who writes
_DIGESTS: Cache[str] = Cache(64)
COLUMNS = tuple(each.name for each in fields(Note))


class NotesUnavailable(ValueError):
    """Notes that cannot be read or kept, in one sentence with the way out."""


def new_note(card: Card, request: Request, facts: TargetFacts, mark: str, text: str, edits: str = "") -> Note:
    """A note as it will be kept. Nothing that was typed goes on unchecked."""
    if mark not in MARKS:
        raise ValueError(f"a note must be marked as one of {', '.join(MARKS)} (got {clean(str(mark), 40)!r})")
    return Note(
        id=uuid.uuid4().hex,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        dataset=card.dataset,
        model=card.model,
        weights=weights_of(card),
        kind=request.kind,
        target=target_text(request.target),
        name=facts.name,
        mark=mark,
        text=clean(text),
        predicted=facts.class_names[facts.predicted],
        truth="" if facts.truth is None else facts.class_names[facts.truth],
        probability=float(facts.probabilities[facts.predicted]),
        edits=edits,
    )


def weights_of(card: Card) -> str:
    """SHA-256 of a network's weights; a network of one's own has no file of them."""
    key = (card.dataset, card.model)
    return card.sha256 or _DIGESTS.get_or_create(key, lambda: weights_digest(network(*key)))


def notes_file() -> Path:
    folder = os.environ.get(FOLDER) or platformdirs.user_data_path("graph-explainer", appauthor=False)
    return Path(folder).expanduser() / FILE


def keep_note(note: Note, shown: Shown) -> None:
    """Returns once the note is on the disk."""
    with _opened(writes=True) as file:
        (count,) = file.execute("SELECT count(*) FROM notes WHERE dataset = ?", (note.dataset,)).fetchone()
        if count >= MOST_NOTES:
            raise NotesUnavailable(
                f"at most {MOST_NOTES:,} notes are kept of a data set (got one more); save the report and delete some"
            )
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        file.execute(f"INSERT INTO notes VALUES ({marks})", (*astuple(note), packed(shown)))  # noqa: S608 (question marks only)


def delete_note(id: str) -> None:
    with _opened(writes=True) as file:
        file.execute("DELETE FROM notes WHERE id = ?", (id,))


def kept_notes(dataset: str) -> tuple[Note, ...]:
    """The notes of a data set, the newest first. None are there until one was kept: looking makes no file."""
    return tuple(note for note, _ in _read(dataset, f"{', '.join(COLUMNS)}, NULL"))


def kept_with_pictures(dataset: str) -> tuple[tuple[Note, Shown], ...]:
    return tuple(_read(dataset, f"{', '.join(COLUMNS)}, shown"))


def _read(dataset: str, columns: str) -> list[tuple[Note, Shown]]:
    if not notes_file().exists():
        return []
    query = f"SELECT {columns} FROM notes WHERE dataset = ? ORDER BY made DESC, rowid DESC LIMIT ?"  # noqa: S608 (columns are ours)
    with _opened() as file:
        rows = file.execute(query, (dataset, MOST_NOTES)).fetchall()
    return [(_note(row), unpacked(row[-1])) for row in rows if row[COLUMNS.index("mark")] in MARKS]


def _note(row: tuple) -> Note:
    """A row of the file, which others may have written: every value is of its kind."""
    values: dict[str, Any] = {name: clean(str(value), LONGEST) for name, value in zip(COLUMNS, row, strict=False)}
    number = row[COLUMNS.index("probability")]
    values["probability"] = number if isinstance(number, float) else float("nan")
    return Note(**values)


def packed(shown: Shown) -> bytes:
    """Pictures are many times smaller so."""
    return zlib.compress(json.dumps([shown.lines, shown.pictures]).encode())


def unpacked(data: bytes | None) -> Shown:
    """What `packed` made; of anything else, nothing."""
    if not isinstance(data, bytes):
        return Shown()
    try:
        lines, pictures = json.loads(zlib.decompressobj().decompress(data, MOST_BYTES))
        return Shown(tuple(map(str, lines)), tuple((str(title), str(svg)) for title, svg in pictures))
    except (zlib.error, ValueError, TypeError, RecursionError):
        return Shown()


@contextmanager
def _opened(*, writes: bool = False) -> Iterator[sqlite3.Connection]:
    """The file, for one transaction: at its end what was written is on the disk."""
    path = notes_file()
    try:
        if writes:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # one's notes are nobody else's business
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as file:
            _prepare(file)
            file.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                yield file
            except BaseException:
                file.execute("ROLLBACK")
                raise
            file.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        raise NotesUnavailable(
            f"notes are kept in {path}, which must be a file of ours that can be written (got {error}); "
            f"set {FOLDER} to another folder"
        ) from error


def _prepare(file: sqlite3.Connection) -> None:
    """WAL, a full sync at each commit, and the table. To turn to WAL is refused while another writes, without waiting."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            file.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as busy:
            if "locked" not in str(busy) or time.monotonic() > until:
                raise
            time.sleep(0.02)
    file.execute("PRAGMA synchronous=FULL")
    (version,) = file.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        raise sqlite3.DatabaseError(f"tables of version {version}, where this program knows {VERSION}")
    if version == 0:
        columns = ", ".join(f"{name} {'REAL' if name == 'probability' else 'TEXT'} NOT NULL" for name in COLUMNS)
        file.execute("BEGIN IMMEDIATE")
        file.execute(f"CREATE TABLE IF NOT EXISTS notes ({columns}, shown BLOB NOT NULL, PRIMARY KEY (id))")
        file.execute("CREATE INDEX IF NOT EXISTS of_dataset ON notes (dataset, made)")
        file.execute(f"PRAGMA user_version={VERSION}")
        file.execute("COMMIT")


def notes_as_csv(notes: Sequence[Note]) -> str:
    """Notes as a file, safe for a spreadsheet."""
    names = [name for name in COLUMNS if name != "id"]
    return as_safe_csv([names, *([getattr(note, name) for name in names] for note in notes)])
