"""The Prototypes page: one picture for a whole class, from the explanations of many of its members."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import services, state
from dashboard.view import explanation_text, model_text, prototype_text, svg
from dashboard.view.plain_text import for_markdown, sentence
from dashboard.widgets import controls
from dashboard.widgets.graph_view import gallery_view, network_view
from dashboard.widgets.missing import show_for_network

PAGE = "prototypes"
TALL = 420
FRAGMENT = 240
SHAPES = (
    "The explanations of many members are laid on each other; what they share is the prototype. "
    "The wider an edge, the more members have it."
)
MOLECULES = "The explanations of many members are compared; the fragments they share are the prototype."


def show() -> None:
    state.enter(PAGE)
    show_for_network(prototype)


def prototype(bar: DeltaGenerator, info: services.DatasetInfo, card: services.Card, complaints: list[str]) -> None:
    """The page from top to bottom, once data and model are there."""
    with bar:
        request = choose_class(card, complaints)
    controls.show_complaints(complaints)
    show_class(info, card, request)


def choose_class(card: services.Card, complaints: list[str]) -> services.ClassRequest:
    """Which class, from how many members, and how large."""
    names = services.class_names(card.dataset, card.task)
    default = state.default_config(card.dataset)
    label = state.label_from_query(card.dataset, names, complaints.append)
    st.selectbox(
        "Class",
        range(len(names)),
        format_func=names.__getitem__,
        key=state.LABEL,
        on_change=state.on_change,
        args=(state.LABEL,),
        label_visibility="collapsed",
        width=225,
    )
    instances = state.instances_from_query(card.dataset, complaints.append)
    config = state.config_from_query(card.dataset, complaints.append)
    with st.popover("Settings", icon=":material/tune:", key="settings"):
        st.slider(
            "Members beside the reference",
            1,
            state.MOST_INSTANCES,
            key=state.INSTANCES,
            on_change=state.on_change,
            args=(state.INSTANCES,),
            help="How many explanations are aligned with that of the most typical member.",
        )
        controls.choose_size(config.k_m, None, None)
        controls.knob("k_m_unit", config, default)
    return services.ClassRequest(card.dataset, card.model, label, instances, config)


def show_class(info: services.DatasetInfo, card: services.Card, request: services.ClassRequest) -> None:
    names = services.class_names(card.dataset, card.task)
    subject = f"{info.title} · {model_text.model_title(card)} · {names[request.label]}"
    st.title(for_markdown(f"What “{names[request.label]}” looks like to the network"))
    molecules = services.is_of_molecules(card.dataset)
    how = MOLECULES if molecules else SHAPES
    st.write(for_markdown(f"{info.title} · {model_text.model_title(card)}. {how}"))
    prototype = grown(request)
    if prototype is None:
        return
    shape = choose_shape(prototype)
    if molecules:
        show_fragments(request, shape, subject)
        show_members(request, shape, "Whole molecules; blue is what each explanation keeps.")
    else:
        left, right = st.columns([1, 1], gap="medium")
        with left:
            show_prototype(request, shape, subject)
        with right:
            show_members(request, shape, "In the prototype's places; blue is what they share with it.")
    show_all_classes(request, names)


def grown(request: services.ClassRequest) -> services.Prototype | None:
    """The prototype, shown while it grows; None if the user stopped it. Any touch ends the run."""
    live = st.empty()
    found = services.found_prototype(request)
    if found is not None:
        state.see_class(request)
        return found
    if state.is_stopped(request):
        with live.container():
            st.info("The run was stopped.")
            st.button("Run it again", on_click=state.go_on, type="primary")
        return None
    with live.container():
        bar = st.progress(0.0, text="Finding the members of the class")
        st.button("Stop this run", on_click=state.stop, args=(request,), icon=":material/stop:")
        picture = st.empty()

    def show_progress(progress: object) -> None:
        if isinstance(progress, services.Waiting):
            bar.progress(0.0, text=explanation_text.waiting(progress.ahead))
        elif isinstance(progress, services.Growing):
            done, total = progress.done, progress.total
            now = f"{done} of {total} members explained and aligned" if done < total else "Looking for what they share"
            bar.progress(done / total, text=now)
            if progress.so_far is not None:
                drawn = first_picture(request, progress.so_far)
                if drawn is not None:
                    dark = st.context.theme.type == "dark"
                    picture.image(svg.svg(*drawn, dark=dark, title=False, height=360))

    made = services.make_prototype(request, show_progress)
    live.empty()
    state.see_class(request)
    return made


def first_picture(request: services.ClassRequest, prototype: services.Prototype):
    """What is shown of a prototype that is not done yet; None where its molecules share nothing so far."""
    if not services.is_of_molecules(request.dataset):
        return services.prototype_picture(request, prototype)
    found = services.fragments(request, prototype)
    return (found[0].picture, found[0].panel) if found else None


def choose_shape(prototype: services.Prototype) -> services.Prototype:
    """A class may have several shapes; the whole of it is offered beside them."""
    if not prototype.clusters:
        return prototype
    shapes = [prototype, *prototype.clusters]
    titles = [
        "whole class",
        *(f"shape {i}: {explanation_text.percent(s.share)}" for i, s in enumerate(prototype.clusters, 1)),
    ]
    chosen = st.segmented_control(
        "The class has several shapes",
        range(len(shapes)),
        format_func=titles.__getitem__,
        default=0,
        required=True,
        key="shape",
    )
    return shapes[chosen]


def show_prototype(request: services.ClassRequest, prototype: services.Prototype, subject: str) -> None:
    picture, panel = services.prototype_picture(request, prototype)
    st.header("Prototype")
    count, kept = explanation_text.counted(len(prototype.members), "member"), len(panel.kept)
    lines = (f"alignment saves {explanation_text.percent(prototype.quality)} of what a random one costs",)
    titled = services.titled(panel, f"{count}, {explanation_text.counted(kept, 'edge')} kept", lines)
    look = {"height": TALL, "clickable": False, "subject": subject}
    network_view("prototype", picture, [titled], group="prototype", **look)
    features = services.prototype_features(request, prototype)
    if features:
        st.markdown(for_markdown(f"Features that matter most: {', '.join(features)}."))
    download(request, prototype)


def show_fragments(request: services.ClassRequest, prototype: services.Prototype, subject: str) -> None:
    """What the molecules' explanations share, each fragment with its share; or that they share none."""
    found = services.fragments(request, prototype)
    if not found:
        st.info(prototype_text.NO_FRAGMENT)
    for number, (column, one) in enumerate(zip(st.columns(max(3, len(found)), gap="medium"), found, strict=False), 1):
        having = len(one.fragment.members)
        with column:
            st.header(prototype_text.found_in(having, one.members).capitalize())
            st.markdown(prototype_text.counts(having, one.members, one.fragment.in_molecules))
            look = {"height": FRAGMENT, "clickable": False, "subject": subject}
            network_view(f"fragment {number}", one.picture, [one.panel], **look)
    if found:
        st.markdown(prototype_text.HOW_READ)
    download(request, prototype)


