"""Where a server is found: what people type, the QR code of it, links they copy, and what the command refuses."""

import pytest

from dashboard.__main__ import _environment, _run_parser, _streamlit_options, main
from dashboard.address import Address, announcement, checked_host, checked_url, lan_address, qr_code
from dashboard.limits import Limits

LAN, EVERYWHERE = "192.168.7.20", "0.0.0.0"  # noqa: S104


@pytest.fixture(autouse=True)
def _on_a_network(monkeypatch):
    monkeypatch.setattr("dashboard.address.lan_address", lambda: LAN)
    monkeypatch.setattr("socket.gethostname", lambda: "desk")
    for name in ("URL", "ALLOW_HOST", *Limits().to_environment()):
        monkeypatch.delenv(name if name.startswith("GRAPH") else f"GRAPH_EXPLAINER_{name}", raising=False)


@pytest.mark.parametrize(
    ("address", "others", "here"),
    [
        (Address("localhost", 8501), [], "http://localhost:8501"),
        (Address(EVERYWHERE, 8600), [f"http://{LAN}:8600", "http://desk:8600"], "http://localhost:8600"),
        (Address("", 8501), [f"http://{LAN}:8501", "http://desk:8501"], "http://localhost:8501"),
        (
            Address("localhost", 8501, "https://a.example/class"),
            ["https://a.example/class"],
            "http://localhost:8501/class",
        ),
        (Address("10.0.0.5", 8501), ["http://10.0.0.5:8501"], None),
        (Address("fd00::5", 8501), ["http://[fd00::5]:8501"], None),
        (
            Address("127.0.0.1", 8501, "https://explain.example.org"),
            ["https://explain.example.org"],
            "http://localhost:8501",
        ),
    ],
)
def test_people_type_what_leads_here(address, others, here):
    assert (address.for_others(), address.here()) == (others, here)
    assert address.is_shared == bool(others)


@pytest.mark.parametrize(
    ("address", "seen", "link"),
    [
        # at the teacher's own machine the page says localhost, which leads nobody else here
        (Address(EVERYWHERE, 8501), "http://localhost:8501/", f"http://{LAN}:8501/"),
        (Address(EVERYWHERE, 8501), "http://127.0.0.1:8501/prototypes?a=b", f"http://{LAN}:8501/prototypes"),
        (Address(EVERYWHERE, 8501), "http://[::1]:8501/", f"http://{LAN}:8501/"),
        # what a visitor's browser sees is right: by another name, another network, through a proxy
        (Address(EVERYWHERE, 8501), "http://desk:8501/", "http://desk:8501/"),
        (Address(EVERYWHERE, 8501), "https://explain.example.org/", "https://explain.example.org/"),
        (
            Address("localhost", 8501, "https://a.example/class"),
            "http://localhost:8501/class/",
            "https://a.example/class/",
        ),
        (Address(EVERYWHERE, 8501), "", ""),
        # nobody else was let in
        (Address("localhost", 8501), "http://localhost:8501?x=1", "http://localhost:8501/"),
        (Address("localhost", 8501), "http://localhost:8501/?x=1", "http://localhost:8501/"),
    ],
)
def test_a_link_can_be_opened_by_others(address, seen, link):
    assert address.link(seen) == link


def test_without_a_network_the_announcement_says_so(monkeypatch):
    monkeypatch.setattr("dashboard.address.lan_address", lambda: None)
    monkeypatch.setattr("socket.gethostname", lambda: "localhost")
    assert Address(EVERYWHERE).link("http://localhost:8501/") == "http://localhost:8501/"
    assert "no network was found" in announcement(Address(EVERYWHERE), 60, "utf-8", False)


def test_finding_the_lan_address_sends_nothing_and_survives_no_network(monkeypatch):
    """A datagram socket that is connected sends no packet; sending one would need another call."""
    used = []

    class NoNetwork:
        def __init__(self, *arguments):
            used.append(arguments)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def connect(self, _):
            raise OSError("Network is unreachable")

    monkeypatch.setattr("socket.socket", NoNetwork)
    assert lan_address() is None
    assert len(used) == 2


# The terminal


def test_the_announcement_names_addresses_limit_and_a_code():
    text = announcement(Address(EVERYWHERE, 8501), 60, "utf-8", False)
    assert "http://localhost:8501" in text
    assert f"http://{LAN}:8501  or  http://desk:8501" in text
    assert "At most 60 at a time" in text
    assert "not encrypted" in text
    assert "█" in text
    assert "not encrypted" not in announcement(Address("localhost", 8501, "https://a.example"), 60, "utf-8", False)


def test_alone_there_is_no_code():
    text = announcement(Address("localhost", 8501), 60, "utf-8", False)
    assert "http://localhost:8501" in text
    assert "█" not in text
    assert "others" not in text


@pytest.mark.parametrize("text", ["http://192.168.7.20:8501", "https://e.example", "http://10.0.0.1:8501/class"])
def test_the_code_says_the_address(text):
    assert decoded(qr_code(text, "utf-8", False)) == text


def test_a_terminal_without_blocks_gets_no_code_and_one_with_colours_light_on_dark():
    assert qr_code("http://a", "ascii", False) == []
    assert qr_code("http://a", "no such encoding", False) == []
    plain, coloured = (qr_code("http://a", "utf-8", colour) for colour in (False, True))
    assert [line.replace("\x1b[97;40m", "").replace("\x1b[0m", "") for line in coloured] == plain != coloured


