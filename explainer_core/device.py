"""Where tensors live: cuda, else mps, else the processor."""

import torch
from threadpoolctl import threadpool_limits


def pick_device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe_device(device: torch.device) -> str:
    """The device in words a person knows, such as 'cuda (NVIDIA A100)' or 'cpu'."""
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return device.type


def use_one_thread() -> None:
    """For programs that serve: these tensors are small, and more threads only get in each other's way."""
    torch.set_num_threads(1)
    threadpool_limits(limits=1)  # numpy's own threads, for the layouts
