"""The arrays behind a verdict's picture: the learner's curves, and the right ones."""

import numpy as np

from straight_through.checks.draws import LENGTH, significand_bits
from straight_through.checks.problems import PROBLEMS, Problem
from straight_through.submission import Submission, SubmissionRaised
from straight_through.wire import WireError

POINTS = 95
WHOLE = {"mixed_jacobian", "ignored_cotangent", "memorised"}  # depends on what is asked together
FAR = {"rounding", "always_zero", "extra_precision"}  # seen only where whole numbers are lost


def _grid(problem: Problem, labels: list[str]) -> np.ndarray:
    """Where to look: around zero, or, for what shows only there, around 2^p in float32."""
    if labels and labels[0] in FAR or problem.slope is None:
        p = significand_bits("float32")
        sizes = np.concatenate([np.linspace(0.3, 8, 16), np.exp2(np.linspace(4, p + 6, 33)) + 0.3])
        return np.concatenate([-sizes[::-1], [0], sizes]).astype(np.float32)
    if problem.name == "sign_slope":
        return np.linspace(-1, 1, POINTS).astype(np.float32)
    return np.linspace(-3, 3, POINTS).astype(np.float32)


def portrait(submission: Submission, function: str, labels: list[str]) -> dict | None:
    """``x, yours, expected`` and, where a derivative is graded, ``slope, expected_slope``.

    None where there is nothing to draw: no array, another shape, or it raises. The slope is what
    came back for a cotangent that is different everywhere, divided by it: for a right answer that
    is the diagonal of the Jacobian, and every other kind of mistake shows as well.
    """
    problem = PROBLEMS.get(function)
    if problem is None:
        return None
    x = _grid(problem, labels)
    pieces = [x] if WHOLE & set(labels) else _pieces(x)
    answers = [_ask(submission, problem, piece) for piece in pieces]
    if any(answer is None for answer in answers):
        return None
    shared = set.intersection(*(set(answer) for answer in answers))
    joined = {key: np.concatenate([a[key] for a in answers])[: x.size] for key in sorted(shared)}
    return {"x": x.astype(np.float64), **joined}


def _pieces(x: np.ndarray) -> list[np.ndarray]:
    """``x`` in pieces of the length for which everything was compiled; the last is filled up."""
    return list(np.pad(x, (0, -x.size % LENGTH), mode="edge").reshape(-1, LENGTH))


def _ask(submission: Submission, problem: Problem, x: np.ndarray) -> dict | None:
    args = (x, *[np.float32(0.25)] * (len(problem.example) - 1))
    answer = _both(submission, problem, args) or _value(submission, problem, args)
    drawable = answer and all(values.shape == x.shape for values in answer.values())
    return answer if drawable else None


def _both(submission, problem, args) -> dict | None:
    if problem.slope is None:
        return None
    g = np.interp(args[0], [-3, 3], [0.5, 2]).astype(np.float32)  # smooth: so is the picture
    try:
        value, ((back, *_),) = submission.vjp(problem.name, args, [g])
        slope = back.astype(np.float64) / g
        return {
            "yours": value.astype(np.float64),
            "expected": problem.value(*args),
            "slope": slope,
            "expected_slope": problem.slope(*args).astype(np.float64),
        }
    except (SubmissionRaised, WireError, AttributeError, TypeError, ValueError):
        return None


def _value(submission, problem, args) -> dict | None:
    try:
        value = submission.call(problem.name, *args)
        return {"yours": value.astype(np.float64), "expected": problem.value(*args)}
    except (SubmissionRaised, WireError, AttributeError, TypeError, ValueError):
        return None
