"""A process gets ready to explain: its device, one thread for small tensors, and what the first visitor asks for."""

from dataclasses import replace

from dashboard import catalogue
from dashboard.catalogue import own, script
from dashboard.first_look import first_look
from dashboard.schema import Request
from dashboard.tasks.explaining import explain
from explainer_core.device import restore_torch, take_device, use_one_thread


def warm_up(number: int) -> bool:
    """Prepares the worker of that number; False where there is no device for it."""
    if not take_device(number):
        return False
    use_one_thread()
    own.keep_tidy()
    script.run_in_worker()
    card = (catalogue.brought_cards() or catalogue.shipped_cards())[0]
    request = Request(card.dataset, card.model, card.task, first_look(card.dataset).target)
    explain(replace(request, config=replace(request.config, steps=1)), emit=lambda progress: None)
    return True


def restore() -> bool:
    """After a run that was cut off: an interruption may fall between two lines of torch's own that belong together, and leave
    this process without gradients, or within a mode. False where that cannot be mended."""
    return restore_torch()
