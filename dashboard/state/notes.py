"""Notes of a visitor of a shared server, in their session and nowhere else; and the box that a note is typed into."""

import streamlit as st

from dashboard.schema import InvalidValue
from dashboard.state.names import CELL, GRAPH, HEAD, MODEL, NODE, OF_TARGET, SMILES, SOURCE, VERSUS
from dashboard.state.query import set_query_params
from dashboard.view.notes import Note

_NOTES = "notes of this visitor"
_TYPED = "notes typed so far"
_SAVED = "note that was saved"
MOST_NOTES = 100  # of one visitor: their pictures are in the server's memory


def visitors_notes(dataset: str) -> tuple[tuple[Note, bytes], ...]:
    """With what the page showed, packed; the newest first."""
    return tuple(each for each in st.session_state.get(_NOTES, ()) if each[0].dataset == dataset)


def add_visitors_note(note: Note, shown: bytes) -> None:
    notes = st.session_state.get(_NOTES, ())
    if len(notes) >= MOST_NOTES:
        raise InvalidValue(
            f"at most {MOST_NOTES} notes are kept for a visitor", "one more", "save the report and delete some"
        )
    st.session_state[_NOTES] = ((note, shown), *notes)


def delete_visitors_note(id: str) -> None:
    st.session_state[_NOTES] = tuple(each for each in st.session_state.get(_NOTES, ()) if each[0].id != id)


def box_key(name: str) -> str:
    """The key of a widget of the form; another one after each note, so that the box is empty again."""
    return f"{name} {st.session_state.get(_TYPED, 0)}"


def note_saved(id: str) -> None:
    """The box is emptied only now: what could not be saved stays in it."""
    st.session_state[_TYPED] = st.session_state.get(_TYPED, 0) + 1
    st.session_state[_SAVED] = id


def saved_note() -> str | None:
    """The note that was saved last; said once."""
    return st.session_state.pop(_SAVED, None)


def note_chosen(key: str, notes: tuple[Note, ...]) -> None:
    """Called when a row in the list of notes was clicked: what it is about is looked at, under the network it is of."""
    cells = st.session_state[key]["selection"]["cells"]
    if not cells or not 0 <= cells[0][0] < len(notes):
        return
    note = notes[cells[0][0]]
    if note.kind == "link":
        source, _, head = note.target.partition(",")
        where = {SOURCE: source, HEAD: head}
    else:
        where = {{"node": NODE, "graph": GRAPH, "smiles": SMILES}[note.kind]: note.target}
    set_query_params((*OF_TARGET, CELL, VERSUS), {MODEL: note.model, **where})
