"""What takes long, as functions of plain data: they run in a worker process, or in the server where it has none.

Each is `task(*args, emit)`: `emit` tells whoever waits how far it is.
"""

from dashboard.tasks.debugging import (
    Grouping,
    Listed,
    Trying,
    find_cause,
    find_flip,
    find_patterns,
    list_instances,
    predict_edited,
)
from dashboard.tasks.explaining import (
    Beside,
    Compared,
    Found,
    Started,
    Step,
    Timed,
    compare,
    explain,
    resize,
    try_starts,
)
from dashboard.tasks.own_data import (
    FileRefused,
    Training,
    TrainRequest,
    plan_of,
    read_upload,
    sizes_of_weights,
    take_weights,
    train_network,
)
from dashboard.tasks.prototyping import ClassRequest, Growing, make_prototype, stored_prototypes, usual_request
from dashboard.tasks.sealed import Sealed
from dashboard.tasks.warming import restore, warm_up

__all__ = [
    "Beside",
    "ClassRequest",
    "Compared",
    "FileRefused",
    "Found",
    "Grouping",
    "Growing",
    "Listed",
    "Sealed",
    "Started",
    "Step",
    "Timed",
    "TrainRequest",
    "Training",
    "Trying",
    "compare",
    "explain",
    "find_cause",
    "find_flip",
    "find_patterns",
    "list_instances",
    "make_prototype",
    "plan_of",
    "predict_edited",
    "read_upload",
    "resize",
    "restore",
    "sizes_of_weights",
    "stored_prototypes",
    "take_weights",
    "train_network",
    "try_starts",
    "usual_request",
    "warm_up",
]
