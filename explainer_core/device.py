"""Where tensors live: cuda, else mps, else the processor; and how many threads work on them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_inside = _outside = 0  # how many are in one_thread() now, and how many threads torch had before the first came


def pick_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def take_device(number: int) -> bool:
    """Gives the process of that number among several its own CUDA device; False where there are fewer devices.

    Without CUDA all processes share what the machine has.
    """
    devices = torch.cuda.device_count()
    if devices and number < devices:
        torch.cuda.set_device(number)
    return number < devices or not devices


def describe_device(device: torch.device) -> str:
    """The device in words a person knows, such as 'cuda (NVIDIA A100)' or 'cpu'."""
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return device.type


def use_one_thread() -> None:
    """For programs that serve: these tensors are small, and more threads only get in each other's way."""
    torch.set_num_threads(1)
    threadpool_limits(limits=1)  # numpy's own threads, for the layouts


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch works on one thread; afterwards on as many as before.

    Explaining is many steps on small tensors. Where anything else is running, more threads wait for each other and
    take two to four times as long.
    """
    global _inside, _outside
    with _lock:
        # the count is one for all Python threads: the first one in notes what it was, the last one out puts it back
        _outside = _outside if _inside else torch.get_num_threads()
        _inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                torch.set_num_threads(_outside)


def restore_torch() -> bool:
    """For a process whose work was cut off anywhere: what a block or a call of torch's would have put back is as it was at first.

    False where a lock was left behind: whoever comes next would wait for ever.
    """
    global _inside
    torch.set_grad_enabled(True)
    _inside = 0
    torch.set_num_threads(1)
    return not _lock.locked()
