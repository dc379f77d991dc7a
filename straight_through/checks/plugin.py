"""The pytest plugin of the hidden checks: the ``submission`` fixture, and what became of a check.

Without a submission the fixture serves the exercise's solution, so that plain ``pytest`` passes.
The grader hands its own over with ``GRADED``, together with a list for the outcomes.
"""

import dataclasses

import pytest

from straight_through.checks import CheckFailed, Outcome
from straight_through.submission import Submission, SubmissionStopped

GRADED: pytest.StashKey[Submission] = pytest.StashKey()
OUTCOMES: pytest.StashKey[list[Outcome]] = pytest.StashKey()


@pytest.fixture
def submission(request) -> Submission:
    """The functions that are graded."""
    given = request.config.stash.get(GRADED, None)
    if given is not None:
        return given
    from straight_through.local import solution

    return solution(request.path.stem.removeprefix("test_"))


def outcome_of(test, error: BaseException | None) -> Outcome:
    """What a hidden check's test function, which raised ``error`` or nothing, says."""
    weight = test.graded
    base = Outcome(
        id=test.__name__.removeprefix("test_"),
        title=weight.title,
        outcome="passed",
        hidden=True,
        points=weight.points,
    )
    if error is None:
        return base
    if isinstance(error, CheckFailed):
        return dataclasses.replace(
            base,
            outcome="failed",
            message=error.message,
            called=error.called,
            returned=error.returned,
            expected=error.expected,
            picture=error.picture,
        )
    if isinstance(error, SubmissionStopped):
        return dataclasses.replace(base, outcome="not_run", message=error.message)
    return dataclasses.replace(
        base,
        outcome="error",
        message=f"This check failed for a reason of ours, sorry: {type(error).__name__}: {error}",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    outcomes = item.config.stash.get(OUTCOMES, None)
    test = getattr(item, "function", None)
    if outcomes is not None and hasattr(test, "graded"):
        error = call.excinfo.value if call.excinfo else None
        if call.when == "call" or error is not None:
            outcomes.append(outcome_of(test, error))
    return report
