"""What a page shows, read from the messages a Streamlit server sends to a browser.

Only what a visitor waits for is kept: pictures with their verdict, remarks, errors, and whether the script is done.
"""

import json
import re
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PICTURE = "why"  # key of the view that has the explanation with its verdict
REMARK = re.compile(r":\w+\[:material/(\w+):\] (.*)", re.DOTALL)  # an icon, and a sentence
STILL_WAITING = "hourglass"  # the icon, in all its forms, of what is not there yet
HEADLINE = 7  # where it stands in what is sent of each size
MESSENGER = "graph_view_messenger"  # the component whose script answers by itself
CACHED_RUNS = 2  # a browser forgets a message that so many runs have not used
Path = tuple[int, ...]


@dataclass(frozen=True)
class View:
    """A picture that has arrived: its key, the nodes that are explained in it, none for a whole graph, and what it says."""

    key: str
    targets: tuple[int, ...]
    headline: str = ""  # the verdict
    starts: str = ""  # what other starts say


@dataclass(frozen=True)
class Remark:
    icon: str
    text: str

    @property
    def is_known(self) -> bool:
        return STILL_WAITING not in self.icon


@dataclass(frozen=True)
class Number:
    """The number box with the node or graph that the run is about."""

    key: str
    value: int


@dataclass(frozen=True)
class Failure:
    """An error that a visitor sees: a sentence of ours, or a script that crashed."""

    text: str
    is_crash: bool = False


@dataclass(frozen=True)
class Notice:
    """A word of the page to its visitor that is no error: a refusal, or a value that was not taken."""

    text: str


@dataclass(frozen=True)
class Reply:
    """What a browser sends by itself: a fragment's next run, or a component's event."""

    fragment: str = ""
    component: str = ""
    event: str = ""
    after: float = 0.0  # seconds; a fragment's run is due again and again

    @property
    def repeats(self) -> bool:
        return self.after > 0


@dataclass
class Page:
    """One visitor's page. `read` takes each message and returns what the browser would answer, in order."""

    session: str = ""
    script: str = ""  # hash of the page that is shown
    query: str = ""
    runs: int = 0  # full runs of the script that have begun
    finished: bool = False
    shown: dict[Path, View | Remark | Number | Failure | Notice] = field(default_factory=dict)
    _token: str | None = None
    _cached: dict[str, tuple[ForwardMsg, int]] = field(default_factory=dict)  # the message, and the run that used it

    def read(self, message: ForwardMsg) -> list[Reply]:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._begin(message)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            # One that was ended for the next run leaves a page that is still being worked on.
            self.finished = message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.shown[()] = Failure("the script cannot be compiled", is_crash=True)
        elif kind == "auto_rerun":
            return [Reply(fragment=message.auto_rerun.fragment_id, after=message.auto_rerun.interval)]
        elif kind == "delta":
            if message.metadata.cacheable:
                self._cached[message.hash] = (message, self.runs)
            return self._change(tuple(message.metadata.delta_path), message.delta)
        elif kind == "ref_hash":
            original = self._cached[message.ref_hash][0]
            self._cached[message.ref_hash] = (original, self.runs)
            return self._change(tuple(message.metadata.delta_path), original.delta)
        return []

    def _begin(self, message: ForwardMsg) -> None:
        self.session = message.new_session.initialize.session_id
        self.finished = False
        if message.metadata.run.fragment_ids:  # the rest of the page stays
            return
        self.runs += 1
        self.script = message.new_session.page_script_hash
        self.shown = {}
        self._cached = {name: kept for name, kept in self._cached.items() if self.runs - kept[1] <= CACHED_RUNS}

    def _change(self, path: Path, delta: Delta) -> list[Reply]:
        for old in [old for old in self.shown if old[: len(path)] == path]:
            del self.shown[old]
        kind = delta.WhichOneof("type")
        if kind != "new_element":
            return []
        element = delta.new_element
        if element.WhichOneof("type") == "bidi_component" and element.bidi_component.component_name == MESSENGER:
            return self._answer_messenger(element.bidi_component, delta.fragment_id)
        if (part := _part(element)) is not None:
            self.shown[path] = part
        return []

    def _answer_messenger(self, component, fragment: str) -> list[Reply]:
        token = json.loads(component.json)["token"]
        if token == self._token:
            return []
        self._token = token
        return [Reply(fragment=fragment, component=component.id, event="shown")]

    @property
    def has_verdict(self) -> bool:
        picture = self.view(PICTURE)
        return picture is not None and bool(picture.headline)

    @property
    def has_agreement(self) -> bool:
        """True if the picture says whether other starts agree."""
        picture = self.view(PICTURE)
        return picture is not None and bool(picture.starts)

    @property
    def is_settled(self) -> bool:
        """True if nothing more is coming: the script is done, and no sentence speaks of something that is not there yet."""
        return self.finished and all(remark.is_known for remark in self._all(Remark))

    @property
    def failures(self) -> list[Failure]:
        return self._all(Failure)

    @property
    def words(self) -> str:
        """All that the page tells its visitor beside the picture."""
        return " ".join(part.text for part in self._all((Failure, Notice)))

    def view(self, key: str) -> View | None:
        return next((view for view in self._all(View) if view.key == key), None)

    def number(self, key: str) -> int | None:
        return next((box.value for box in self._all(Number) if box.key == key), None)

    def _all(self, kind) -> list:
        return [part for part in self.shown.values() if isinstance(part, kind)]

    def cached_hashes(self) -> list[str]:
        return list(self._cached)


