"""Systematic mistakes: what the mistakes that are listed have in common that right predictions have not."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.schema import Group, Systematic
from dashboard.view import explanation_text, model_text, pattern_text
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.view.report import NamedGroup

MOST_SHOWN = 6
FEWEST = 5  # mistakes from which a pattern can be told


def show_patterns(card: services.Card, found: services.Mistakes, cell: tuple[int, int] | None) -> None:
    """A button, since many explanations take some seconds; then the patterns, or that there is none."""
    if not found.labelled or (cell is not None and cell[0] == cell[1]):
        return
    groups = services.compared(found, cell)
    if len(groups[0]) < FEWEST or not groups[1]:
        return
    known = services.known_patterns(card.dataset, card.model, groups)
    place = st.empty()
    asked = known is None and place.button(
        "What do these mistakes have in common?",
        icon=":material/group_work:",
        key="find_patterns",
        help="They and as many right ones are explained; what is significantly more frequent among the mistakes is a pattern.",
    )
    if asked:
        known = _search(place, card, groups)
    if known is not None:
        place.empty()
        _show_found(card, groups, known, len(found.listed(cell)))


def _search(place: DeltaGenerator, card: services.Card, groups: services.Compared) -> Systematic | None:
    """Any touch stops it, and the button for that as well."""
    with place.container():
        bar = st.progress(0.0, text=f"Explaining {len(groups[0]) + len(groups[1])} predictions")
        st.button("Stop", icon=":material/stop:", key="stop_patterns")

    def tell(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            bar.progress(0.0, text=explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Grouping):
            bar.progress(progress.done / progress.of, text=pattern_text.progress_said(progress.done, progress.of))

    try:
        return services.patterns(card.dataset, card.model, groups, tell)
    except (services.RunRefused, ValueError) as error:
        place.error(sentence(error))
        return None


def _show_found(card: services.Card, groups: services.Compared, found: Systematic, listed: int) -> None:
    wrong, right = len(groups[0]), len(groups[1])
    # read here: a file is made when somebody clicks, where no session is
    names = {each: state.group_name(_id_of(card, each)) for each in (*found.patterns, *found.by_cause)}
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.header("What these mistakes have in common")
        st.download_button(
            "Groups",
            lambda: services.groups_as_csv(groups, found, names),
            file_name=f"{card.dataset}-{card.model}-groups.csv",
            mime="text/csv",
            key="save_groups",
            on_click="ignore",
            icon=":material/download:",
            help="All groups, with the names you give them and who is in them, as CSV",
        )
    if not found.patterns:
        st.markdown(for_markdown(pattern_text.no_pattern(wrong, right)))
    for group in found.patterns[:MOST_SHOWN]:
        _show_group(card, groups, found, group)
    rest = found.patterns[MOST_SHOWN:]
    if rest:
        st.markdown(f"{len(rest)} more are less certain; they are in the file.")
    if found.patterns:
        st.markdown(for_markdown(pattern_text.left_over(services.in_no_pattern(found, wrong))))
    st.caption(for_markdown(pattern_text.how_found(wrong, listed, right, found.num_tested)))
    with st.expander(
        f"The same {wrong:,} mistakes by their cause", key="by_cause", expanded=not found.patterns, on_change="rerun"
    ) as causes:
        if causes.open:
            st.caption("Each is in one group, that of the first rule that holds. Only mistakes have a cause: none of these is called a pattern.")  # fmt: skip
            for group in found.by_cause:
                _show_group(card, groups, found, group)


def _show_group(card: services.Card, groups: services.Compared, found: Systematic, group: Group) -> None:
    """Its most typical member as a picture, the rule and the counts beside it, a name, and the way to that member."""
    dark = st.context.theme.type == "dark"
    typical = services.typical_member(card, groups, found, group, dark=dark)
    caption = f"What the network looks at in {typical.title}"
    picture, words = st.columns([1, 2.4], gap="medium", vertical_alignment="center")
    with picture:
        st.image(typical.svg, alt=caption, width="stretch")
    with words:
        rule, counts = group.trait.text, pattern_text.counts_said(group)
        st.markdown(f"**{for_markdown(rule)}**  \n{for_markdown(counts)}")
        st.caption(for_markdown(pattern_text.typical_said(typical.title, typical.note)))
        light = services.typical_member(card, groups, found, group, dark=False) if dark else typical
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _name_it(card, group, NamedGroup(model_text.model_title(card), rule, counts, caption, light.svg))
            target = groups[0][group.typical]
            st.button(
                f"Look at {typical.title}",
                key=f"typical {group.trait.kind} {group.trait.key}",
                on_click=state.choose_link if isinstance(target, tuple) else state.choose_target,
                args=target if isinstance(target, tuple) else (card, target),
            )


def _name_it(card: services.Card, group: Group, saved: NamedGroup) -> None:
    """What has a name is saved: it is in the file of groups and in the report."""
    widget = " ".join(("name", *_id_of(card, group)))
    state.set_widget(widget, state.group_name(_id_of(card, group)))
    st.text_input(
        f"Name of the group: {group.trait.text}",
        key=widget,
        max_chars=state.MOST_NAME,
        placeholder="Name this group",
        label_visibility="collapsed",
        width=220,
        on_change=state.group_named,
        args=(widget, _id_of(card, group), saved),
    )


def _id_of(card: services.Card, group: Group) -> tuple[str, str, str, str]:
    return card.dataset, card.model, group.trait.kind, group.trait.key
