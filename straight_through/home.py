"""``check(f)``: the checks at home, in the learner's own kernel."""

import inspect
from pathlib import Path

import nbformat

from straight_through import course, progress
from straight_through.checks.diagnosis import structure
from straight_through.checks.misconceptions import attach_labels
from straight_through.checks.problems import PROBLEMS
from straight_through.checks.solutions import role
from straight_through.checks.visible import (
    diagnose,
    hidden_at_hand,
    hidden_count,
    run_hidden,
    run_visible,
)
from straight_through.feedback import Verdict
from straight_through.local import LocalSubmission, from_source
from straight_through.submission import Submission, SubmissionRaised, is_stub

SEED = 0  # at home the inputs are always the same


def check(function, name: str | None = None) -> Verdict:
    """Check a graded function and show what was found.

    Args:
        function: the function to check; any callable.
        name: which graded function it is meant to be, where that cannot be told from the name it
            is bound to or carries.

    Returns:
        A verdict that shows itself: a table and a picture in Jupyter, plain text elsewhere.
    """
    frame = inspect.currentframe().f_back
    name = name or course.load().name_of(function, {**frame.f_globals, **frame.f_locals})
    if name is None:
        return Verdict.refused(_unknown(function))
    try:
        exercise = course.load().exercise_of(name)
    except course.UsageError as error:
        return Verdict.refused(str(error))
    if not callable(function):
        kind = type(function).__name__
        return Verdict.refused(
            f"check() wants the function itself, as in check({name}), not {kind}."
        )
    stubs = [name] if _untouched(function, name) else []
    verdict = judge(LocalSubmission({name: function}, SEED, stubs), exercise.stem, name)
    log = progress.load()
    log.record_check(exercise.stem, name, verdict.passed, verdict.misconceptions)
    log.save()
    return verdict


def _unknown(function) -> str:
    shown = getattr(function, "__name__", type(function).__name__)
    known = ", ".join(course.load().functions)
    return (
        f"check() cannot tell which exercise {shown!r} belongs to; say it, as in "
        f"check({shown}, 'ste_quantize'). Graded functions: {known}."
    )


def judge(submission: Submission, stem: str, name: str) -> Verdict:
    """The verdict on one function: visible checks, and the hidden ones where they are at hand."""
    label = structure(submission, name)
    if label:
        return Verdict.without_checks(stem, name, label, submission)
    rows = list(run_visible(submission, name))
    hidden = list(run_hidden(submission, stem, name)) if hidden_at_hand(stem) else []
    failed = any(outcome.outcome != "passed" for outcome, _ in rows + hidden)
    labels = diagnose(submission, name) if failed else []
    return Verdict(
        stem=stem,
        function=name,
        outcomes=attach_labels(rows, labels),
        hidden=attach_labels(hidden, labels),
        hidden_at_hand=hidden_at_hand(stem),
        hidden_count=hidden_count(stem, name),
        misconceptions=labels,
        submission=submission if failed else None,
    )


def _untouched(function, name: str) -> bool:
    """A stub is known by its source; where that cannot be read, by how it ends when called."""
    known = is_stub(function, name)
    if known is not None or name not in PROBLEMS:
        return bool(known)
    try:
        LocalSubmission({name: function}).call(name, *PROBLEMS[name].example)
    except SubmissionRaised as raised:
        return raised.failure.type == "NotImplementedError" and not raised.failure.message
    return False


def check_notebook(path: Path) -> list[Verdict]:
    """Check a notebook from the terminal: one verdict for each graded function of its exercise."""
    exercise = course.load().exercise(path.stem)
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    setup = "\n".join(c.source for c in cells if role(c)[0].startswith("setup"))
    answers = "\n\n\n".join(c.source for c in cells if role(c)[1])
    submission = from_source(answers, SEED, setup)
    return [judge(submission, exercise.stem, f.name) for f in exercise.functions]
