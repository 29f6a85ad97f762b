"""Other methods beside what is shown: drawn the same way at the same size, ranked for this target and over the data set."""

import streamlit as st

from dashboard import services, state
from dashboard.view import explanation_text, ranking
from dashboard.view.picture import Panel
from dashboard.view.plain_text import for_markdown
from dashboard.view.ranking import RankRow
from dashboard.view.things import things_of
from dashboard.widgets.network import LOW, show_network

COLUMNS = 3


def panels_beside(drawing: services.Drawn, comparison: services.Comparison) -> tuple[Panel, ...]:
    """The methods that were chosen, the best first."""
    return tuple(_panel(drawing, rank, each) for rank, each in comparison.ranked if each in comparison.others)


def _panel(drawing: services.Drawn, rank: int, answer: services.MethodAnswer, *, shown: bool = False) -> Panel:
    title = services.described(answer.method).title
    return services.weighed(
        drawing,
        answer.explanation,
        name=answer.method,
        title=f"{rank}. {title}{', as shown above' if shown else ''}",
        terms=explanation_text.TERMS,
        lines=(
            ranking.standing(answer.scores),
            services.about(answer.method, borrowed=answer.borrowed),
            *explanation_text.score_lines(answer.scores),
        ),
    )


def show_methods(card: services.Card, answer: services.Answer, comparison: services.Comparison, subject: str) -> None:
    question = answer.question
    st.subheader("Would another method say the same?")
    st.pills(
        "Methods",
        services.beside_main(question.methods, question.request.method),
        selection_mode="multi",
        format_func=lambda method: services.described(method).title,
        key=state.METHODS,
        on_change=state.methods_to_query,
        label_visibility="collapsed",
    )
    if not comparison.others:
        st.caption("Choose a method above to see it drawn the same way, at the same size.")
        return
    _show_rankings(card, answer, comparison)
    shown = [
        _panel(question.drawing, rank, each, shown=each is answer.own)
        for rank, each in comparison.ranked
        if each is answer.own or each in comparison.others
    ]
    show_network("beside", card, question, shown, height=LOW, columns=min(len(shown), COLUMNS), subject=subject)


def _show_rankings(card: services.Card, answer: services.Answer, comparison: services.Comparison) -> None:
    """For this target, and beside it over the data set, where that was measured."""
    st.markdown(for_markdown(_who_wins(answer, comparison)))
    size = _size(answer)
    here = [
        RankRow(rank, _title(each), each.scores.judged.kept, each.scores.judged.without, each is answer.own)
        for rank, each in comparison.ranked
    ]
    measured = services.over_data_set(card)
    left, right = st.columns(2, gap="large") if measured else (st.container(), None)
    dark = st.context.theme.type == "dark"
    left.html(ranking.ranking(here, f"This target, K_M = {size}", dark=dark))
    if measured and right is not None:
        heading = ranking.over_data_set(measured.targets, measured.part)
        rows = [
            RankRow(rank, services.described(name).title, each.alone, each.without, name == answer.request.method)
            for rank, name, each in measured.ranked
        ]
        right.html(ranking.ranking(rows, heading, dark=dark))
    st.caption(for_markdown(ranking.how_to_read(answer.own.scores.judged.full, measured and measured.full)))


def _size(answer: services.Answer) -> str:
    """So many nodes or edges, which in a molecule are atoms and bonds."""
    many = things_of(answer.question.drawing.picture).many(answer.request.config.k_m_unit)
    return explanation_text.counted(answer.explanation.size, many.removesuffix("s"))


def _title(answer: services.MethodAnswer) -> str:
    return services.described(answer.method).title


def _who_wins(answer: services.Answer, comparison: services.Comparison) -> str:
    own = next(rank for rank, each in comparison.ranked if each is answer.own)
    others = [(rank, each) for rank, each in comparison.ranked if each is not answer.own]
    return ranking.who_wins(
        _title(answer.own),
        [(_title(each), each.scores) for rank, each in others if rank < own],
        [_title(each) for rank, each in others if rank == own],
        _size(answer),
        chance=services.described(services.CHANCE_METHOD).title,
    )
