"""Text that came from data, files or a keyboard, shown letter by letter: never as Markdown, never as HTML."""

import html
import string

_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in string.punctuation} | {"\n": " ", "\r": " "})


def for_markdown(text: object) -> str:
    """For st.error, st.caption and labels, all of which read Markdown: every mark is a letter."""
    return str(text).translate(_ESCAPES)


def for_plotly(text: object) -> str:
    """For labels in a figure, where plotly would read <b> and <a href>."""
    return html.escape(str(text), quote=False)


def sentence(error: object) -> str:
    """An error's message, ready for st.error: a capital, a full stop, no markup."""
    text = str(error).strip()
    return for_markdown(text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else "."))


def shortened(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
