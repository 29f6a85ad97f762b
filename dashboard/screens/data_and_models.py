"""The page of data sets and trained models: what each one is, and how well it does."""

from typing import cast

import pandas as pd
import streamlit as st

from dashboard import services, state
from dashboard.view import figures, model_text
from dashboard.view.plain_text import for_markdown, sentence, shortened
from dashboard.widgets.controls import offered
from dashboard.widgets.download import offer_download
from dashboard.widgets.missing import show_broken

PAGE = "data and models"
NO_CLASSES = {"link": "The nodes have no classes: a model tells pairs that are joined from pairs that are not."}
UNKNOWN_CLASSES = "No class is known of these data: what a model predicts cannot be compared with the truth."


def show() -> None:
    state.enter(PAGE)
    st.title("Data sets and models")
    st.write("What each data set holds, and how well the graph neural networks trained on it do.")
    st.caption(for_markdown(f"Networks run on: {services.device_name()}"))
    info = choose_dataset(offered(services.datasets()))
    show_dataset(info)
    if info.name == "molecules":
        show_molecules()
    cards = services.all_cards()
    show_models(info, [card for card in (*cards, *services.case_cards()) if card.dataset == info.name])
    show_overview(cards)


def choose_dataset(infos: dict[str, services.DatasetInfo]) -> services.DatasetInfo:
    names = list(infos)
    missing = state.dataset_from_query(names)
    name = st.pills(
        "Data set",
        names,
        required=True,
        format_func=lambda name: for_markdown(infos[name].title),
        key=state.DATASET,
        on_change=state.dataset_to_query,
    )
    name = cast(str, name)  # required: one is always chosen
    if missing is not None:
        why = services.missing_sentence(missing) or f"there is no data set called “{shortened(missing)}” here"
        st.warning(sentence(f"{why}; this is {infos[name].title}, choose any other above"))
    return infos[name]


def show_dataset(info: services.DatasetInfo) -> None:
    st.header(for_markdown(info.title))
    about, balance = st.columns([3, 2], gap="large")
    with about:
        st.write(for_markdown(info.summary))
        st.write(f"**Task.** {model_text.TASKS[info.task]}")
        if info.citation:
            st.caption(f"Source: {for_markdown(info.citation)}")
        facts = read_facts(info)
        if facts:
            show_sizes(facts)
    with balance:
        if facts and facts.class_counts:
            st.markdown("**Classes**")
            st.plotly_chart(
                figures.class_balance(facts.class_counts, services.class_colours(info.name)),
                config=figures.STILL,
                alt="Bars: how many examples each class has",
            )
        elif facts:
            st.markdown("**Classes**")
            st.caption(NO_CLASSES.get(info.task, UNKNOWN_CLASSES))


def read_facts(info: services.DatasetInfo) -> services.DatasetFacts | None:
    """None where the data cannot be had; the page says why and goes on."""
    if not services.is_here(info):
        offer_download(info)
        return None
    try:
        return services.dataset_facts(info.name)
    except services.DataUnavailable as error:
        st.error(sentence(error))
        st.button("Try again")
        return None


def show_sizes(facts: services.DatasetFacts) -> None:
    classes = len(facts.class_counts)
    sizes = [
        ("Graphs", facts.graphs),
        ("Nodes", facts.nodes),
        ("Directed edges" if facts.directed else "Edges", facts.edges),
        ("Features", len(facts.feature_names)),
        *([("Classes", classes)] if classes else []),
    ]
    with st.container(horizontal=True, gap="medium"):
        for label, value in sizes:
            st.metric(label, f"{value:,}", width="content")
    few = ", ".join(facts.feature_names[:6])
    more = f" and {len(facts.feature_names) - 6:,} more" if len(facts.feature_names) > 6 else ""
    st.caption(for_markdown(f"Features of a node: {few}{more}"))


