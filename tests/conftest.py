"""One torch thread for all tests: on small tensors more of them only wait for each other."""

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def one_torch_thread():
    torch.set_num_threads(1)
