"""Two networks on the same data, before and after a fix: who gained, who lost, where they disagree; one click to each."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import InstanceFilter, Systematic
from dashboard.view import explanation_text, mistakes_text, model_text, pattern_text, versus_text
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.widgets.graph_view import confusion_view
from dashboard.widgets.mistakes import THINGS, instance_list
from dashboard.widgets.second_network import Look, select_second, show_second

TABLE, LIST = "versus", "versus_list"  # keys of the views
FEWEST, MOST_SHOWN = 5, 6  # mistakes from which a pattern can be told, and patterns


def choose_other(card: services.Card, complaints: list[str]) -> services.Card | None:
    """The network that is compared with; None where none is chosen, or where there is no other."""
    others = {each.model: each for each in services.other_networks(card)}
    if not others:
        return None
    chosen = state.one_of(state.SECOND, (state.NO_SECOND, *others), state.NO_SECOND, complaints.append)
    st.header("Before and after: two networks on the same data")
    select_second(others, "Compare with")
    return others.get(chosen)


def show_versus(
    cards: tuple[services.Card, services.Card], only: InstanceFilter, complaints: list[str]
) -> int | tuple[int, int] | None:
    """Both networks on the instances that are counted; returns who is looked at, where a cell of the table was chosen."""
    try:
        with st.spinner("Asking both networks", show_time=True):
            found = services.versus(cards[0].dataset, (cards[0].model, cards[1].model), only)
    except (services.RunRefused, ValueError) as error:
        st.error(sentence(error))
        return None
    names = (model_text.model_title(cards[0]), model_text.model_title(cards[1]))
    rows, columns = found.cells().shape
    cell = state.cell_from_query(rows, columns, complaints.append, state.VERSUS)
    thing = f"{mistakes_text.PARTS[only.split]} {THINGS[cards[0].task]}" if only.split else THINGS[cards[0].task]
    title, words = versus_text.who_is_better(found.both, names, thing)
    st.markdown(f"**{for_markdown(title)}**  \n{for_markdown(words)}")
    left, right = st.columns(2, gap="large")
    with left:
        _show_cells(found, names, cell)
        listed = _show_list(cards, found, names, cell)
    with right:
        if found.labelled:
            dark = st.context.theme.type == "dark"
            st.html(versus_text.versus_table(found.both, names, found.colours, dark=dark))
            st.markdown(for_markdown(versus_text.classes_said(found.both)))
    _show_common(cards, found, cell)
    return found.target(int(listed.first.numbers[0])) if cell is not None and len(listed) else None


def _show_cells(found: services.Versus, names: versus_text.Names, cell: services.Cell) -> None:
    classes = list(zip(found.class_names, found.colours, strict=False))
    outcomes = [(title, "") for title in versus_text.columns(names, len(found.outcomes))]
    columns = outcomes if found.labelled else classes
    confusion_view(
        TABLE,
        [("all", ""), *classes] if found.labelled else classes,
        columns,
        found.cells(),
        down="true" if found.labelled else names[0],
        across="right" if found.labelled else names[1],
        diagonal=not found.labelled,
        chosen=cell,
        on_click=partial(state.cell_clicked, TABLE, len(columns), state.VERSUS),
    )


def _show_list(cards, found: services.Versus, names: versus_text.Names, cell: services.Cell):
    listed, thing = found.listed(cell), THINGS[cards[0].task]
    if found.labelled:
        outcome = None if cell is None else versus_text.columns(names, len(found.outcomes))[cell[1]]
        of_class = None if cell is None or cell[0] == 0 else found.class_names[cell[0] - 1]
        title = versus_text.list_title(len(listed), outcome, of_class, thing)
    else:
        classes = None if cell is None else (found.class_names[cell[0]], found.class_names[cell[1]])
        title = versus_text.disagreement_title(len(listed), names, classes, thing)
    instance_list(
        cards[0],
        title,
        services.versus_table(listed),
        [found.target(number) for number in listed.first.numbers.tolist()],
        key=f"{LIST} {cards[0].dataset} {cards[0].model} {cards[1].model} {cell} {len(listed)}",
        file_name=f"{cards[0].dataset}-{cards[0].model}-{cards[1].model}.csv",
        as_csv=lambda: services.versus_as_csv(listed, names),
        dropped=_dropped(found, cell),
        titles=dict(zip(("first", "second"), names, strict=True)),
        alt="The instances that are listed, the largest change first",
    )
    return listed


def _show_common(cards: tuple[services.Card, services.Card], found: services.Versus, cell: services.Cell) -> None:
    """Why: what the mistakes that only one network makes have in common, where that is asked for."""
    changed = found.changed(cell)
    if changed is None or len(changed[1][0]) < FEWEST or not changed[1][1]:
        return
    card, groups = cards[changed[0]], changed[1]
    known = services.known_patterns(card.dataset, card.model, groups)
    place = st.empty()
    if known is None and place.button(
        f"What do these mistakes of {for_markdown(model_text.model_title(card))} have in common?",
        icon=":material/group_work:",
        key="find_changed",
        help="They and as many that both have right are explained under this network.",
    ):
        known = _search(place, card, groups)
    if known is None:
        return
    place.empty()
    st.markdown(f"**What these mistakes of {for_markdown(model_text.model_title(card))} have in common**")
    if not known.patterns:
        st.markdown(for_markdown(pattern_text.no_pattern(len(groups[0]), len(groups[1]))))
    for each in known.patterns[:MOST_SHOWN]:
        st.markdown(f"- {for_markdown(f'{each.trait.text} {pattern_text.counts_said(each)}')}")


def _search(place: DeltaGenerator, card: services.Card, groups: services.Compared) -> Systematic | None:
    """Any touch stops it."""

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            place.caption(explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Grouping):
            place.progress(progress.done / progress.of, text=pattern_text.progress_said(progress.done, progress.of))

    try:
        return services.patterns(card.dataset, card.model, groups, tell)
    except (services.RunRefused, ValueError) as error:
        place.error(sentence(error))
        return None


def _dropped(found: services.Versus, cell: services.Cell) -> tuple[str, ...]:
    """Columns that say the same in every row."""
    if not found.labelled:
        return ("true", *(("first", "second") if cell else ()))
    return ("true",) if cell is not None and cell[0] > 0 else ()


def show_instance_under(card: services.Card, second: services.Card, answer: services.Answer, data: str) -> None:
    """The instance under both networks, on one layout, with the edges that both keep marked."""
    st.subheader(f"And under {for_markdown(model_text.model_title(second))}?")
    show_second(st.empty(), card, second.model, answer, Look(data, "debug", near=services.CLOSE, causes=True))