def show_molecules() -> None:
    st.subheader("Type a molecule")
    text = st.text_input(
        "SMILES",
        placeholder="Nc1ccccc1",
        help="A molecule written as text; databases such as PubChem give it for every compound.",
    )
    if text.strip():
        show_molecule(text)
    st.subheader("Well-known compounds")
    st.caption("The Ames test asks whether a compound damages the DNA of bacteria. Point at the table to search it.")
    table = pd.DataFrame(services.compounds(), columns=["Compound", "Ames test", "SMILES"])
    st.dataframe(table, hide_index=True, height=300, alt="Compounds with their class and their SMILES")


def show_molecule(text: str) -> None:
    try:
        molecule = services.molecule_facts(text)
    except ValueError as error:
        st.error(sentence(error))
        return
    with st.container(horizontal=True, gap="medium"):
        st.metric("Atoms", f"{molecule.atoms:,}", width="content")
        st.metric("Bonds", f"{molecule.bonds:,}", width="content")
        st.metric("Formula", model_text.formula(molecule.elements), width="content")
    st.caption("Every hydrogen counts as an atom of its own, as in the data the models learnt from.")


def show_models(info: services.DatasetInfo, cards: list[services.Card]) -> None:
    st.header("Models")
    show_broken()
    if not cards:
        st.info("There is no model trained on these data here yet. This command tells how to train one:")
        st.code("python -m explainer_core train --help", language="bash")
        return
    if info.models_of:
        st.write(
            f"These compounds are judged by the models trained on {services.datasets()[info.models_of].title}. The score is "
            "the share of compounds they get right among those that were not in their training data."
        )
    rows = [
        figures.AccuracyRow(
            model_text.model_title(card), card.test_accuracy, card.fresh_graph_accuracy, model_text.majority(card)
        )
        for card in cards
        if card.test_accuracy is not None
    ]
    if rows:
        tested = all("test" in card.split for card in cards)
        measured = "unseen compounds" if info.models_of else "test accuracy" if tested else "accuracy"
        st.plotly_chart(
            figures.accuracies(rows, measured),
            config=figures.STILL,
            alt="Accuracy of each model beside the score of guessing",
        )
        st.caption(model_text.how_to_read(cards))
    for card in cards:
        show_card(card)


def show_card(card: services.Card) -> None:
    main = " · main model" if card.main else ""
    score = "" if card.test_accuracy is None else f" · {model_text.percent(card.test_accuracy)}"
    label = f"{model_text.model_title(card)}{score}{main}"
    with st.expander(for_markdown(label)):
        st.write(for_markdown(model_text.architecture(card)))
        scores, training = st.columns(2, gap="large")
        with scores:
            show_rows("Accuracy", model_text.accuracies(card))
        with training:
            show_rows("Training", model_text.training(card))
        if card.command:
            st.caption("The command that trains it again:")
            st.code(card.command, language="bash", wrap_lines=True)
        if card.sha256:
            st.caption("SHA-256 of the weights:")
            st.code(card.sha256, language=None, wrap_lines=True)
        for note in card.notes:
            st.caption(for_markdown(note))


def show_rows(title: str, rows: list[tuple[str, str]]) -> None:
    st.markdown(f"**{title}**")
    cells = {"": [for_markdown(label) for label, _ in rows], " ": [for_markdown(value) for _, value in rows]}
    st.table(pd.DataFrame(cells), border="horizontal", hide_header=True, alt=title)


def show_overview(cards: list[services.Card]) -> None:
    if not cards:
        return
    st.header("All models")
    st.caption("Test accuracy in percent; an empty cell is a model that is not trained on that data set.")
    infos = services.datasets()
    table = pd.DataFrame(
        [
            (infos[card.dataset].title, model_text.model_title(card), round(100 * card.test_accuracy, 1))
            for card in cards
            if card.test_accuracy is not None and "test" in card.split
        ],
        columns=["Data set", "model", "accuracy"],
    )
    rows, columns = table["Data set"].unique(), table["model"].unique()  # in the order of the registry
    table = table.pivot_table(index="Data set", columns="model", values="accuracy").loc[rows, columns]
    st.dataframe(
        table,
        height="content",
        placeholder="",
        column_config={name: st.column_config.NumberColumn(format="%.1f") for name in columns},
        alt="Test accuracy of every model on its data set",
    )


show()
