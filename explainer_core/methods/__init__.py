"""The methods by name: every one takes a Problem and returns Weights."""

from explainer_core.methods.attention import attention
from explainer_core.methods.gnnexplainer import gnnexplainer
from explainer_core.methods.gradient import gradient, integrated_gradients
from explainer_core.methods.occlusion import occlusion
from explainer_core.methods.trivial import proximity, random

METHODS = {
    "verified": gnnexplainer,  # the mask is where it starts; explanation/verifying.py goes on by asking the model
    "gnnexplainer": gnnexplainer,
    "gradient": gradient,
    "attention": attention,
    "occlusion": occlusion,
    "integrated_gradients": integrated_gradients,
    "random": random,
    "proximity": proximity,
}
