"""The methods by name. A new one is a file of its own, which describes it, and a line here."""

from explainer_core.checks import one_of
from explainer_core.methods.attention import ATTENTION
from explainer_core.methods.gnnexplainer import GNNEXPLAINER
from explainer_core.methods.gradient import GRADIENT, INTEGRATED_GRADIENTS
from explainer_core.methods.method import Method
from explainer_core.methods.occlusion import OCCLUSION
from explainer_core.methods.trivial import PROXIMITY, RANDOM
from explainer_core.methods.verified import VERIFIED

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        VERIFIED,
        GNNEXPLAINER,
        GRADIENT,
        ATTENTION,
        OCCLUSION,
        INTEGRATED_GRADIENTS,
        RANDOM,
        PROXIMITY,
    )
}
DEFAULT_METHOD = VERIFIED.name


def method_named(name: str) -> Method:
    """The method of that name; ValueError where there is none."""
    return METHODS[one_of("method", name, METHODS)]
