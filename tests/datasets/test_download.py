"""Truths about fetching archives, told by a real server that misbehaves in every way we know."""

import tarfile
import threading
import zipfile

import pytest
from archive_server import Server, breaks_after, complete, endless, resumes, slow, tarred, without_length, zipped

from explainer_core.datasets import download
from explainer_core.datasets.download import Archive, DataUnavailable, fingerprint, is_available, read_archive

MEMBER = "SET/SET_A.txt"
TEXT = "".join(f"{i}, {i * 7919 % 10007}\n" for i in range(20_000)).encode()


GOOD = zipped({MEMBER: TEXT})


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("GNN_CACHE_DIR", str(folder))
    monkeypatch.delenv("GNN_DATA_DIR", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(download, "BACK_OFF", (0.01, 0.02, 0.04))
    return folder


def archive(address: str, name: str = "SET.zip", **changes) -> Archive:
    fields = {"members": {MEMBER: fingerprint(TEXT)}, "max_bytes": 1 << 20, "max_unpacked": 1 << 20} | changes
    return Archive(name, f"{address}/{name}", **fields)


def files_in(folder) -> list[str]:
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


def test_a_good_archive_is_fetched_once_and_kept(server, cache):
    server.answers = [complete(GOOD)]
    wanted = archive(server.address)
    assert not is_available(wanted)
    assert read_archive(wanted) == {MEMBER: TEXT}
    assert is_available(wanted)
    assert read_archive(wanted) == {MEMBER: TEXT}
    assert len(server.ranges) == 1
    assert files_in(cache) == ["SET.zip"]


def test_only_wanted_members_are_read_and_line_ends_do_not_matter(server):
    crlf = TEXT.replace(b"\n", b"\r\n")
    server.answers = [complete(tarred({"readme": b"more", MEMBER: crlf}))]
    assert read_archive(archive(server.address, "SET.tgz")) == {MEMBER: crlf}


def test_a_slow_server_reports_rising_progress(server):
    server.answers = [slow(GOOD, 6)]
    seen = []
    read_archive(archive(server.address), lambda done, expected: seen.append((done, expected)))
    dones = [done for done, _ in seen]
    assert len(seen) >= 3
    assert dones == sorted(set(dones))
    assert seen[-1] == (len(GOOD), len(GOOD))


def test_a_server_that_does_not_tell_the_length_expects_0(server):
    server.answers = [without_length(GOOD)]
    seen = []
    assert read_archive(archive(server.address), lambda *counts: seen.append(counts)) == {MEMBER: TEXT}
    assert seen[-1] == (len(GOOD), 0)


def test_a_truncated_file_is_tried_again_and_then_refused(server, cache):
    server.answers = [breaks_after(GOOD, 1000)]
    with pytest.raises(DataUnavailable, match=f"1,000 of {len(GOOD):,} bytes arrived"):
        read_archive(archive(server.address))
    assert server.ranges == [None, "bytes=1000-", "bytes=1000-", "bytes=1000-"]
    assert files_in(cache) == []


def test_a_broken_transfer_goes_on_where_it_stopped(server):
    server.answers = [breaks_after(GOOD, 1000), resumes(GOOD)]
    seen = []
    assert read_archive(archive(server.address), lambda *counts: seen.append(counts)) == {MEMBER: TEXT}
    assert server.ranges == [None, "bytes=1000-"]
    assert seen[0] == (1000, len(GOOD))
    assert seen[-1] == (len(GOOD), len(GOOD))


def test_a_server_that_ignores_the_range_starts_over(server):
    server.answers = [breaks_after(GOOD + b"a longer tail", len(GOOD) + 5), complete(GOOD)]
    assert read_archive(archive(server.address)) == {MEMBER: TEXT}
    assert server.ranges == [None, f"bytes={len(GOOD) + 5}-"]


def test_a_refused_range_starts_over(server):
    server.answers = [breaks_after(GOOD, 1000), complete(b"", 416), complete(GOOD)]
    assert read_archive(archive(server.address)) == {MEMBER: TEXT}
    assert server.ranges == [None, "bytes=1000-", None]


def test_another_range_than_asked_for_is_not_glued_on(server, cache):
    server.answers = [breaks_after(GOOD, 1000), complete(GOOD[:50], 206, Content_Range=f"bytes 0-49/{len(GOOD)}")]
    with pytest.raises(DataUnavailable, match="another part"):
        read_archive(archive(server.address))
    assert files_in(cache) == []


@pytest.mark.parametrize("status", [401, 404, 410])
def test_a_refusal_is_not_tried_again(server, cache, status):
    server.answers = [complete(b"no", status)]
    with pytest.raises(DataUnavailable, match=f"answered {status}"):
        read_archive(archive(server.address))
    assert len(server.ranges) == 1
    assert files_in(cache) == []


def test_a_passing_server_fault_is_tried_again(server):
    server.answers = [complete(b"", 500), complete(b"", 503), complete(GOOD)]
    assert read_archive(archive(server.address)) == {MEMBER: TEXT}
    assert len(server.ranges) == 3


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (zipped({MEMBER: TEXT + b"1, 1\n"}), "must have checksum"),
        (zipped({"SET/other.txt": TEXT}), "must contain SET/SET_A.txt"),
        (GOOD[: len(GOOD) // 2], "damaged or cut short"),
        (GOOD.replace(GOOD[5000:5040], bytes(40)), "damaged or cut short"),
        (b"<html>please log in</html>", "damaged or cut short"),
        (b"", "damaged or cut short"),
        (zipped({MEMBER: TEXT, "../evil.txt": b"x"}), "must stay inside"),
        (zipped({MEMBER: TEXT, "C:\\evil.txt": b"x"}), "must stay inside"),
        (zipped({MEMBER: TEXT, "a\\..\\..\\evil.txt": b"x"}), "must stay inside"),
        (zipped({MEMBER: TEXT}, zipfile.ZIP_LZMA), "stored or deflated"),
        (zipped({MEMBER: bytes(5 << 20)}), "must unpack to at most 1,048,576 bytes"),
        (bytes((1 << 20) + 1), "must have at most 1,048,576 bytes"),
        (tarred({MEMBER: TEXT, "/tmp/evil.txt": b"x"}), "must stay inside"),  # noqa: S108 - never written
        (tarred({MEMBER: TEXT, "a/../../evil.txt": b"x"}), "must stay inside"),
        (tarred({MEMBER: (tarfile.SYMTYPE, "/etc/hostname")}), "must be a plain file"),
        (tarred({"other": TEXT, MEMBER: (tarfile.LNKTYPE, "other")}), "must be a plain file"),
        (tarred({MEMBER: (tarfile.FIFOTYPE, "")}), "must be a plain file"),
        (tarred({MEMBER: TEXT})[:-100], "damaged or cut short"),
        (tarred({MEMBER: TEXT, "filler": bytes(5 << 20)}), "must unpack to at most"),
        (b"\x1f\x8b" + GOOD, "damaged or cut short"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # not megabytes of body
)
def test_an_unfit_archive_is_refused_and_nothing_is_kept(server, tmp_path, body, reason):
    server.answers = [complete(body)]
    name = "SET.tgz" if body.startswith(b"\x1f\x8b") else "SET.zip"
    with pytest.raises(DataUnavailable, match=reason):
        read_archive(archive(server.address, name))
    assert files_in(tmp_path) == ["cache"]
    assert len(server.ranges) == 1


@pytest.mark.parametrize(
    ("size", "claimed", "reason"),
    [(5 << 20, 100, "damaged or cut short"), (1 << 16, 5 << 20, "must unpack to at most")],
)
def test_a_zip_that_lies_about_its_size_is_refused(server, size, claimed, reason):
    body = zipped({MEMBER: bytes(size)})
    server.answers = [complete(body.replace(size.to_bytes(4, "little"), claimed.to_bytes(4, "little")))]
    with pytest.raises(DataUnavailable, match=reason):
        read_archive(archive(server.address))


def test_a_download_stops_when_it_grows_too_large(server, cache):
    server.answers = [endless(stopped := threading.Event())]
    with pytest.raises(DataUnavailable, match="at most 1,048,576 bytes"):
        read_archive(archive(server.address))
    assert stopped.wait(5)
    assert files_in(cache) == []


def test_a_damaged_cached_file_is_removed_and_fetched_on_the_next_call(server, cache):
    server.answers = [complete(GOOD)]
    wanted = archive(server.address)
    read_archive(wanted)
    (cache / "SET.zip").write_bytes(GOOD[:500])
    with pytest.raises(DataUnavailable, match="has been removed, try again"):
        read_archive(wanted)
    assert files_in(cache) == []
    assert read_archive(wanted) == {MEMBER: TEXT}
    assert len(server.ranges) == 2


def test_the_users_own_folder_comes_first_and_is_never_changed(server, cache, tmp_path, monkeypatch):
    server.answers = [complete(GOOD)]
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path / "mine"))
    (tmp_path / "mine").mkdir()
    own = tmp_path / "mine" / "SET.zip"
    own.write_bytes(GOOD)
    wanted = archive(server.address)
    assert is_available(wanted)
    assert read_archive(wanted) == {MEMBER: TEXT}
    own.write_bytes(GOOD[:500])
    with pytest.raises(DataUnavailable, match=r"mine.SET\.zip cannot be used.*replace it"):
        read_archive(wanted)
    assert own.read_bytes() == GOOD[:500]
    assert server.ranges == []
    own.unlink()
    assert read_archive(wanted) == {MEMBER: TEXT}
    assert files_in(cache) == ["SET.zip"]


def test_without_a_network_one_line_tells_the_way_out(cache, monkeypatch):
    closed = Server()
    closed.server_close()
    wanted = archive(closed.address)
    with pytest.raises(DataUnavailable) as caught:
        read_archive(wanted)
    message = str(caught.value)
    assert message.startswith(f"no data for 'SET.zip': {wanted.url} could not be reached (")
    assert message.endswith("put it in a folder and set GNN_DATA_DIR to that folder")
    assert "\n" not in message
    assert files_in(cache) == []
    monkeypatch.setenv("GNN_DATA_DIR", "/nowhere")
    with pytest.raises(DataUnavailable, match="now '/nowhere', which does not hold it"):
        read_archive(wanted)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_callback_that_raises_cancels_and_leaves_nothing(server, cache, stop):
    server.answers = [slow(GOOD, 4)]

    def cancel(done, expected):
        raise stop("enough")

    with pytest.raises(stop, match="enough"):
        read_archive(archive(server.address), cancel)
    assert len(server.ranges) == 1
    assert files_in(cache) == []


def test_two_downloads_at_once_do_not_mix(server, cache):
    server.answers = [slow(GOOD, 5)]
    results = []
    threads = [threading.Thread(target=lambda: results.append(read_archive(archive(server.address)))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{MEMBER: TEXT}] * 2
    assert files_in(cache) == ["SET.zip"]


@pytest.mark.parametrize("address", ["file:///etc", "ftp://127.0.0.1"])
def test_only_web_addresses_are_fetched(cache, address):
    with pytest.raises(DataUnavailable, match="must be an http or https address"):
        read_archive(archive(address))
    assert files_in(cache) == []


def test_a_redirect_stays_on_the_web(server):
    server.answers = [complete(b"", 302, Location="ftp://127.0.0.1/SET.zip")]
    with pytest.raises(DataUnavailable, match="redirect must lead to an http or https address"):
        read_archive(archive(server.address))
    server.answers = [complete(b"", 302, Location=f"{server.address}/moved"), complete(GOOD)]
    server.ranges.clear()
    assert read_archive(archive(server.address)) == {MEMBER: TEXT}


def test_a_cache_that_cannot_be_written_names_the_setting(server, tmp_path, monkeypatch):
    server.answers = [complete(GOOD)]
    (tmp_path / "file").touch()
    monkeypatch.setenv("GNN_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(DataUnavailable, match=r"nothing can be kept in .*set GNN_CACHE_DIR"):
        read_archive(archive(server.address))


@pytest.mark.parametrize(("name", "pack"), [("SET.zip", zipped), ("SET.tgz", tarred)])
def test_damage_at_any_byte_gives_the_data_or_one_line(tmp_path, monkeypatch, name, pack):
    monkeypatch.setenv("GNN_DATA_DIR", str(tmp_path))
    content = b"1, 2\n2, 1\n"
    body = pack({MEMBER: content})
    wanted = archive("http://127.0.0.1:9", name, members={MEMBER: fingerprint(content)})
    outcomes = []
    for offset in range(len(body)):
        (tmp_path / name).write_bytes(body[:offset] + bytes([body[offset] ^ 0xFF]) + body[offset + 1 :])
        try:
            outcomes.append(read_archive(wanted))
        except DataUnavailable as error:
            outcomes.append(str(error))
    refused = [outcome for outcome in outcomes if outcome != {MEMBER: content}]  # a changed date, say, does no harm
    assert len(refused) > len(body) // 4
    assert all(isinstance(outcome, str) and "\n" not in outcome for outcome in refused)
