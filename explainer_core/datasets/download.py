"""Archives of public data: found, fetched, checked and read without ever being unpacked onto the disk."""

import gzip
import hashlib
import http.client
import io
import os
import struct
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

import platformdirs

from explainer_core.checks import cut, shown

Progress = Callable[[int, int], None]  # bytes done, bytes expected (0 if the server does not tell)

BACK_OFF = (0.5, 1.0, 2.0)  # seconds of rest after each failed try but the last
TIMEOUT = 30.0  # seconds without a single byte
CHUNK = 1 << 16
# Refusals that may pass by themselves: too slow, a resume point the server does not like, too many requests.
PASSING_REFUSALS = (408, 416, 429)


class DataUnavailable(RuntimeError):
    """Data that cannot be had; the message is one sentence with the reason and a way out."""


class _Unfit(Exception):
    """An archive that must not be used, and why."""


class _Broken(Exception):
    """A transfer that stopped or failed in a way that may pass."""


@dataclass(frozen=True)
class Archive:
    """A zip or tar.gz of text files in public, and the files in it that we read."""

    name: str
    url: str
    # Path inside the archive -> fingerprint() of that file. The archive as a whole has no checksum, because servers
    # and mirrors pack the same files anew, which changes every byte of the archive and none of the data.
    members: Mapping[str, str]
    max_bytes: int  # of the archive
    max_unpacked: int  # of a zip's wanted members together, or of a tar as a whole: it has to be walked through

    def malformed(self, member: str, problem: str) -> DataUnavailable:
        return DataUnavailable(f"{member} in {self.name} {problem}; replace the archive by a fresh copy of {self.url}")


def fingerprint(content: bytes) -> str:
    """SHA-256 of a text file, blind to blanks and line ends: mirrors hold the same numbers with CRLF or LF."""
    return hashlib.sha256(content.translate(None, b" \r").rstrip(b"\n")).hexdigest()


def is_available(archive: Archive) -> bool:
    """True if the archive is on this machine already, so that reading it needs no network."""
    return any(path and os.path.isfile(path) for path in (_given_path(archive), _cached_path(archive)))


def read_archive(archive: Archive, progress: Progress | None = None) -> dict[str, bytes]:
    """The wanted files of an archive from GNN_DATA_DIR, else from the cache, else from its public address."""
    given, cached = _given_path(archive), _cached_path(archive)
    if given and os.path.isfile(given):  # unlike Path.is_file, never raises
        try:
            return _read_file(archive, given)
        except _Unfit as error:  # not removed: this file is the user's own
            raise DataUnavailable(
                f"{given} cannot be used: {error}; replace it by a fresh copy of {archive.url} or unset GNN_DATA_DIR"
            ) from error
    if os.path.isfile(cached):
        try:
            return _read_file(archive, cached)
        except _Unfit as error:
            with _storing(cached.parent):
                cached.unlink(missing_ok=True)
            raise DataUnavailable(
                f"{cached} could not be used: {error}; it has been removed, try again to download {archive.url} anew"
            ) from error
    return _download(archive, cached, progress)


def _given_path(archive: Archive) -> Path | None:
    folder = os.environ.get("GNN_DATA_DIR")
    return Path(os.path.expanduser(folder)) / archive.name if folder else None


def _cached_path(archive: Archive) -> Path:
    folder = os.environ.get("GNN_CACHE_DIR") or platformdirs.user_cache_path("graph-explainer", appauthor=False)
    return Path(os.path.expanduser(folder)) / archive.name


# Reading


def _read_file(archive: Archive, path: Path) -> dict[str, bytes]:
    try:
        with path.open("rb") as file:
            packed = file.read(archive.max_bytes + 1)
    except OSError as error:
        raise DataUnavailable(f"{path} cannot be read ({_one_line(error)}); make it readable or remove it") from error
    if len(packed) > archive.max_bytes:
        raise _Unfit(f"it must have at most {archive.max_bytes:,} bytes (got more)")
    read = _read_zip if archive.name.endswith(".zip") else _read_tar
    try:
        contents = read(archive, packed)
    except (
        *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error),
        *(EOFError, OSError, ValueError, RuntimeError, OverflowError),  # what the two readers raise on damaged bytes
    ) as error:
        raise _Unfit(f"it is damaged or cut short ({_one_line(error)})") from error
    for member, content in contents.items():
        if (found := fingerprint(content)) != archive.members[member]:
            raise _Unfit(f"{member} must have checksum {archive.members[member][:12]}… (got {found[:12]}…)")
    return contents


