"""The visible checks: the rows of the verdict table, for each graded function."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from straight_through import course
from straight_through.checks import CheckFailed, Outcome
from straight_through.checks.diagnosis import Diagnosis
from straight_through.checks.elementwise import Elementwise
from straight_through.checks.limits import LargestSafe, LimitDiagnosis
from straight_through.checks.plugin import outcome_of
from straight_through.checks.problems import PROBLEMS
from straight_through.submission import Submission, SubmissionStopped

HIDDEN = course.ROOT / "tests" / "hidden"
COUNTS = course.PACKAGE / "hidden_checks.json"  # in a class bundle, written by `ste release`

STRUCTURE = [("shape", "Shape", "structure"), ("dtype", "Dtype", "structure")]
TRANSFORMS = [("jit", "Under jit", "derivative"), ("vmap", "Under vmap", "derivative")]
ROWS = {
    "ste_quantize": [
        *STRUCTURE,
        ("values", "Values", "values"),
        ("zero", "Zero", "values"),
        ("large_inputs", "Large inputs", "values"),
        ("derivative", "Derivative", "derivative"),
        ("cotangent", "Cotangent passes through", "derivative"),
        ("jacobian", "Jacobian", "derivative"),
        ("inside_vjp", "Value inside vjp", "values"),
        *TRANSFORMS,
    ],
    "sign_slope": [
        *STRUCTURE,
        ("values", "Values", "values"),
        ("edge", "Where abs(x) = h", "values"),
        ("zero", "Zero", "values"),
        ("large_inputs", "Large inputs", "values"),
        ("derivative", "Derivative", "derivative"),
        *TRANSFORMS,
    ],
    "frozen_square": [
        *STRUCTURE,
        ("values", "Values", "values"),
        ("derivative", "Derivative", "derivative"),
        ("cotangent", "Cotangent passes through", "derivative"),
        ("jacobian", "Jacobian", "derivative"),
        ("inside_vjp", "Value inside vjp", "values"),
        *TRANSFORMS,
    ],
    "one_line_error": [
        *STRUCTURE,
        ("values", "Below the limit", "values"),
        ("large_inputs", "At the limit and beyond", "values"),
        *TRANSFORMS,
        ("inside_vjp", "Value inside vjp", "values"),
    ],
    "largest_safe": [
        ("is_int", "A Python int", "structure"),
        ("limits", "Every dtype", "values"),
        ("spellings", "Any spelling of a dtype", "values"),
    ],
}


def diagnose(submission: Submission, function: str) -> list[str]:
    """The misconceptions that the answer to one function shows, most telling first."""
    if function == "largest_safe":
        return LimitDiagnosis(submission).labels()
    return Diagnosis(submission, PROBLEMS[function]).labels()


def _checks(submission: Submission, function: str):
    if function == "largest_safe":
        return LargestSafe(submission)
    return Elementwise(submission, PROBLEMS[function])


def run_visible(submission: Submission, function: str) -> Iterator[tuple[Outcome, str]]:
    """Each visible check's outcome, with what it is about."""
    checks = _checks(submission, function)
    for name, title, about in ROWS[function]:
        method: Callable = getattr(checks, name)
        try:
            method()
        except CheckFailed as failed:
            yield (
                Outcome(
                    name,
                    title,
                    "failed",
                    message=failed.message,
                    called=failed.called,
                    returned=failed.returned,
                    expected=failed.expected,
                    picture=failed.picture,
                ),
                about,
            )
        except SubmissionStopped as stopped:
            yield Outcome(name, title, "not_run", message=stopped.message), about
        else:
            yield Outcome(name, title, "passed"), about


def hidden_at_hand(stem: str) -> bool:
    return (HIDDEN / f"test_{stem}.py").is_file()


@cache
def hidden_module(path: Path):
    """A file of hidden checks as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hidden_tests(stem: str, function: str | None = None) -> list[Callable]:
    """The hidden check functions of an exercise, those of one graded function if it is named."""
    module = hidden_module(HIDDEN / f"test_{stem}.py")
    tests = [test for name, test in vars(module).items() if name.startswith("test_")]
    if function is None:
        return tests
    return [test for test in tests if test.graded.function in ("", function)]


def hidden_count(stem: str, function: str) -> int | None:
    """How many hidden checks grading adds to a function's visible ones; None if nothing tells."""
    if hidden_at_hand(stem):
        return len(hidden_tests(stem, function))
    try:
        return json.loads(COUNTS.read_text(encoding="utf-8"))[stem][function]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_hidden(submission: Submission, stem: str, function: str) -> Iterator[tuple[Outcome, str]]:
    """The hidden checks of one function, called here as pytest calls them."""
    for test in hidden_tests(stem, function):
        try:
            test(submission)
        except Exception as error:
            yield outcome_of(test, error), test.graded.about
        else:
            yield outcome_of(test, None), test.graded.about
