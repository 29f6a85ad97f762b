"""Random numbers that depend on what they are for, not on when they are drawn: the same in a batch as alone."""

import math

import torch
from torch import Tensor

# The mixing constants of SplitMix64 (Steele et al. 2014), as signed 64-bit numbers: torch has no unsigned arithmetic.
_STEP = -7046029254386353131
_FIRST = -4658895280553007687
_SECOND = -7723592293110705685


def hashed(*names: Tensor | int) -> Tensor:
    """A well-mixed int64 from whole numbers that broadcast: the same names always give the same value."""
    value = torch.zeros((), dtype=torch.int64)
    for name in names:
        value = _mix(torch.as_tensor(name) + value)
    return value


def hashed_uniform(*names: Tensor | int) -> Tensor:
    """Uniform in (0, 1), float32."""
    # 23 bits and the half step that keeps zero and one out are what a float32 can hold without rounding
    return (_shifted(hashed(*names), 41).float() + 0.5) / 2**23


def hashed_normal(*names: Tensor | int) -> Tensor:
    """Standard normal, float32."""
    radius = (-2 * hashed_uniform(1, *names).log()).sqrt()
    return radius * (2 * math.pi * hashed_uniform(2, *names)).cos()


def hashed_index(size: int, *names: Tensor | int) -> Tensor:
    """Uniform whole numbers from 0 to size - 1."""
    return _shifted(hashed(*names), 1) % size


def _mix(value: Tensor) -> Tensor:
    value = value + _STEP
    value = (value ^ _shifted(value, 30)) * _FIRST
    value = (value ^ _shifted(value, 27)) * _SECOND
    return value ^ _shifted(value, 31)


def _shifted(value: Tensor, bits: int) -> Tensor:
    """Shift to the right with zeros; torch's own keeps the sign."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)