def _read_zip(archive: Archive, packed: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        infos = {info.filename: info for info in opened.infolist()}
        _check_members(archive, infos)
        wanted = [infos[member] for member in archive.members]
        if sum(info.file_size for info in wanted) > archive.max_unpacked:
            raise _Unfit(_too_much(archive))
        if any(info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in wanted):
            raise _Unfit("it must be stored or deflated (got a method that unpacks without a limit)")
        return _read_members(archive, lambda member: opened.open(infos[member]))


def _read_tar(archive: Archive, packed: bytes) -> dict[str, bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        unpacked = _read_limited(archive, stream, archive.max_unpacked)
    with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as opened:
        infos = {info.name: info for info in opened.getmembers()}
        _check_members(archive, infos)
        if links := [member for member in archive.members if not infos[member].isreg()]:
            raise _Unfit(f"{links[0]} must be a plain file (got a link, a folder or a device)")
        return _read_members(archive, lambda member: opened.extractfile(infos[member]))


def _read_members(archive: Archive, open_member: Callable[[str], IO[bytes] | None]) -> dict[str, bytes]:
    contents, room = {}, archive.max_unpacked
    for member in archive.members:
        file = open_member(member)
        assert file is not None  # only links and folders of a tar have no contents, and these are refused before
        with file:
            contents[member] = _read_limited(archive, file, room)
        room -= len(contents[member])
    return contents


def _read_limited(archive: Archive, file: IO[bytes] | gzip.GzipFile, limit: int) -> bytes:
    """Never asks for more than one byte past the limit, whatever size the header claims."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise _Unfit(_too_much(archive))
    return content


def _too_much(archive: Archive) -> str:
    return f"it must unpack to at most {archive.max_unpacked:,} bytes (got more)"


def _check_members(archive: Archive, names: Mapping[str, object]) -> None:
    for name in names:
        path = PurePosixPath(name.replace("\\", "/"))
        # Nothing is ever written under these names; an archive that tries is not one to take data from.
        if path.is_absolute() or ".." in path.parts or PureWindowsPath(name).drive:
            raise _Unfit(f"its members must stay inside it (got {shown(name)})")
    if missing := [member for member in archive.members if member not in names]:
        raise _Unfit(f"it must contain {missing[0]} (got {len(names)} others)")


# Fetching


def _download(archive: Archive, path: Path, progress: Progress | None) -> dict[str, bytes]:
    if not archive.url.startswith(("http://", "https://")):
        raise DataUnavailable(_no_data(archive, "must be an http or https address"))
    with _storing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        # A name of its own for every try, so that two downloads at once do not write into one file.
        handle, part_name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    part = Path(part_name)
    try:
        with open(handle, "wb") as file:
            _fill(file, archive, path.parent, progress)
        contents = _read_file(archive, part)
        with _storing(path.parent):
            os.replace(part, path)
        return contents
    except _Unfit as error:
        raise DataUnavailable(_no_data(archive, f"sent a file that cannot be used: {error}")) from error
    except _Broken as error:
        raise DataUnavailable(_no_data(archive, f"could not be reached ({error})")) from error
    finally:
        with _storing(path.parent):
            part.unlink(missing_ok=True)


def _fill(file: IO[bytes], archive: Archive, folder: Path, progress: Progress | None) -> None:
    # The callback runs outside every try: what it raises (to cancel) reaches the caller as it is.
    with closing(_chunks(archive)) as chunks:
        for offset, chunk, expected in chunks:
            with _storing(folder):
                file.seek(offset)
                file.write(chunk)
            if progress:
                progress(offset + len(chunk), expected)
    with _storing(folder):
        file.truncate()  # a try that had to start over may have left a longer tail
        file.flush()
        os.fsync(file.fileno())


def _chunks(archive: Archive) -> Generator[tuple[int, bytes, int], None, None]:
    """Pieces of the archive as (offset, bytes, bytes expected), over as many tries as it takes."""
    done = 0
    for rest in (*BACK_OFF, None):
        try:
            for offset, chunk, expected in _one_try(archive, done):
                done = offset + len(chunk)
                yield offset, chunk, expected
            return
        except urllib.error.HTTPError as error:
            error.close()
            failure = _Broken(f"the server answered {error.code} {_one_line(error.reason)}")
            if 400 <= error.code < 500 and error.code not in PASSING_REFUSALS:
                raise failure from error
            done = 0 if error.code == 416 else done
        except (OSError, http.client.HTTPException) as error:
            failure = _Broken(_one_line(getattr(error, "reason", error)))
        except _Broken as error:
            failure = error
        if rest is None:
            raise failure
        time.sleep(rest)


def _one_try(archive: Archive, done: int) -> Iterator[tuple[int, bytes, int]]:
    headers = {"User-Agent": "graph-explainer"} | ({"Range": f"bytes={done}-"} if done else {})
    request = urllib.request.Request(archive.url, headers=headers)  # noqa: S310 - _download lets only http(s) through
    with _OPENER.open(request, timeout=TIMEOUT) as response:
        if response.status != 206:
            done = 0  # the server sends everything again
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
            raise _Broken("the server sent another part than the one asked for")
        expected = done + response.length if response.length else 0
        while chunk := response.read1(CHUNK):
            if max(expected, done + len(chunk)) > archive.max_bytes:
                raise _Unfit(f"it must have at most {archive.max_bytes:,} bytes (got more)")
            yield done, chunk, expected
            done += len(chunk)
    if expected and done != expected:
        raise _Broken(f"{done:,} of {expected:,} bytes arrived")


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to another web address only; the standard handler would follow to ftp as well."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if not newurl.startswith(("http://", "https://")):
            raise _Unfit(f"a redirect must lead to an http or https address (got {newurl[:80]!r})")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_WebRedirects)


@contextmanager
def _storing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataUnavailable(
            f"nothing can be kept in {folder} ({_one_line(error)}); set GNN_CACHE_DIR to a folder with room that you may write to"
        ) from error


def _no_data(archive: Archive, reason: str) -> str:
    folder = os.environ.get("GNN_DATA_DIR")
    seen = f" (now {folder!r}, which does not hold it)" if folder else ""
    return (
        f"no data for {archive.name!r}: {archive.url} {reason}; download it on a machine with a network, "
        f"put it in a folder and set GNN_DATA_DIR to that folder{seen}"
    )


def _one_line(reason: object) -> str:
    return cut(" ".join(str(reason).split())) or type(reason).__name__
