"""CSV and its relatives as rows: the delimiter and the header are found, every line is counted as it is read."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from explainer_core.files.limits import MAX_FEATURES
from explainer_core.files.problem import Bare, FileProblem
from explainer_core.files.rows import Rows, is_missing, is_number, plain
from explainer_core.files.text import SentFile, check_count, decoded

DELIMITERS = ",;\t|"
COMMENTS = ("#", "%")
MOST_COLUMNS = MAX_FEATURES + 20
LONGEST_LINE = 200_000  # letters
MOST_LINES = 100  # of one row, whose texts may hold line breaks
SAMPLE = 100  # rows that tell a heading from data

Row = tuple[int, list[str]]


def check_lines(file: SentFile, most: int, thing: str) -> None:
    """Before anything is read: with so many lines there are too many of the thing, even if half are blank."""
    check_count(
        file, b"\n", 2 * most + SAMPLE, f"a file must have at most {most:,} {thing}s, one a line", "send a part"
    )


def read_rows(file: SentFile, most: int, thing: str, known: set[str], header: bool | None = None) -> Rows:
    """The rows of a file with at most so many; `known` are headings that would tell a header.

    Without a header columns are called "column 1" and so on.
    """
    check_lines(file, most, thing)
    text = decoded(file)
    rows = _records(file.name, text, delimiter_of(text))
    first = list(islice(rows, SAMPLE))
    if not first:
        raise FileProblem(file.name, f"a file must have a {thing} on each line", Bare("none"), "choose another")
    if header is None:
        header = _is_header(first, known)
    names = _headings(file.name, first[0]) if header else tuple(f"column {i + 1}" for i in range(len(first[0][1])))
    if len(names) > MOST_COLUMNS:
        rule, got = f"a file must have at most {MAX_FEATURES:,} features", Bare(f"{len(names):,} columns")
        raise FileProblem(file.name, rule, got, "leave some out", line=first[0][0])
    body = chain(first[1:] if header else first, rows)
    return Rows(file.name, names, counted(file.name, body, len(names), most, thing))


def delimiter_of(text: str) -> str | None:
    """The commonest of the usual ones in the first line; None where values stand apart by spaces."""
    line = next((line for line, _ in _lines(text) if line.strip() and not line.startswith(COMMENTS)), "")
    counts = {sign: line.count(sign) for sign in DELIMITERS}
    best = max(counts, key=lambda sign: counts[sign])
    return best if counts[best] else None


def _records(name: str, text: str, delimiter: str | None) -> Iterator[Row]:
    """Each row that is not blank, and the line it begins on."""
    if delimiter is None:
        yield from ((number, line.split()) for line, number in checked_lines(name, text) if line.strip())
        return
    began = read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line, read in checked_lines(name, text):
            if read - began > MOST_LINES:
                rule = f"a row must end after at most {MOST_LINES} lines"
                raise FileProblem(name, rule, None, "close the quotation mark that is open", line=began)
            yield line

    reader = csv.reader(lines(), delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        began = read + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = Bare(str(error))
            raise FileProblem(
                name, "a row must be valid CSV", reason, "check its quotation marks", line=began
            ) from None
        if any(cell.strip() for cell in row):
            yield began, row


def checked_lines(name: str, text: str) -> Iterator[tuple[str, int]]:
    """Lines of bounded length with their numbers, comments as blank ones."""
    for line, number in _lines(text):
        if len(line) > LONGEST_LINE:
            rule, got = f"a line must have at most {LONGEST_LINE:,} letters", Bare(f"{len(line):,}")
            raise FileProblem(name, rule, got, "write one node or edge a line", line=number)
        yield (" \n" if line.startswith(COMMENTS) else line), number


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Lines with their numbers from 1, cut out one at a time: a list of all would be several times the file."""
    end_of_line = "\n" if "\n" in text else "\r"
    start, number = 0, 0
    while start < len(text):
        end = text.find(end_of_line, start)
        end = len(text) if end < 0 else end
        number += 1
        yield text[start:end].rstrip("\r") + "\n", number
        start = end + 1


def _is_header(first: Sequence[Row], known: set[str]) -> bool:
    """A known heading in it, or words above numbers."""
    heading = first[0][1]
    if any(plain(cell) in known for cell in heading):
        return True
    if len(first) == 1 or any(is_number(cell) for cell in heading):
        return False
    below = [cell for _, row in first[1:] for cell in row if not is_missing(cell)]
    return any(is_number(cell) for cell in below)


def _headings(name: str, row: Row) -> tuple[str, ...]:
    line, cells = row
    headings = [cell.strip() for cell in cells]
    while headings and not headings[-1]:
        headings.pop()  # a spreadsheet may leave empty columns at the end
    headings = [heading or f"column {i + 1}" for i, heading in enumerate(headings)]
    seen: set[str] = set()
    for heading in headings:
        if heading in seen:
            raise FileProblem(name, "columns must have different names", heading, "rename one", line=line)
        seen.add(heading)
    return tuple(headings)


def counted(name: str, rows: Iterator[Row], width: int, most: int, thing: str) -> Iterator[Row]:
    for count, (line, cells) in enumerate(rows, 1):
        if count > most:
            raise FileProblem(name, f"a file must have at most {most:,} {thing}s", None, "send a part", line=line)
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if len(cells) != width:
            rule, got = f"a row must have {width:,} values, one for each column", Bare(f"{len(cells):,}")
            raise FileProblem(name, rule, got, "put quotation marks around text with commas", line=line)
        yield line, cells
