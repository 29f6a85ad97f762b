"""The export "Interactive network": the same explanation, in the page's colours."""

import json
import re

import pytest
from test_services import ALL, answered, name

from dashboard import services


@pytest.mark.parametrize("request_", ALL, ids=name)
def test_the_network_holds_the_subgraph_in_the_accent_and_asks_for_nothing(request_):
    answer = answered(request_)
    text = services.as_network(answer)
    edges = json.loads(re.search(r"edges = new vis\.DataSet\((.*?)\);", text)[1])
    kept = {tuple(sorted((edge["from"], edge["to"]))) for edge in edges if edge["color"] == "#0072B2"}
    assert kept == set(answer.explanation.subgraph().edges)
    assert not re.search(r"(?:src|href)\s*=\s*[\"']https?:", text)
