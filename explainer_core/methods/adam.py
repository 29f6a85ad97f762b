"""Adam for a mask: the optimiser of every mask."""

import torch
from torch import Tensor


class Adam:
    """Adam (Kingma & Ba 2015) for one tensor, in place."""

    def __init__(self, parameter: Tensor, rate: float):
        self.parameter, self.rate, self.count = parameter, rate, 0
        self.mean, self.square = torch.zeros_like(parameter), torch.zeros_like(parameter)

    def step(self, gradient: Tensor) -> None:
        self.count += 1
        self.mean.lerp_(gradient, 0.1)
        self.square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        scale = (1 - 0.999**self.count) ** 0.5
        denominator = self.square.sqrt().add_(1e-8 * scale)
        self.parameter.addcdiv_(self.mean, denominator, value=-self.rate * scale / (1 - 0.9**self.count))
