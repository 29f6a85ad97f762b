"""A file that was sent, as text: bounded before it is looked at, in UTF-8, and no archive in disguise."""

from dataclasses import dataclass
from pathlib import Path

from explainer_core.files.limits import MAX_BYTES, MB
from explainer_core.files.problem import Bare, FileProblem

BOM = "\ufeff"
# What the first bytes of a file are that is something else, and what to do with it.
DISGUISES = (
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip archive", "unpack it"),
    (b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16", "save it as UTF-8"),
    (b"\x80\x02", "a pickle", "pickles are never read: they could run any program; write CSV, GraphML or JSON"),
    (b"\x80\x04", "a pickle", "pickles are never read: they could run any program; write CSV, GraphML or JSON"),
    (b"\x80\x05", "a pickle", "pickles are never read: they could run any program; write CSV, GraphML or JSON"),
    (b"%PDF", "a PDF", "write CSV, GraphML or JSON"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save the sheet as CSV"),
)


@dataclass(frozen=True)
class SentFile:
    """A file as it came: its name, which is only ever shown, and its bytes."""

    name: str
    data: bytes


def read_path(path: str | Path) -> SentFile:
    """A file of one's own; of one that is too large only enough to see that."""
    with Path(path).open("rb") as file:
        return SentFile(Path(path).name, file.read(MAX_BYTES + 1))


def check_size(file: SentFile, most: int = MAX_BYTES) -> None:
    if len(file.data) > most:
        size = Bare(f"{len(file.data) / MB:,.1f} MB")
        raise FileProblem(file.name, f"a file must be at most {most // MB} MB", size, "send a part of it")
    if not file.data:
        raise FileProblem(file.name, "a file must hold something", Bare("an empty one"), "choose another")


def decoded(file: SentFile) -> str:
    """The text of a file of allowed size."""
    check_size(file)
    for beginning, kind, way_out in DISGUISES:
        if file.data.startswith(beginning):
            raise FileProblem(file.name, "a file must be text in UTF-8", Bare(kind), way_out)
    try:
        text = file.data.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        got = Bare(f"the byte 0x{file.data[error.start]:02x}")
        way_out = "save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
        raise FileProblem(file.name, "a file must be text in UTF-8", got, way_out, line=line) from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise FileProblem(file.name, "a file must be text", Bare("a zero byte"), "save it as UTF-8", line=line)
    if not text.strip():
        raise FileProblem(file.name, "a file must hold something", Bare("blank lines only"), "choose another")
    return text


def check_count(file: SentFile, sign: bytes, most: int, rule: str, way_out: str) -> None:
    """Counts a sign before anything is parsed: what has too many is refused while it is still one string."""
    found = file.data.count(sign)
    if found > most:
        raise FileProblem(file.name, rule, Bare(f"about {found:,}"), way_out)
