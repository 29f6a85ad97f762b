"""How much of the long tests is run: a twentieth, or everything with --long."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = """
import pytest

@pytest.mark.long
@pytest.mark.parametrize("case", range(60))
def test_sixty(case):
    pass

@pytest.mark.long
@pytest.mark.parametrize("case", range(7))
def test_seven(case):
    pass

@pytest.mark.long
def test_counting(share):
    print("asked for", share(1000), share(3))

def test_short():
    pass
"""


@pytest.mark.parametrize(
    ("options", "passed", "counted"), [([], 3 + 1 + 1 + 1, "50 1"), (["--long", "-m", "long"], 60 + 7 + 1, "1000 3")]
)
def test_a_twentieth_unless_all_are_asked_for(tmp_path, options, passed, counted):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    (tmp_path / "test_cases.py").write_text(CASES)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rP", "--strict-markers", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.search(rf"\b{passed} passed", done.stdout)
    assert f"asked for {counted}\n" in done.stdout
