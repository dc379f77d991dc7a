"""Gradescope's results.json: one file a learner, every check as a test.

Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from straight_through import course
from straight_through.grading.collect import NOTHING
from straight_through.grading.engine import Graded

STATUS = {"passed": "passed", "failed": "failed", "error": "failed", "not_run": "failed"}


def results(items: list[Graded]) -> dict | None:
    """What Gradescope reads for one learner's exercises; None if one failed for a reason of ours.

    Gradescope knows no submission without a score: what cannot be read, or is no notebook of the
    course, gets 0 there, with the reason, and can be handed in again. Without a file Gradescope
    itself reports a failure. None, too, for somebody who handed in nothing at all.
    """
    if all(map(_absent, items)) or any(item.result.status == "error" for item in items):
        return None
    overridden = any(item.override is not None for item in items)
    scores = [i.result.score if i.override is None else i.override for i in items]
    said = [text for item in items for text in _said(item)]
    tests = [
        _test(item, number, place, check)
        for number, item in enumerate(items, 1)
        for place, check in enumerate(item.result.checks, 1)
    ]
    score = sum(score or 0 for score in scores) if overridden or None in scores else None
    return _content(score, "\n".join(said), tests, sum(item.result.seconds for item in items))


def nothing(told: str) -> dict:
    """What Gradescope reads for a hand-in without any notebook of the course."""
    return _content(0, told)


def _content(score: float | None, output: str, tests=(), seconds: float = 0) -> dict:
    """results.json; without a score Gradescope adds up the tests."""
    return {
        **({} if score is None else {"score": score}),
        "execution_time": round(seconds),
        "output": output,
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": list(tests),
    }


def _absent(item: Graded) -> bool:
    missing = item.result.status == "missing" and item.result.message == NOTHING
    return missing and item.override is None


def _said(item: Graded) -> list[str]:
    title = course.load().exercise(item.found.exercise).title
    every = [item.result.message, *item.result.repairs, item.comment]
    return [f"{title}: {text}" for text in every if text]


def _test(item: Graded, number: int, place: int, check: dict) -> dict:
    return {
        "number": f"{number}.{place}",
        "name": f"{item.found.exercise}: {check['title']}",
        "score": check["score"],
        "max_score": check["points"],
        "status": STATUS[check["outcome"]],
        "output": check["message"],
        "tags": [item.found.exercise, *filter(None, [check["misconception"]])],
        "visibility": "visible",
    }
