"""A network's pass over one batch, recorded once and repeated: its tensor functions without its modules and hooks.

What follows from neither the mask nor the features is worked out once, when the pass is recorded. Autograd follows a repeated
pass as it follows the network. A pass that reads values on its way could go another way the next time: there is no tape of it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# What may be asked of a tensor that is another in every pass: shapes and types stay. Properties come as "__get__".
ABOUT_SHAPE = {
    *("size", "dim", "numel", "nelement", "ndimension", "__len__", "stride", "storage_offset", "is_contiguous"),
    *("is_floating_point", "is_complex", "element_size", "get_device", "is_inference", "type", "__hash__", "__get__"),
}
OF_SHAPE = {
    "new_zeros",
    "new_ones",
    "new_full",
    "zeros_like",
    "ones_like",
    "full_like",
}  # read nothing else of a tensor
OTHER_MEMORY = {"set_", "__set__"}  # the same tensor, with the memory of another
OF_GRADIENTS = {"requires_grad", "is_leaf", "grad_fn", "grad"}  # a repeated pass need not have any
SIZED_BY_VALUES = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}


@dataclass(frozen=True)
class Place:
    """Where a tensor stands among all those of a pass."""

    number: int


@dataclass(frozen=True, eq=False)
class Operation:
    """One call of a torch function, places instead of tensors."""

    function: Callable
    args: tuple
    kwargs: dict[str, Any]
    reads: list[int]  # the places among them
    results: list[Place | None]  # of each part of the result, None where it is no tensor
    single: bool  # whether the result is a tensor, not several
    storages: set[int]  # of all tensors it was given or gives
    written: set[int]  # those it changed

    @property
    def gives(self) -> list[int]:
        return [place.number for place in self.results if place is not None]


class Recorder(TorchFunctionMode):
    """Sees every torch function that this thread calls."""

    def __init__(self, given: Sequence[Tensor]):
        super().__init__()
        self.tensors: list[Tensor] = []  # kept, so that no other has the same id or storage meanwhile
        self.operations: list[Operation] = []
        self.made: set[int] = set()  # storages that did not exist before
        self._place_of: dict[int, Place] = {}
        self.varies = {self.place(tensor).number for tensor in given}  # another in every pass
        self.varying: set[int] = set()  # storages that something other is written into in every pass
        self.reason = ""  # why there is no tape
        self.operators = _Operators()

    def __enter__(self):
        self.operators.__enter__()
        return super().__enter__()

    def __exit__(self, *raised):
        super().__exit__(*raised)
        self.operators.__exit__(*raised)
        if self.operators.unseen:
            self.reason = "something was worked out where it is not seen"

    def place(self, tensor: Tensor) -> Place:
        known = self._place_of.get(id(tensor))
        if known is None:
            known = self._place_of[id(tensor)] = Place(len(self.tensors))
            self.tensors.append(tensor)
        return known

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = _tensors(kwargs, _tensors(args, []))
        versions = [_version(tensor) for tensor in tensors]
        with self.operators.of_function():
            result = func(*args, **kwargs)
        if any(tensor.layout != torch.strided for tensor in _tensors(result, tensors.copy())):
            self.reason = "a sparse matrix says nothing of its memory"
        if retrieve_all_functorch_interpreters():
            self.reason = "the tensors of torch.func have no memory"
        if self.reason:
            return result
        written = [t for t, version in zip(tensors, versions, strict=True) if _version(t) != version]
        made = _tensors(result, [])
        name = getattr(func, "__name__", "")
        varies = name not in OF_SHAPE and any([self._varies(tensor) for tensor in tensors])
        if varies and not torch.is_grad_enabled():
            self.reason = "gradients are turned off on the way"
        asked = getattr(getattr(func, "__self__", None), "__name__", "") if name == "__get__" else name
        if varies and asked in OF_GRADIENTS:
            self.reason = f"{asked} is not there without gradients"
        if varies and torch.is_autocast_enabled(tensors[0].device.type):
            self.reason = "numbers are rounded on the way"
        if varies and (self.operators.sized_by_values or (not made and not written and name not in ABOUT_SHAPE)):
            self.reason = f"{name} reads values"
        if not {_storage(tensor) for tensor in written} <= self.made:
            self.reason = "memory that was there before is written into"
        if name in OTHER_MEMORY:
            self.reason = f"{name} gives a tensor other memory"
        nothing_done = not written and len(made) == 1 and any(made[0] is tensor for tensor in tensors)
        if (made or written) and not nothing_done:
            self._add(func, args, kwargs, tensors, result, written, varies)
        return result

    def _varies(self, tensor: Tensor) -> bool:
        known = self._place_of.get(id(tensor))
        if known is None and tensor.requires_grad:  # all weights are frozen, and all that is given has a gradient
            self.reason = "something was worked out where it is not seen"
        return (known is not None and known.number in self.varies) or _storage(tensor) in self.varying

    def _add(self, func, args, kwargs, tensors, result, written, varies: bool) -> None:
        results = [self.place(leaf) if isinstance(leaf, Tensor) else None for leaf in _leaves(result)]
        before = {_storage(tensor) for tensor in tensors}
        storages = before | {_storage(tensor) for tensor in _tensors(result, [])}
        self.made |= storages - before
        operation = Operation(
            function=func,
            args=self._placed(args),
            kwargs=self._placed(kwargs),
            reads=[self.place(tensor).number for tensor in tensors],
            results=results,
            single=isinstance(result, Tensor),
            storages=storages,
            written={_storage(tensor) for tensor in written},
        )
        self.operations.append(operation)
        if varies:
            self.varies.update(operation.gives)
            self.varying |= operation.written

    def _placed(self, value: Any) -> Any:
        """The same with places instead of tensors."""
        if isinstance(value, Tensor):
            return self.place(value)
        if isinstance(value, slice) and _tensors([value.start, value.stop, value.step], []):
            self.reason = "an index is read from a tensor"
        if isinstance(value, tuple | list):
            placed = [self._placed(each) for each in value]
            return placed if isinstance(value, list) else tuple(placed)
        return {name: self._placed(each) for name, each in value.items()} if isinstance(value, dict) else value

    def repeated(self) -> list[Operation]:
        """The operations that vary, and all those on memory that these write into, or that is written into after them."""
        written: set[int] = set()
        while True:
            varies, kept, more, touched = set(self.varies), [], set(written), set()
            for operation in self.operations:
                more |= operation.written & touched
                if not written.isdisjoint(operation.storages) or not varies.isdisjoint(operation.reads):
                    kept.append(operation)
                    varies.update(operation.gives)
                    more |= operation.written
                    touched |= operation.storages
            if more == written:
                return kept
            written = more


class _Operators(TorchDispatchMode):
    """Sees the operators that torch functions are made of, and those of a script, which no torch function shows."""

    def __init__(self):
        super().__init__()
        self.unseen = self.sized_by_values = self._within = False

    @contextmanager
    def of_function(self) -> Iterator[None]:
        self._within, self.sized_by_values = True, False
        try:
            yield
        finally:
            self._within = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.unseen |= not self._within
        self.sized_by_values |= not SIZED_BY_VALUES.isdisjoint(func.tags) and not _by_position(func, args)
        return func(*args, **(kwargs or {}))


def _by_position(func, args: tuple) -> bool:
    """Rows taken by their numbers are as many as there are numbers; taken by true and false, as many as are true."""
    return func is torch.ops.aten.index.Tensor and all(
        index is None or index.dtype not in (torch.bool, torch.uint8) for index in args[1]
    )


class Tape:
    """The operations of a pass, in order, as they are repeated."""

    def __init__(self, operations: Sequence[Operation], tensors: Sequence[Tensor], given: int, answer: int):
        self.given, self.answer = given, answer
        operations = _wanted(operations, answer)
        made = {place for operation in operations for place in operation.gives}
        read = {place for operation in operations for place in operation.reads} - made - set(range(given))
        self.values: list[Any] = [tensor if place in read else None for place, tensor in enumerate(tensors)]
        self.steps = [
            (*self._step(operation), gone)
            for operation, gone in zip(operations, _last_seen(operations, answer), strict=True)
        ]

    def play(self, given: Sequence[Tensor]) -> Tensor:
        """What the network answers to these, of the same shapes and types as those it was recorded with."""
        values = self.values.copy()
        values[: self.given] = given
        for function, pick, place, gone in self.steps:
            result = function(*pick(values))
            if isinstance(place, int):
                values[place] = result
            else:
                for each, part in zip(place, _leaves(result), strict=True):
                    if each is not None:
                        values[each.number] = part
            for number in gone:
                values[number] = None
        return values[self.answer]

    def _step(self, operation: Operation) -> tuple[Callable, Callable, Any]:
        """The function, what picks its arguments from the values, and where its result goes."""
        args, kwargs, function = operation.args, operation.kwargs, operation.function
        if any(isinstance(leaf, Place) for leaf in _leaves(kwargs)):
            function, args, kwargs = _by_keywords(function, tuple(kwargs)), (*args, *kwargs.values()), {}
        if kwargs:
            function = partial(function, **kwargs)
        place = operation.results[0].number if operation.single and operation.results[0] else operation.results
        return function, self._picker(args), place

    def _picker(self, args: tuple) -> Callable:
        """Constants have a place too, so that all are picked at once."""
        nested = any(
            not isinstance(arg, Place) and any(isinstance(leaf, Place) for leaf in _leaves(arg)) for arg in args
        )
        if nested or len(args) < 2:
            return partial(_filled, args)
        places = []
        for arg in args:
            places.append(arg.number if isinstance(arg, Place) else len(self.values))
            if not isinstance(arg, Place):
                self.values.append(arg)
        return itemgetter(*places)


def record(given: Sequence[Tensor], run: Callable[[], Tensor]) -> tuple[Tape | None, Tensor]:
    """A tape of `run`, if there can be one, and what it answers. All given must need gradients: what is made of them is known
    by its own."""
    recorder = Recorder(given)
    with recorder:
        answer = run()
    if recorder.reason or recorder.place(answer).number not in recorder.varies:
        return None, answer
    return Tape(recorder.repeated(), recorder.tensors, len(given), recorder.place(answer).number), answer


def _wanted(operations: Sequence[Operation], answer: int) -> list[Operation]:
    """Without those that nothing comes of."""
    written = {storage for operation in operations for storage in operation.written}
    wanted, kept = {answer}, []
    for operation in reversed(operations):
        if not written.isdisjoint(operation.storages) or not wanted.isdisjoint(operation.gives):
            kept.append(operation)
            wanted.update(operation.reads)
    return kept[::-1]


def _last_seen(operations: Sequence[Operation], answer: int) -> list[list[int]]:
    """The places that are not looked at again after each operation: memory is freed as the network frees it."""
    seen, gone = {answer}, []
    for operation in reversed(operations):
        here = {*operation.reads, *operation.gives} - seen
        seen |= here
        gone.append(sorted(here))
    return gone[::-1]


def _tensors(value: object, found: list[Tensor]) -> list[Tensor]:
    """`found`, and all tensors in tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        found.append(value)
    elif isinstance(value, tuple | list):
        for each in value:
            _tensors(each, found)
    elif isinstance(value, dict):
        for each in value.values():
            _tensors(each, found)
    return found


def _leaves(value: object) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _filled(value, values: list):
    """With the tensors in their places again."""
    if isinstance(value, Place):
        return values[value.number]
    if isinstance(value, tuple | list) and value:
        return type(value)([_filled(each, values) for each in value])
    return value


def _by_keywords(function: Callable, names: tuple[str, ...]) -> Callable:
    def call(*args):
        here = len(args) - len(names)
        return function(*args[:here], **dict(zip(names, args[here:], strict=True)))

    return call


def _version(tensor: Tensor) -> int:
    """Changes when it is written into."""
    return 0 if tensor.is_inference() else tensor._version


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata
