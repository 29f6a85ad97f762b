"""Messages between the server and its worker processes: pickled objects over a pipe, each behind its length.

Both ends are processes of ours on the same machine. Nothing that a visitor sends is ever unpickled.
"""

import pickle
import struct
from typing import Any, BinaryIO

LENGTH = struct.Struct("!Q")


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
