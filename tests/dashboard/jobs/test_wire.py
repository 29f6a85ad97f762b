"""Messages between a server and its workers: whole, in order, and in one go where the system lets a pipe hold them."""

import os
import sys

import pytest

from dashboard.jobs import wire


def test_messages_come_as_they_were_sent():
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as outbox, os.fdopen(reading, "rb") as inbox:
        for message in (("run", 1), {"nothing": None}, b""):
            wire.send(outbox, message)
            assert wire.receive(inbox) == message
        outbox.close()
        with pytest.raises(EOFError):
            wire.receive(inbox)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pipe is as wide as it is")
def test_an_answer_of_half_a_megabyte_is_sent_before_anybody_reads():
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as outbox, os.fdopen(reading, "rb") as inbox:
        wire.widen(outbox)
        os.set_blocking(writing, False)  # a narrow pipe refuses it, instead of waiting forever
        wire.send(outbox, bytes(500_000))
        assert wire.receive(inbox) == bytes(500_000)


def test_what_is_no_pipe_stays_as_it_is(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        wire.widen(file)
