import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the module that builds classes

from straight_through.grading.sandbox import sandbox_problem  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def _sandbox():
    problem = sandbox_problem()
    if problem and os.environ.get("STE_REQUIRE_ALL") == "1":
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
