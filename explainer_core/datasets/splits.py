"""Which examples a network is trained on, chosen by and tested with: the data's own split, or one by chance."""

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.model_selection import train_test_split
from torch import Tensor

from explainer_core.graph import NO_LABEL, Graph, GraphSet

PARTS = ("train", "val", "test")
LEAST_EXAMPLES = 10  # with fewer there is nothing to train on, to choose by and to test with


def split_80_10_10(labels: np.ndarray, seed: int) -> dict[str, Tensor]:
    """Train, validation and test examples, every class in its share; those of unknown class (-1) in none."""
    everyone = np.flatnonzero(labels != NO_LABEL)
    if len(everyone) < LEAST_EXAMPLES:
        raise ValueError(
            f"a network needs at least {LEAST_EXAMPLES} examples whose class is known (got {len(everyone)}); add more"
        )
    strata = _strata(labels[everyone])
    train, rest = train_test_split(everyone, test_size=0.2, stratify=strata, random_state=seed)
    # a class of one or two members cannot be shared out again between validation and test
    fair = np.bincount(labels[rest]).min(initial=2, where=np.bincount(labels[rest]) > 0) >= 2
    fair = fair and len(np.unique(labels[rest])) <= len(rest) // 2
    val, test = train_test_split(rest, test_size=0.5, stratify=labels[rest] if fair else None, random_state=seed)
    return _parts(train, val, test)


def _strata(labels: np.ndarray) -> np.ndarray | None:
    """By what examples are shared out: their classes; where some are too small, those together; None for chance alone."""
    counts = np.bincount(labels)
    many = len(labels) * 0.2
    if counts.min(initial=2, where=counts > 0) >= 2 and np.count_nonzero(counts) <= many:
        return labels
    small = counts < 5
    merged = np.where(small[labels], len(counts), labels)
    sizes = np.bincount(merged)
    return merged if sizes.min(initial=2, where=sizes > 0) >= 2 and np.count_nonzero(sizes) <= many else None


def split_of(data: Graph | GraphSet, labels: Tensor, seed: int) -> dict[str, Tensor]:
    """The data's own split where they have train_mask, val_mask and test_mask, as in PyTorch Geometric; else one by chance.

    Without a validation part an eighth of the training part is one; without a test part there is none.
    """
    masks = _masks(data)
    if masks is None:
        return split_80_10_10(labels.numpy(), seed)
    train, val, test = (np.flatnonzero((mask & (labels != NO_LABEL)).numpy()) for mask in masks)
    if len(train) < 2 or (len(val) == 0 and len(train) < LEAST_EXAMPLES):
        raise ValueError(
            f"the training part must have at least {LEAST_EXAMPLES} examples whose class is known (got {len(train)}); "
            "name more of them train, or leave the split out"
        )
    if len(val) == 0:
        train, val = train_test_split(
            train, test_size=0.125, stratify=_strata(labels.numpy()[train]), random_state=seed
        )
    return _parts(train, val, test)


def has_own_split(data: Graph | GraphSet) -> bool:
    return _masks(data) is not None


def _masks(data: Graph | GraphSet) -> list[Tensor] | None:
    """One entry for each node, or for each graph, whose nodes all say the same."""
    names = [f"{part}_mask" for part in PARTS]
    found = [data.node_data.get(name) for name in names]
    sound = [mask for mask in found if mask is not None and mask.dtype == torch.bool and mask.ndim == 1]
    if len(sound) < len(names):
        return None
    return [mask[data.node_start[:-1]] for mask in sound] if isinstance(data, GraphSet) else sound


def _parts(*chosen: ArrayLike) -> dict[str, Tensor]:
    return {part: torch.from_numpy(np.sort(np.asarray(each))) for part, each in zip(PARTS, chosen, strict=True)}
