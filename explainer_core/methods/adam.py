"""Adam for a mask: the optimiser of every mask."""

import torch
from torch import Tensor


class Adam:
    """Adam (Kingma & Ba 2015) for one tensor, in place; each entry at so many times the rate as `times` says, if given."""

    def __init__(self, parameter: Tensor, rate: float, times: Tensor | None = None):
        self.parameter, self.rate, self.times, self.count = parameter, rate, times, 0
        self.mean, self.square = torch.zeros_like(parameter), torch.zeros_like(parameter)

    def step(self, gradient: Tensor) -> None:
        self.count += 1
        self.mean.lerp_(gradient, 0.1)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        scale = (1 - 0.999**self.count) ** 0.5
        denominator = self.square.sqrt().add_(1e-8 * scale)
        move = self.mean if self.times is None else self.mean * self.times
        self.parameter.addcdiv_(move, denominator, value=-self.rate * scale / (1 - 0.9**self.count))
