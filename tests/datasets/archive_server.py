"""Archives made on the spot, and a web server that hands them out as badly as asked."""

import io
import sys
import tarfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def zipped(files: dict[str, bytes], method=zipfile.ZIP_DEFLATED) -> bytes:
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", method) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return buffer.getvalue()


def tarred(files: dict[str, bytes | tuple[bytes, str]]) -> bytes:
    """A tar.gz; a pair (type, target) makes a link or a device."""
    with tarfile.open(fileobj=(buffer := io.BytesIO()), mode="w:gz") as opened:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, tuple):
                info.type, info.linkname = content
                opened.addfile(info)
            else:
                info.size = len(content)
                opened.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    """Answers request number i by `answers[i]`, and all later ones by the last."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.ranges, self.lock = [], [], threading.Lock()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # a client that hangs up is part of the play
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        with self.server.lock:
            answer = self.server.answers[min(len(self.server.ranges), len(self.server.answers) - 1)]
            self.server.ranges.append(self.headers.get("Range"))
        answer(self)

    def send(self, body: bytes, status: int = 200, length: int | None = None, **headers: str):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Quiet."""


def complete(body: bytes, status: int = 200, **headers: str):
    return lambda handler: handler.send(body, status, **headers)


def breaks_after(body: bytes, count: int):
    return lambda handler: handler.send(body[:count], length=len(body))


def resumes(body: bytes):
    def answer(handler):
        start = int(handler.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        handler.send(body[start:], 206, Content_Range=f"bytes {start}-{len(body) - 1}/{len(body)}")

    return answer


def slow(body: bytes, pieces: int):
    def answer(handler):
        handler.send(b"", length=len(body))
        step = -(-len(body) // pieces)
        for start in range(0, len(body), step):
            handler.wfile.write(body[start : start + step])
            time.sleep(0.05)

    return answer


def without_length(body: bytes):
    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def endless(stopped: threading.Event):
    """Zeros until the other side hangs up, which sets `stopped`."""

    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(bytes(1 << 16))
        except OSError:
            stopped.set()

    return answer
