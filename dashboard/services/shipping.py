"""The prototypes that the page opens with, made once and kept beside the weights."""

from collections.abc import Callable
from pathlib import Path

from dashboard.services.predict import class_names
from dashboard.services.prototypes import targets_of_class
from dashboard.tasks import make_prototype, usual_request
from explainer_core.prototypes.stored import save_prototypes
from explainer_core.zoo.pretrained import find_card


def ship_prototypes(dataset: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Writes the prototypes of every class of a data set's main network, as the page asks for them first."""
    card, made = find_card(dataset), {}
    request = usual_request(dataset, card.model, 0)
    for label, name in enumerate(class_names(dataset, card.task)):
        asked = usual_request(dataset, card.model, label)
        try:
            made[label] = make_prototype(asked, targets_of_class(asked), emit=lambda progress: None)
        except ValueError as error:  # a class without members: the page says the same
            tell(f"{dataset}, {name}: left out; {error}")
        else:
            tell(f"{dataset}, {name}: {len(made[label].members)} members")
    return save_prototypes(made, card, request.instances, request.config, folder)
