"""Warming up: afterwards a full garbage collection, which Streamlit makes after every run, costs next to nothing."""

import gc

from dashboard import services


def test_what_is_loaded_once_is_not_looked_at_again():
    services.warm_up()
    try:
        assert gc.get_freeze_count() > 100_000  # torch, pandas and Streamlit alone
        assert len(gc.get_objects()) < gc.get_freeze_count() / 20
    finally:
        gc.unfreeze()
