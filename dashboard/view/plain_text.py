"""Text that came from data, files or a keyboard, shown letter by letter: never as Markdown, never as HTML."""

import html
import re
import string

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What a spreadsheet takes for the beginning of a formula, in both widths; blanks and marks nobody sees may stand before it.
_FORMULA = re.compile(
    r"[\s\ufffd\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*[=+\-@＝＋－＠﹢﹣﹦﹫−]|[\t\r\n]"
)
_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in string.punctuation} | {"\n": " ", "\r": " "})


def for_markdown(text: object) -> str:
    """For st.error, st.caption and labels, all of which read Markdown: every mark is a letter."""
    return str(text).translate(_ESCAPES)


def for_plotly(text: object) -> str:
    """For labels in a figure, where plotly would read <b> and <a href>."""
    return html.escape(str(text), quote=False)


def for_xml(text: object) -> str:
    """For an XML file, before its marks are escaped: what XML cannot hold becomes a replacement mark, every line end one."""
    return _NOT_XML.sub("\ufffd", str(text)).replace("\r\n", "\n").replace("\r", "\n")


def for_spreadsheet(text: object) -> str:
    """For a cell of a CSV file: a text that begins like a formula would be run, behind an apostrophe it is read as text."""
    text = _NOT_XML.sub("\ufffd", str(text))
    return f"'{text}" if _FORMULA.match(text) else text


def sentence(error: object) -> str:
    """An error's message, ready for st.error: a capital, a full stop, no markup."""
    text = str(error).strip()
    return for_markdown(text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else "."))


def shortened(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
