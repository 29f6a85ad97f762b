"""The mistakes at a glance: how often the network is right, how sure it is, who is taken for what, and who that is."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import services, state
from dashboard.schema import SPLITS, InstanceFilter, Instances
from dashboard.view import mistakes_text
from dashboard.view.mistakes_text import ShareRow
from dashboard.view.notes import target_text
from dashboard.view.plain_text import for_markdown
from dashboard.widgets.graph_view import confusion_view
from dashboard.widgets.network import nodes_title
from dashboard.widgets.notes import marks_of

MATRIX, LIST = "confusion", "instances"  # keys of the views
THINGS = {"node": "node", "graph": "graph", "link": "pair"}
RANGE_TITLES = {
    state.WITH_DEGREE: "Degree",
    state.WITH_HOMOPHILY: "Neighbours of its class, %",
}
RANGE_TITLES_OF_GRAPHS = {state.WITH_DEGREE: "Mean degree"}
MOTIF_TITLES = {state.ANY: "inside and outside a motif", "inside": "in a motif", "outside": "in no motif"}
ROWS = 6  # of the list, before it scrolls


def choose_instances(
    card: services.Card, everyone: Instances, complaints: list[str]
) -> tuple[InstanceFilter, tuple[int, int] | None]:
    """Which part of the split and which instances are counted, and which cell is listed."""
    has_split, has_motif = bool((everyone.split != "").any()), bool((everyone.motif == 1).any())
    bounds = _bounds(everyone)
    only = state.instances_filter_from_query(has_split, has_motif, bounds, complaints.append)
    changed = {"on_change": state.instances_filter_changed, "args": (bounds,)}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="which"):
        if has_split:
            st.segmented_control(
                "Part of the split",
                (*SPLITS[::-1], state.EVERY_SPLIT),
                format_func=mistakes_text.part_title,
                key=state.SPLIT,
                required=True,
                label_visibility="collapsed",
                **changed,
            )
        _more_filters(card, bounds, has_motif, changed)
        parts = _described(only)
        if parts:
            st.markdown(for_markdown(f"Only {', '.join(parts)}"))
            st.button("Take the filter away", type="tertiary", on_click=state.no_instances_filter, key="unfilter")
    classes = len(everyone.class_names)
    cell = state.cell_from_query(classes if everyone.known.any() else 1, classes, complaints.append)
    return only, cell


def _bounds(everyone: Instances) -> dict[str, tuple[int, int]]:
    """The whole range of what can be said of these instances."""
    columns = {
        state.WITH_DEGREE: everyone.degree,
        state.WITH_SIZE: everyone.size,
        state.WITH_HOMOPHILY: 100 * everyone.homophily,
    }
    found = {}
    for name, values in columns.items():
        there = values[np.isfinite(values)]
        if len(there) and there.min() < there.max():
            found[name] = (int(np.floor(there.min())), int(np.ceil(there.max())))
    return found


def _more_filters(card: services.Card, bounds: dict[str, tuple[int, int]], has_motif: bool, changed: dict) -> None:
    titles = (
        RANGE_TITLES | (RANGE_TITLES_OF_GRAPHS if card.task == "graph" else {}) | {state.WITH_SIZE: nodes_title(card)}
    )
    with st.popover("Filter", icon=":material/filter_list:", key="instances_filter"):
        for name, (low, high) in bounds.items():
            st.slider(titles[name], low, high, key=name, **changed)
        if has_motif:
            st.selectbox("Motif", state.MOTIFS, format_func=MOTIF_TITLES.__getitem__, key=state.WITH_MOTIF, **changed)
        st.text_input("Name contains", key=state.WITH_TEXT, max_chars=state.MOST_TEXT, **changed)


def _described(only: InstanceFilter) -> list[str]:
    """What the filter lets through, in words."""
    found = []
    for title, ends, scale in (("degree", only.degree, 1), ("size", only.size, 1), ("homophily", only.homophily, 100)):
        if ends is not None:
            unit = "\u00a0%" if scale == 100 else ""
            found.append(f"{title} {ends[0] * scale:.0f} to {ends[1] * scale:.0f}{unit}")
    if only.motif is not None:
        found.append(MOTIF_TITLES["inside" if only.motif else "outside"])
    return found + ([f"with “{only.text}” in the name"] if only.text else [])


def show_overview(
    card: services.Card, found: services.Mistakes, only: InstanceFilter, cell: tuple[int, int] | None
) -> None:
    """The matrix and its list on the left, shares and calibration on the right."""
    left, right = st.columns(2, gap="large")
    with left:
        _show_matrix(found, cell)
        show_list(card, found, cell)
    with right:
        if found.overview.accuracy.count:
            _show_shares(card, found, only)


def _show_shares(card: services.Card, found: services.Mistakes, only: InstanceFilter) -> None:
    dark = st.context.theme.type == "dark"
    parts = [
        ShareRow(mistakes_text.PARTS[part], share, chosen=part == only.split) for part, share in found.by_split.items()
    ]
    is_split = any(found.by_split)  # else all are in no part
    classes = [
        ShareRow(name, share, colour)
        for name, colour, share in zip(found.class_names, found.colours, found.overview.by_class, strict=False)
    ]
    everyone = [] if only.split else [ShareRow("all", found.overview.accuracy, chosen=True)]
    shares = [("By part of the split", [*parts, *everyone])] if is_split else []
    st.html(mistakes_text.share_table([*shares, ("By true class", classes)], dark=dark))
    st.html(mistakes_text.calibration_table(found.overview.calibration, dark=dark))
    how = mistakes_text.calibration_said(found.overview)
    st.markdown(for_markdown(f"{how} {mistakes_text.JUDGED_LINKS}" if card.task == "link" else how))


def _show_matrix(found: services.Mistakes, cell: tuple[int, int] | None) -> None:
    classes = list(zip(found.class_names, found.colours, strict=False))
    confusion_view(
        MATRIX,
        classes if found.labelled else [("all", "")],
        classes,
        found.cells(),
        down="true" if found.labelled else "",
        diagonal=found.labelled,
        chosen=cell,
        on_click=partial(state.cell_clicked, MATRIX, len(classes)),
    )


def show_list(card: services.Card, found: services.Mistakes, cell: tuple[int, int] | None) -> None:
    """Who is in the cell, confidently wrong first; a click anywhere in a row looks at it."""
    listed, names = found.listed(cell), found.class_names
    truth = names[cell[0]] if cell and found.labelled else None
    predicted = names[cell[1]] if cell else None
    title = mistakes_text.list_title(len(listed), truth, predicted, THINGS[card.task], labelled=found.labelled)
    instance_list(
        card,
        title,
        services.table(listed),
        [found.target(number) for number in listed.numbers.tolist()],
        key=f"{LIST} {card.dataset} {card.model} {cell} {len(listed)}",
        file_name=f"{card.dataset}-{card.model}-{'mistakes' if cell is None else '-'.join(map(str, cell))}.csv",
        as_csv=lambda: services.list_as_csv(listed),
        dropped=("true", "predicted") if cell is not None else () if found.labelled else ("true",),
        alt="The instances that are listed, the surest first",
        nobody="There is nobody in it."
        if cell
        else "Nothing is wrong here: choose a cell, another part or another filter.",
    )


def instance_list(
    card: services.Card,
    title: str,
    table: pd.DataFrame,
    targets: Sequence[int | tuple[int, int]],
    *,
    key: str,
    file_name: str,
    as_csv: Callable[[], str],
    alt: str,
    dropped: Sequence[str] = (),
    titles: Mapping[str, str] | None = None,
    nobody: str = "There is nobody in it.",
) -> None:
    """A list of instances with its title and its file; a click anywhere in a row looks at it."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{for_markdown(title)}**")
        st.download_button(
            "CSV",
            as_csv,
            file_name=file_name,
            mime="text/csv",
            key=f"save_{key.partition(' ')[0]}",
            on_click="ignore",
            disabled=not len(table),
            icon=":material/download:",
        )
    if not len(table):
        st.caption(nobody)
        return
    st.dataframe(
        _with_marks(_shown_columns(table, card, dropped), card, targets),
        key=key,
        hide_index=True,
        height=38 + 35 * min(len(table), ROWS),
        row_height=35,
        on_select=partial(state.instance_chosen, key, card, targets),
        selection_mode="single-cell",
        column_config=_columns(card, titles or {}),
        alt=alt,
    )


