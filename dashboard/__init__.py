"""The dashboard: draws what explainer_core computes, and never computes itself."""
