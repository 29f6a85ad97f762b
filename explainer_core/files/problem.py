"""What is wrong with a file, said with its place: file, line, column, the rule, the value and the way out."""

from explainer_core.checks import cut, shown

LONGEST = 500  # letters of a message
SHORT = 60  # letters of a name in it


class FileProblem(ValueError):
    """One sentence for whoever sent the file; `file` says beside which file to show it, `fields` what may be chosen instead."""

    def __init__(
        self,
        file: str,
        rule: str,
        got: object = None,
        way_out: str = "",
        *,
        line: int | None = None,
        column: str | int | None = None,
        called: str = "column",
    ):
        self.file, self.rule, self.line, self.column = file, rule, line, column
        self.fields: tuple[str, ...] = ()
        where = [printable(file)]
        if line is not None:
            where.append(f"line {line:,}")
        if column is not None:
            where.append(f"{called} {column}" if isinstance(column, int) else f"{called} {printable(column)!r}")
        value = "" if got is None else f" (got {got if isinstance(got, Bare) else shown(got)})"
        super().__init__(cut(f"{', '.join(where)}: {rule}{value}{'; ' if way_out else ''}{way_out}", LONGEST))


class Bare(str):
    """A value that is already words: "nothing", "3,000 different ones"."""


def printable(text: str) -> str:
    """A name from a file as a message can hold it: short, on one line."""
    return cut("".join(letter if letter.isprintable() else "�" for letter in text[: SHORT + 1]), SHORT)