def decoded(lines: list[str]) -> str:
    """Reads a QR code by the standard (ISO/IEC 18004), without error correction: versions 1 to 5, one block, byte mode."""
    upper = [[cell in "▄ " for cell in line[2:]] for line in lines]  # dark where nothing is printed
    lower = [[cell in "▀ " for cell in line[2:]] for line in lines]
    rows = [row for pair in zip(upper, lower, strict=True) for row in pair]
    top = next(number for number, row in enumerate(rows) if any(row))
    left = next(number for number in range(len(rows[0])) if any(row[number] for row in rows[: len(rows[0])]))
    size = len(rows[0]) - 2 * left
    grid = [row[left : left + size] for row in rows[top : top + size]]
    version = (size - 17) // 4
    assert 1 <= version <= 5
    format_bits = [grid[8][x] for x in (0, 1, 2, 3, 4, 5, 7, 8)][:5]
    mask = sum(bit << (2 - i) for i, bit in enumerate(a ^ b for a, b in zip(format_bits[2:], (1, 0, 1), strict=True)))
    flips = (
        lambda y, x: (y + x) % 2 == 0,
        lambda y, x: y % 2 == 0,
        lambda y, x: x % 3 == 0,
        lambda y, x: (y + x) % 3 == 0,
        lambda y, x: (y // 2 + x // 3) % 2 == 0,
        lambda y, x: y * x % 2 + y * x % 3 == 0,
        lambda y, x: (y * x % 2 + y * x % 3) % 2 == 0,
        lambda y, x: ((y + x) % 2 + y * x % 3) % 2 == 0,
    )[mask]
    middle = size - 7  # of the one alignment pattern

    def is_pattern(y: int, x: int) -> bool:
        corner = (y < 9 and (x < 9 or x >= size - 8)) or (y >= size - 8 and x < 9)
        return corner or 6 in (y, x) or (version > 1 and abs(y - middle) <= 2 and abs(x - middle) <= 2)

    bits, upwards = [], True
    for right in [*range(size - 1, 6, -2), 5, 3, 1]:
        for y in range(size - 1, -1, -1) if upwards else range(size):
            bits += [grid[y][x] ^ flips(y, x) for x in (right, right - 1) if not is_pattern(y, x)]
        upwards = not upwards

    def number(start: int, count: int) -> int:
        return int("".join(str(int(bit)) for bit in bits[start : start + count]), 2)

    assert number(0, 4) == 0b0100  # bytes
    return bytes(number(12 + 8 * i, 8) for i in range(number(4, 8))).decode()


# What is typed


@pytest.mark.parametrize(
    "text", ["https://a.example", "http://10.0.0.1:8080", "https://a.example/class", "http://[fd00::1]:80"]
)
def test_addresses_of_proxies_are_taken(text):
    assert checked_url(text + "/") == text


@pytest.mark.parametrize(
    "text",
    [
        "a.example",
        "ftp://a",
        "https://",
        "https://u:p@a",
        "https://a?x",
        "https://a#x",
        "https://a b",
        "https://a:99999",
        "https://a/'",
        "http://é",
        "x" * 999,
    ],
)
def test_other_text_is_no_address(text):
    with pytest.raises(ValueError, match="the url must be one people can type") as broken:
        checked_url(text)
    assert len(str(broken.value)) < 200


@pytest.mark.parametrize("text", ["a.example:80", "*", "https://a", "a/b", "", "-a", "a b"])
def test_other_text_is_no_host(text):
    with pytest.raises(ValueError, match="a host must be a name or a number"):
        checked_host(text)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--visitors", "0"], "visitors must be 1 to 10,000 (got 0)"),
        (["--visitors", "many"], "visitors must be 1 to 10,000 (got 'many')"),
        (["--run-memory", "1"], "run_memory must be 256 to 1,048,576 (got 1)"),
        (["--url", "nowhere"], "the url must be one people can type"),
        (["--allow-host", "a:1"], "a host must be a name or a number"),
        (["--port", "0"], "a port must be 1 to 65535 (got '0')"),
    ],
)
def test_a_wrong_option_gets_one_clear_sentence(arguments, sentence, capsys):
    try:
        code = main(["run", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert sentence in capsys.readouterr().err


def test_what_is_typed_reaches_the_server(monkeypatch):
    typed = "--visitors 7 --url https://a.example/class --allow-host B.example --allow-host 10.0.0.1 --port 9000 --host 127.0.0.1"
    monkeypatch.setenv("GRAPH_EXPLAINER_RUN_SECONDS", "12")
    options = _run_parser().parse_args(typed.split())
    found = _environment(options)
    assert (Limits.from_environment(found).visitors, Limits.from_environment(found).run_seconds) == (7, 12)
    address = Address.from_environment("127.0.0.1", 9000, found)
    assert address == Address("127.0.0.1", 9000, "https://a.example/class", ("b.example", "10.0.0.1"))
    monkeypatch.setattr("os.environ", found)
    flags = _streamlit_options(options)
    assert {"--server.port=9000", "--server.address=127.0.0.1", "--server.baseUrlPath=class"} <= set(flags)
    assert "--server.corsAllowedOrigins=https://a.example" in flags


def test_run_from_another_folder_a_checkout_is_as_safe(monkeypatch, tmp_path):
    """Streamlit finds its settings in the current folder; elsewhere it would listen to everyone."""
    assert _streamlit_options(_run_parser().parse_args([])) == []  # here it finds them itself
    monkeypatch.chdir(tmp_path)
    flags = _streamlit_options(_run_parser().parse_args([]))
    assert {"--server.address=localhost", "--server.fileWatcherType=none", "--client.showErrorDetails=none"} <= set(
        flags
    )
    assert {"--server.headless=true", "--theme.light.primaryColor=#0072B2"} <= set(flags)
