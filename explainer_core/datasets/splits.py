"""The split of examples into training, validation and test part: the same for the same labels and seed."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor

PARTS = ("train", "val", "test")


def split_80_10_10(labels: np.ndarray, seed: int) -> dict[str, Tensor]:
    """Train, validation and test examples, every class in its share."""
    everyone = np.arange(len(labels))
    train, rest = train_test_split(everyone, test_size=0.2, stratify=labels, random_state=seed)
    # a class of one or two members cannot be shared out again between validation and test
    fair = np.bincount(labels[rest]).min(initial=2, where=np.bincount(labels[rest]) > 0) >= 2
    val, test = train_test_split(rest, test_size=0.5, stratify=labels[rest] if fair else None, random_state=seed)
    return {part: torch.from_numpy(np.sort(chosen)) for part, chosen in zip(PARTS, (train, val, test), strict=True)}
