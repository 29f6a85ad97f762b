"""Notes: mark the instance that is looked at, with a line of text; all of them as a list, a report with pictures and a CSV file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import services, state
from dashboard.address import server_address
from dashboard.schema import edits_to_text
from dashboard.view import explanation_text, model_text, report, svg, what_if_text
from dashboard.view.notes import MARKS, MOST_TEXT, Note, Shown, target_text
from dashboard.view.plain_text import for_markdown, for_spreadsheet, sentence, shortened
from dashboard.widgets.explanation_view import headline_of

LIST = "all_notes"
ROWS = 6
KEPT_HERE = "Kept on this machine, in {}."
KEPT_IN_SESSION = "Kept until this page is closed, for nobody else to see: save the report to keep them."


def show_notes(
    info: services.DatasetInfo,
    card: services.Card,
    request: services.Request,
    facts: services.TargetFacts,
    answer: services.Answer | None,
) -> None:
    """The form, the notes of this instance, and all of the data set."""
    st.subheader("Notes")
    said = st.container()
    _show_form(card, request, facts, answer, said)
    try:
        notes = kept(card.dataset)
    except services.NotesUnavailable as broken:
        said.error(sentence(broken))
        return
    last = state.saved_note()
    for note in notes:
        if note.id == last:  # which one: the word alone might be of the one before
            said.success(for_markdown(f"Saved: {_told(note, 60)}"))
    _show_own(notes, card, request)
    if notes:
        _show_all(info, card, notes)


def is_own_machine() -> bool:
    return server_address().is_own


def kept(dataset: str) -> tuple[Note, ...]:
    """The newest first."""
    if is_own_machine():
        return services.kept_notes(dataset)
    return tuple(note for note, _ in state.visitors_notes(dataset))


def marks_of(card: services.Card) -> dict[str, str]:
    """How instances are marked under this network, by target; of several notes the newest counts."""
    try:
        notes = kept(card.dataset)
    except services.NotesUnavailable:
        return {}  # told where notes are written
    return {note.target: _mark(note) for note in reversed(notes) if note.model == card.model and note.kind == card.task}


def kept_with_pictures(dataset: str) -> Callable[[], tuple[tuple[Note, Shown], ...]]:
    """To be called when a file is asked for, which is outside of the session: its notes are taken along now."""
    if is_own_machine():
        return partial(services.kept_with_pictures, dataset)
    notes = state.visitors_notes(dataset)
    return lambda: tuple((note, services.unpacked(shown)) for note, shown in notes)


def _show_form(card, request, facts, answer, said) -> None:
    """What could not be saved stays in the box."""
    with st.form("note", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            mark = st.segmented_control(
                "What the network rests on here is",
                list(MARKS),
                format_func=lambda mark: f"{MARKS[mark]} {mark}",
                default="unsure",
                required=True,
                key=state.box_key("note_mark"),
            )
            text = st.text_input(
                "A line about it",
                max_chars=MOST_TEXT,
                key=state.box_key("note_text"),
                placeholder="why you think so",
                width="stretch",
            )
            asked = st.form_submit_button("Save note", icon=":material/bookmark_add:", key="save_note")
        where = KEPT_HERE.format(services.notes_file()) if is_own_machine() else KEPT_IN_SESSION
        st.caption(for_markdown(where))
    if not asked:
        return
    edits = _edits_made(request)
    note = services.new_note(card, request, facts, str(mark), text, edits_to_text(edits))
    shown = _shown(replace(request, edits=edits), facts, answer)
    try:
        if is_own_machine():
            services.keep_note(note, shown)
        else:
            state.add_visitors_note(note, services.packed(shown))
    except ValueError as broken:
        said.error(sentence(broken))
        return
    state.note_saved(note.id)
    st.rerun()


def _edits_made(request: services.Request) -> tuple:
    """The edits of the link; those that cannot be made are told of where they are made."""
    edits = state.edits_from_query(lambda _: None)
    try:
        services.ask_edited(replace(request, edits=edits))
    except (ValueError, IndexError):
        return ()
    return edits


def _shown(edited: services.Request, facts: services.TargetFacts, answer: services.Answer | None) -> Shown:
    """What the page shows of the instance: its part, and its changed graph where there are changes."""
    remarks = [] if answer is None else [". ".join(headline_of(answer))]
    if edited.edits:
        node, feature = services.names_in(edited)
        remarks.append(what_if_text.edits_said(edited.edits, node, feature))
        remarks.append(what_if_text.now_said(facts, services.ask_edited(edited)))
    pictures = []
    if answer is not None:
        drawing = answer.question.drawing
        panel = services.weighed(
            drawing, answer.explanation, name="why", title=facts.name, terms=explanation_text.TERMS
        )
        pictures.append(("What the prediction rests on", _svg(drawing.picture, panel)))
    if edited.edits:
        changed = services.changed_drawing(edited)
        panel = services.edited_panel(changed, facts.name, ())
        pictures.append(("What was changed", _svg(changed.drawing.picture, panel)))
    return Shown(tuple(explanation_text.sentences(facts, remarks)), tuple(pictures))


def _svg(picture, panel) -> str:
    return svg.svg(picture, panel, width=480, height=400, title=False)


def _show_own(notes: Sequence[Note], card: services.Card, request: services.Request) -> None:
    """The notes of this instance under this network; a note of other weights says so."""
    target = (request.kind, target_text(request.target))
    own = [note for note in notes if note.model == card.model and (note.kind, note.target) == target]
    for note in own:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            outdated = f" ({report.OTHER_WEIGHTS})" if report.is_outdated(note, _networks(card)) else ""
            st.markdown(for_markdown(_told(note) + outdated), width="stretch")
            st.button(
                "Delete",
                icon=":material/delete:",
                type="tertiary",
                key=f"delete_note {note.id}",
                on_click=_delete,
                args=(note.id,),
            )


def _told(note: Note, most: int = MOST_TEXT) -> str:
    text = f": “{shortened(note.text, most)}”" if note.text else ""
    return f"{_mark(note)}{text}"


def _mark(note: Note) -> str:
    return f"{MARKS[note.mark]} {note.mark}"


def _delete(id: str) -> None:
    services.delete_note(id) if is_own_machine() else state.delete_visitors_note(id)


def _networks(card: services.Card) -> dict[str, report.Network]:
    """Those of the data set as they are now, by name."""
    cards = [each for each in (*services.all_cards(), *services.case_cards()) if each.dataset == card.dataset]
    return {each.model: report.Network(model_text.model_title(each), services.weights_of(each)) for each in cards}


def _show_all(info: services.DatasetInfo, card: services.Card, notes: tuple[Note, ...]) -> None:
    name, networks, pictures = f"{card.dataset}-notes", _networks(card), kept_with_pictures(card.dataset)
    groups = state.named_groups(card.dataset)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        counted = explanation_text.counted(len(notes), "note")
        st.markdown(f"**{for_markdown(f'{info.title}: {counted}')}**")
        with st.container(horizontal=True, width="content", gap="xsmall"):
            st.download_button(
                "Report",
                lambda: report.report(info.title, pictures(), networks, groups),
                file_name=f"{name}.html",
                mime="text/html",
                key="save_report",
                on_click="ignore",
                icon=":material/description:",
                help="One HTML page with pictures, which opens offline.",
            )
            st.download_button(
                "CSV",
                lambda: services.notes_as_csv(notes),
                file_name=f"{name}.csv",
                mime="text/csv",
                key="save_notes",
                on_click="ignore",
                icon=":material/download:",
            )
    table = pd.DataFrame(
        {
            "mark": [_mark(note) for note in notes],
            "what": [for_spreadsheet(note.name) for note in notes],
            "text": [for_spreadsheet(note.text) for note in notes],
            "model": [report.title_of(note, networks) for note in notes],
            "predicted": [note.predicted for note in notes],
            "true": [note.truth for note in notes],
        }
    )
    st.dataframe(
        table,
        key=(key := f"{LIST} {card.dataset} {len(notes)} {notes[0].id}"),
        hide_index=True,
        height=38 + 35 * min(len(notes), ROWS),
        row_height=35,
        on_select=partial(state.note_chosen, key, notes),
        selection_mode="single-cell",
        column_config={
            name: st.column_config.TextColumn(title)
            for name, title in (
                ("mark", "Mark"),
                ("what", {"node": "Node", "graph": "Graph", "link": "Pair"}[card.task]),
                ("text", "Note"),
                ("model", "Network"),
                ("predicted", "Predicted"),
                ("true", "True"),
            )
        },
        alt="All notes of this data set, the newest first",
    )
