"""Files of a visitor's own: chosen, read, previewed, and kept for them alone."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import figures, svg
from dashboard.view.picture import Panel
from dashboard.view.plain_text import for_markdown, sentence, shortened

ABOUT = {
    "csv": "Edges, one a line: `source,target`, and `type` or `weight` if you like. Of nodes, in a second file: `id`, `label` for "
    "the class, `split` (train, val, test) and a column for each feature. A header is found by itself.",
    "graphml": "As networkx, Gephi, igraph or yEd write it. The attribute `label` is the class of a node, the others are features.",
    "json": "As networkx (`node_link_data`) and d3 write it: a list of `nodes` and one of `links` or `edges`.",
    "smiles": "CSV with the columns `smiles` and `label`, or a SMILES and its class on each line. Each molecule is a graph.",
}
FILE_LABELS = {
    "edges": "Edges",
    "nodes": "Nodes (if you have more to say of them)",
    "graph": "Graph",
    "molecules": "Molecules",
}
DIRECTIONS = {None: "As the file says", False: "Both ways", True: "One way"}
MOST_BARS = 12
MOST_REASONS = 3  # of lines that were left out
FOUND, NONE = "found by its name", "none"


def bring_files() -> None:
    """From a choice of format to a graph that is kept."""
    format = choose_format()
    files, problems = choose_files(format)
    if files[0] is None:
        if len(files) > 1 and files[1] is not None:
            problems[0].info("Now the edges, without which there is no graph.")
        return
    found = read(format, files)
    if isinstance(found, services.FileRefused):
        names = [file.name if file is not None else None for file in files]
        place = names.index(found.file) if found.file in names else 0
        problems[place].error(f"{for_markdown(found.sentence)}.", icon=":material/error:")
        return
    preview(found)
    keep_button(format, found, files)


def choose_format() -> str:
    known = services.formats()
    format = st.segmented_control(
        "Format",
        list(known),
        format_func=lambda name: known[name].title,
        default="csv",
        required=True,
        key="own format",
    )
    format = format or "csv"
    st.caption(ABOUT[format])
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown("Examples to start from:")
        for file in services.examples(format):
            st.download_button(
                file.name,
                file.data,
                file.name,
                mime="application/octet-stream",
                on_click="ignore",
                icon=":material/download:",
                type="tertiary",
            )
    return format


def choose_files(format: str) -> tuple[list[services.SentFile | None], list[DeltaGenerator]]:
    """The files, and beside each the place for what is wrong with it."""
    known = services.formats()[format]
    files, problems = [], []
    for column, part in zip(st.columns(len(known.files), gap="medium"), known.files, strict=True):
        with column:
            sent = st.file_uploader(
                FILE_LABELS[part], list(known.endings), key=f"own {format} {part} {state.files_taken()}"
            )
            problems.append(st.empty())
        files.append(None if sent is None else services.SentFile(sent.name, sent.getvalue()))
    return files, problems


def read(format: str, files: Sequence[services.SentFile | None]) -> services.Upload | services.FileRefused:
    """Read once as the files are, and again when the visitor wants it otherwise."""
    key = (format, *files)
    fields = state.fields_before(key)
    if fields is None:
        fields = ask(format, files, services.Options()).fields
    return ask(format, files, choose_options(format, fields))


def ask(
    format: str, files: Sequence[services.SentFile | None], options: services.Options
) -> services.Upload | services.FileRefused:
    key = (format, *files)
    found = state.read_before(key, options)
    if found is None:
        with st.spinner("Reading"):
            found = services.read_upload(format, tuple(files), options)
        state.remember_read(key, options, found)
    return found


def choose_options(format: str, fields: tuple[str, ...]) -> services.Options:
    """Where the file leaves something open, or was misunderstood."""
    key = f"{format} {state.files_taken()} {' '.join(fields)}"  # of other files nothing is chosen yet
    with st.expander("Read it otherwise", icon=":material/tune:"):
        label = st.selectbox(
            "Classes",
            [FOUND, NONE, *fields],
            format_func=shortened,
            help="The column that tells the class. Empty cells are nodes whose class nobody knows.",
            key=f"own classes {key}",
        )
        asked = None if label == FOUND else "" if label == NONE else label
        if format == "smiles":
            return services.Options(label=asked)
        features = st.multiselect(
            "Features",
            [field for field in fields if field != label],
            placeholder="all other columns",
            format_func=shortened,
            key=f"own features {key}",
        )
        ways = [way for way in DIRECTIONS if way is not None or format != "csv"]
        directed = st.segmented_control(
            "Edges lead",
            ways,
            format_func=DIRECTIONS.__getitem__,
            default=ways[0],
            required=True,
            key=f"own ways {key}",
        )
        with st.container(horizontal=True, gap="medium"):
            scale = st.toggle(
                "Scale features beyond 10",
                value=True,
                help="To mean 0 and spread 1. Leave it off if you bring a network that was trained on the numbers as they are.",
                key=f"own scale {key}",
            )
            own_feature = st.toggle(
                "Without features, one for each node",
                help="So that a network can tell nodes apart by who they are; otherwise each node has a single 1.",
                key=f"own feature {key}",
            )
    return services.Options(
        label=asked, features=tuple(features) or None, directed=directed, scale=scale, own_feature=own_feature
    )


def preview(upload: services.Upload) -> None:
    """How the files were understood: sizes, classes, the first rows, a small picture."""
    st.header("What was read")
    show_left_out(upload)
    facts = upload.facts
    sizes = [
        *([("Graphs", facts.graphs)] if facts.graphs > 1 else []),
        ("Nodes", facts.nodes),
        ("Directed edges" if facts.directed else "Edges", facts.edges),
        ("Features", len(facts.feature_names)),
        ("Classes", len(facts.class_counts)),
    ]
    with st.container(horizontal=True, gap="medium"):
        for label, value in sizes:
            st.metric(label, f"{value:,}", width="content")
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_rows(upload)
        for note in remarks(upload):
            st.caption(sentence(note))
    with right:
        if facts.class_counts:
            st.plotly_chart(
                figures.class_balance(facts.class_counts[:MOST_BARS]),
                config=figures.STILL,
                alt="Bars: how many examples each class has",
            )
        if len(facts.class_counts) > MOST_BARS:
            st.caption(f"and {len(facts.class_counts) - MOST_BARS:,} classes more")
        show_pictures(upload)


def show_left_out(upload: services.Upload) -> None:
    """Before anything is kept, so that whoever wants them in can correct the file first."""
    count, lines = len(upload.left_out), upload.facts.graphs + len(upload.left_out)
    if not count:
        return
    told = [f"- {sentence(reason)}" for reason in upload.left_out[:MOST_REASONS]]
    more = [f"- and {count - MOST_REASONS:,} more"] if count > MOST_REASONS else []
    what = "is no molecule and is" if count == 1 else "are no molecules and are"
    heading = f"{count:,} of {lines:,} lines {what} left out:"
    st.warning("\n".join([heading, "", *told, *more]), icon=":material/warning:")


def remarks(upload: services.Upload) -> list[str]:
    found = list(upload.notes)
    if upload.label_field:
        found.insert(0, f"the class is read from {shortened(upload.label_field)!r}")
    if upload.unknown and upload.facts.class_counts:
        found.append(f"{upload.unknown:,} have no class: they take part, but teach and test nothing")
    if upload.has_split:
        found.append("the file's own split into train, val and test is used")
    if not upload.facts.class_counts:
        found.append("there are no classes: a network can learn which nodes are joined")
    return found


def show_rows(upload: services.Upload) -> None:
    heading = [for_markdown(shortened(name, 24)) for name in upload.heading]
    cells = [[for_markdown(shortened(cell, 40)) for cell in row] for row in upload.rows]
    names = [name if heading.index(name) == i else f"{name} {i}" for i, name in enumerate(heading)]
    st.table(
        pd.DataFrame(cells, columns=names), border="horizontal", hide_index=True, alt="The first rows as they were read"
    )


def show_pictures(upload: services.Upload) -> None:
    dark = st.context.theme.type == "dark"
    pictures = services.small_pictures(upload)
    for column, (title, picture) in zip(st.columns(min(len(pictures), 2)) * 2, pictures, strict=False):
        drawing = svg.svg(
            picture, Panel("preview", ""), dark=dark, width=420, height=320, title=False, labels=bool(picture.bonds)
        )
        column.image(drawing, width="stretch", alt=f"A picture of {title or 'the graph'}")
        if title:
            column.caption(for_markdown(shortened(title, 40)))


def keep_button(format: str, upload: services.Upload, files: Sequence[services.SentFile | None]) -> None:
    usual = {"smiles": "My molecules", "csv": "My graph"}.get(format) or _stem(files[0])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        title = st.text_input("Its name", value=shortened(usual, 40), max_chars=60, width=320, key=f"own title {usual}")
        st.button("Use this graph", type="primary", on_click=kept, args=(upload, title), icon=":material/check:")


def _stem(file: services.SentFile | None) -> str:
    return "" if file is None else file.name.rpartition(".")[0]


def kept(upload: services.Upload, title: str) -> None:
    try:
        name = services.keep(upload, title)
    except ValueError as error:
        state.tell("error", str(error))
        return
    state.forget_read()
    state.tell()
    state.set_query_param(state.DATASET, name)