def _columns(card: services.Card, titles: Mapping[str, str]) -> dict:
    """How each column is titled and written; `titles` where it is not as usual."""
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    share = partial(
        st.column_config.ProgressColumn, min_value=0, max_value=100, format="%.1f %%", width=120, color="gray"
    )
    return {
        "number": number(card.task.capitalize(), width=70, format="%d"),
        "name": text("Name"),
        "true": text("True"),
        "predicted": text("Predicted"),
        "confidence": share("Confidence"),
        **{name: text(title) for name, title in titles.items()},
        **{f"{name}_confidence": share(f"{title}, sure", width=105) for name, title in titles.items()},
        "degree": number("Degree", format="%.0f" if card.task != "graph" else "%.1f", width=75),
        "size": number(nodes_title(card), format="%.0f", width=75),
        "homophily": number("Same class", format="%.0f %%", width=95, help="Of its neighbours"),
        "split": text("Part", width=70),
        "note": text("Note", width=95),
    }


def _with_marks(table: pd.DataFrame, card: services.Card, targets: Sequence[int | tuple[int, int]]) -> pd.DataFrame:
    """With how the instances are marked, where any of them is: second, so that it is in sight."""
    marks = marks_of(card)
    found = [marks.get(target_text(target), "") for target in targets]
    if any(found):
        table.insert(1, "note", found)
    return table


def _shown_columns(table: pd.DataFrame, card: services.Card, also: Sequence[str]) -> pd.DataFrame:
    """Without what is the same in every row or says nothing."""
    dropped = [name for name in ("degree", "size", "homophily") if not table[name].notna().to_numpy().any()]
    dropped += ["number"] if card.task == "link" else []
    dropped += [] if card.task == "link" or _are_named(table) else ["name"]
    dropped += ["split"] if len(set(table["split"])) == 1 else []
    return table.drop(columns=[*dropped, *also])


def _are_named(table: pd.DataFrame) -> bool:
    """Whether names say more than numbers."""
    return not all(name.endswith(str(number)) for name, number in zip(table["name"], table["number"], strict=True))