def _part(element) -> View | Remark | Number | Failure | Notice | None:
    """What of an element a visitor waits for, if anything."""
    kind = element.WhichOneof("type")
    if kind == "markdown":
        found = REMARK.match(element.markdown.body)
        return Remark(*found.groups()) if found else None
    if kind == "bidi_component" and element.bidi_component.WhichOneof("data") == "json":
        data = json.loads(element.bidi_component.json)
        picture = data.get("picture")
        if picture:
            targets = tuple(picture["nodes"][i] for i in picture["targets"])
            return View(data["key"], targets, *_said(data.get("explained")))
    if kind == "number_input":
        return Number(element.number_input.id.rsplit("-", 1)[-1], int(element.number_input.value))
    if kind == "exception":
        return Failure(element.exception.message, is_crash=True)
    if kind == "alert":
        alert = element.alert
        return Failure(alert.body) if alert.format == alert.ERROR else Notice(alert.body)
    return None


def _said(explained: dict | None) -> tuple[str, str]:
    """The headline at the size that is shown, and what other starts say."""
    if explained is None:
        return "", ""
    return explained["sizes"][explained["chosen"] - 1][HEADLINE], explained["starts"]


def rerun(page: Page, *, url: str, query: str | None = None, name: str = "", reply: Reply | None = None) -> BackMsg:
    """The message with which a browser asks for a run: of the page at another query string, or for a reply of its own."""
    message = BackMsg()
    asked = message.rerun_script
    asked.query_string = page.query if query is None else query
    asked.widget_states.SetInParent()
    asked.page_script_hash, asked.page_name = page.script, name
    asked.cached_message_hashes.extend(page.cached_hashes())
    context = asked.context_info
    context.timezone, context.timezone_offset, context.locale = "UTC", 0, "en-US"
    context.url, context.is_embedded, context.color_scheme = url, False, "light"
    if reply is None:
        asked.is_history_navigation = page.runs > 0
        return message
    asked.fragment_id, asked.is_auto_rerun = reply.fragment, reply.repeats
    if reply.component:
        widget = asked.widget_states.widgets.add()
        widget.id = f"$$STREAMLIT_INTERNAL_KEY_{reply.component}__events"
        widget.json_trigger_value = json.dumps([{"event": reply.event, "value": True}])
    return message