def download(request: services.ClassRequest, prototype: services.Prototype) -> None:
    st.download_button(
        "JSON", prototype.to_json, file_name=f"{request.dataset}-prototype-{request.label}.json", on_click="ignore"
    )


def show_members(request: services.ClassRequest, prototype: services.Prototype, how: str) -> None:
    st.header("Its members, the least alike first")
    st.markdown(f"{how} Click one to see its own explanation.")
    cards = services.member_cards(request, prototype)
    with st.container(height=TALL + 60, border=False):
        clicked = gallery_view("members", cards)
    if clicked is not None and clicked < len(prototype.members):
        st.switch_page("screens/explain.py", query_params=services.member_query_params(request, prototype, clicked))


def show_all_classes(request: services.ClassRequest, names: tuple[str, ...]) -> None:
    """The prototypes of all classes in a row, which grows class by class in this one run, once the page stands."""
    st.header("All classes")
    row = st.empty()
    known = show_row(row, request, names)
    missing = [label for label in range(len(names)) if label not in known]
    run = ("all classes", services.with_label(request, 0))
    if not missing:
        return
    if state.is_stopped(run):
        st.button("Draw the other classes too", icon=":material/grid_view:", on_click=state.go_on)
        return
    stop = st.empty()
    stop.button("Leave the others out", icon=":material/stop:", on_click=state.stop, args=(run,))
    for label in missing:
        if make_class(services.with_label(request, label), names[label]):
            show_row(row, request, names)
    stop.empty()


def show_row(row: DeltaGenerator, request: services.ClassRequest, names: tuple[str, ...]) -> set[int]:
    """Draws the classes that are known by now, and gives their numbers."""
    cards = services.class_cards(request, names)
    key = f"classes {len(cards)}"  # a run may draw a view under a key once only
    with row.container():
        gallery_view(key, cards, selected=request.label, on_click=partial(state.class_clicked, key))
    return {card.id for card in cards}


def make_class(request: services.ClassRequest, name: str) -> bool:
    """One more for the row; a class without members the network gets right is told of, and left out."""
    bar = st.progress(0.0, text=for_markdown(f"“{name}”: finding its members"))

    def show_progress(progress: object) -> None:
        if isinstance(progress, services.Growing):
            text = f"“{name}”: {progress.done} of {progress.total} members explained"
            bar.progress(progress.done / progress.total, text=for_markdown(text))

    try:
        services.make_prototype(request, show_progress)
    except ValueError as error:
        bar.empty()
        st.warning(sentence(error))
        return False
    bar.empty()
    return True


show()
