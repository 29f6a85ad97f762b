"""Messages between the server and its worker processes: pickled objects over a pipe, each behind its length.

Both ends are processes of ours on the same machine. Nothing that a visitor sends is ever unpickled.
"""

import contextlib
import pickle
import struct
from typing import Any, BinaryIO

LENGTH = struct.Struct("!Q")
PIPE = 2**20  # bytes a pipe holds where the system lets one ask for it: an answer of as many is written in one go


def widen(pipe: BinaryIO) -> None:
    """Otherwise it holds 64 KB, and the two ends wait for each other a dozen times an answer. Where it cannot be, they do."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl  # not everywhere

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def send(pipe: BinaryIO, message: object) -> None:
    data = pickle.dumps(message, protocol=5)
    pipe.write(LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """The next message; EOFError where the other end is gone."""
    (length,) = LENGTH.unpack(_exactly(pipe, LENGTH.size))
    return pickle.loads(_exactly(pipe, length))  # noqa: S301  (written by a process of ours)


def _exactly(pipe: BinaryIO, count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError("the other end of the pipe is closed")
    return data
