"""Grade one submission: run the notebook and the hidden checks, name the misconceptions.

Runs in a worker process of the grader. What a submission does can end its own run; anything else
that goes wrong is ours, is tried once more, and never becomes a grade.
"""

import contextlib
import io
import os
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import nbformat
import pytest

from straight_through import course
from straight_through.checks import Outcome, Weight
from straight_through.checks.diagnosis import structure
from straight_through.checks.misconceptions import label_for
from straight_through.checks.portrait import portrait
from straight_through.checks.visible import HIDDEN, diagnose, hidden_tests
from straight_through.grading.cells import Unreadable
from straight_through.grading.kernel import KernelSubmission, StartFailed, WatchedKernel
from straight_through.grading.notebook import NotebookPlugin
from straight_through.grading.prepare import Prepared, our_cells, prepare
from straight_through.grading.sandbox import Limits
from straight_through.submission import SubmissionStopped

# Of no use here, and the last two collect garbage for a quarter of a second at the end of a run.
UNUSED = ("cacheprovider", "faulthandler", "doctest", "junitxml", "pastebin")
UNUSED += ("threadexception", "unraisableexception")
MOST = 3  # misconceptions that a learner is told at once


@dataclass(frozen=True)
class Task:
    """One submission to grade: bytes, so that a worker needs no file of the class."""

    learner: str
    exercise: str
    file: str
    raw: bytes | None
    seed: int
    isolation: str
    limits: Limits = Limits()
    problem: str = ""  # why there are no bytes
    cache: str = ""  # a folder of compiled code
    warming: bool = False  # our own solution, which fills that folder


@dataclass
class Result:
    """What became of it, as it goes into the gradebook."""

    status: str
    message: str = ""
    checks: list[dict] = field(default_factory=list)
    misconceptions: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    portraits: dict = field(default_factory=dict)
    isolation: str = ""  # in which it ran
    stale: bool = False  # an earlier grade: the newest file could not be graded

    @property
    def score(self) -> float | None:
        if self.status in ("missing", "unreadable", "error"):
            return None
        return sum(check["score"] for check in self.checks)


def grade_one(task: Task) -> Result:
    """The result for one submission; status "error" if it could not be graded."""
    begin = time.monotonic()
    result = _grade_readable(task)
    result.seconds = round(time.monotonic() - begin, 2)
    result.isolation = task.isolation
    return result


def _grade_readable(task: Task) -> Result:
    exercise = course.load().exercise(task.exercise)
    if task.raw is None:
        return Result("unreadable", task.problem)
    try:
        prepared = prepare(task.raw, exercise)
    except Unreadable as error:
        return Result("unreadable", str(error))
    if prepared.mistaken:
        checks = [_row(outcome) for outcome in _not_run(exercise, [])]
        return Result("not_attempted", prepared.mistaken, checks, ["not_attempted"])
    if prepared.stubs and prepared.stubs | prepared.undefined == {
        function.name for function in exercise.functions
    }:
        checks = [_row(outcome) for outcome in _not_run(exercise, [])]
        message = "The exercise was handed in as it was given out."
        return Result("not_attempted", message, checks, ["not_attempted"], prepared.repairs)
    for attempt in (1, 2):
        try:
            return _run_through(task, exercise, prepared)
        except StartFailed as error:
            if attempt == 2:
                return Result("error", f"{error} This is no fault of the submission.")
    raise AssertionError("not reached")


def _run_through(task: Task, exercise: course.Exercise, prepared: Prepared) -> Result:
    """Run it; if a scratch cell stops it, which must cost nothing, once more without that cell."""
    result, culprit = _run(task, exercise, prepared)
    if culprit is None or result.status == "error":
        return result
    said = f"{culprit} was left out: {result.message.split(': ', 1)[-1].rstrip('.')}"
    cells = [cell for cell in prepared.notebook.cells if cell.metadata.ste.label != culprit]
    rest = replace(
        prepared,
        notebook=nbformat.v4.new_notebook(cells=cells),
        repairs=[*prepared.repairs, said],
    )
    again, _ = _run(task, exercise, rest)
    again.cpu_seconds = round(again.cpu_seconds + result.cpu_seconds, 2)
    if again.status == "graded":
        again.message = f"{again.message} {said[0].upper()}{said[1:]}.".strip()
    return again


def _run(task: Task, exercise, prepared: Prepared) -> tuple[Result, str | None]:
    """The result, and the label of the scratch cell that stopped the run, if one did."""
    kernel = WatchedKernel(task.isolation, task.limits, cache=task.cache, warming=task.warming)
    try:
        submission = KernelSubmission(kernel, task.seed, prepared.stubs)
        outcomes: list[Outcome] = []
        plugin = NotebookPlugin(kernel, submission, outcomes)
        _pytest(prepared, exercise, plugin)
        outcomes = _in_order(exercise, outcomes)
        labels, portraits = _explain(exercise, submission, outcomes)
        stopped = kernel.stopped
    finally:
        kernel.close()
    notes = [*dict.fromkeys(submission.notes)]
    checks = [_row(outcome, _label(exercise, outcome, labels)) for outcome in outcomes]
    full = all(outcome.outcome == "passed" for outcome in outcomes)
    named = [] if full else list(dict.fromkeys(sum(labels.values(), [])))[:MOST]
    result = Result(
        status=stopped.status if stopped else "graded",
        message=stopped.message if stopped else _message(submission, named),
        checks=checks,
        misconceptions=named,
        repairs=[*prepared.repairs, *plugin.repairs],
        notes=notes,
        cpu_seconds=round(kernel.cpu_seconds, 2),
        portraits=portraits,
    )
    return result, _scratch(plugin.stopped_in)


def _scratch(stopped_in: list) -> str | None:
    """The label of the cell that a run was stopped in, if it is a learner's and no answer."""
    for mark in stopped_in[:1]:
        if mark.role == "learner" and not mark.functions:
            return mark.label
    return None


def _message(submission: KernelSubmission, named: list[str]) -> str:
    """For code that does not run, which cell it was and why."""
    if named and named[0] in ("raises", "not_defined") and submission.notes:
        return f"{submission.notes[0][0].upper()}{submission.notes[0][1:]}."
    return ""


def _pytest(prepared: Prepared, exercise: course.Exercise, plugin: NotebookPlugin) -> None:
    """One pytest run over the prepared notebook and the hidden checks."""
    with tempfile.TemporaryDirectory(prefix="ste-run-") as folder:
        notebook = Path(folder) / "notebook.ipynb"
        nbformat.write(prepared.notebook, notebook)
        ini = Path(folder) / "pytest.ini"
        ini.write_text("[pytest]\n")
        arguments = [str(notebook), str(HIDDEN / f"test_{exercise.stem}.py"), "-c", str(ini)]
        arguments += ["--rootdir", folder, "--noconftest", "--import-mode=importlib", "-q"]
        for unused in UNUSED:
            arguments += ["-p", f"no:{unused}"]
        arguments += ["--capture=no"]
        arguments += ["-p", "nbval.plugin", "-p", "straight_through.checks.plugin"]
        limit = plugin.kernel.limits.cell
        arguments += ["--assert=plain", "--color=no", f"--nbval-cell-timeout={limit}"]
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = pytest.main(arguments, plugins=[plugin])
        if code == pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise StartFailed(f"pytest ended with {code!r}: {said.getvalue()[-400:]}")


def _not_run(exercise: course.Exercise, outcomes: list[Outcome]) -> list[Outcome]:
    """Every check that has no outcome yet, as not run."""
    known = {outcome.id for outcome in outcomes}
    rest = []
    for cell in our_cells(exercise.stem)[1]:
        mark = cell.metadata.get("ste", {})
        title = mark.get("title", "The worked example")
        rest.append(
            Outcome(cell.metadata.nbgrader.grade_id, title, "not_run", points=mark.get("points", 0))
        )
    for test in hidden_tests(exercise.stem):
        name = test.__name__.removeprefix("test_")
        rest.append(Outcome(name, test.graded.title, "not_run", True, test.graded.points))
    return [outcome for outcome in rest if outcome.id not in known]


def _in_order(exercise: course.Exercise, outcomes: list[Outcome]) -> list[Outcome]:
    """All checks in the order of the notebook and the check file, each exactly once."""
    order = [outcome.id for outcome in _not_run(exercise, [])]
    every = {outcome.id: outcome for outcome in outcomes + _not_run(exercise, outcomes)}
    return [every[name] for name in order]


def _hidden(exercise: course.Exercise, check: str) -> Weight | None:
    """What a hidden check says of itself; None if it is a visible one."""
    tests = {test.__name__: test.graded for test in hidden_tests(exercise.stem)}
    return tests.get(f"test_{check}")


def _function_of(exercise: course.Exercise, check: str) -> str:
    """The graded function that a check is about."""
    hidden = _hidden(exercise, check)
    if hidden and hidden.function:
        return hidden.function
    for function in exercise.functions:
        if check == f"example_{function.name}":
            return function.name
    return exercise.functions[0].name


def _explain(exercise, submission, outcomes) -> tuple[dict[str, list[str]], dict]:
    """The labels, and the arrays for a picture, of each function that failed a check."""
    labels, portraits = {}, {}
    for function in exercise.functions:
        mine = [o for o in outcomes if _function_of(exercise, o.id) == function.name]
        failed = [outcome for outcome in mine if outcome.outcome == "failed"]
        if not failed:
            continue
        found = []
        with contextlib.suppress(SubmissionStopped):
            found = _named(exercise, submission, function.name, failed[0])
            arrays = _drawn(submission, function.name, found)
            if arrays is not None:
                portraits[function.name] = {k: v.tolist() for k, v in arrays.items()}
        labels[function.name] = found
    return labels, portraits


def _drawn(submission, function: str, labels: list[str]) -> dict | None:
    """The arrays of a picture. One that cannot be drawn costs the picture, not the grade."""
    try:
        return None if structure(submission, function) else portrait(submission, function, labels)
    except SubmissionStopped:
        raise
    except Exception:
        return None


def _named(exercise, submission, function: str, failed: Outcome) -> list[str]:
    """The labels of a failed answer. A diagnosis that fails costs the name, not the grade."""
    try:
        return diagnose(submission, function) or [_fallback(exercise, failed)]
    except SubmissionStopped:
        raise
    except Exception:
        return [_fallback(exercise, failed)]


def _about(exercise: course.Exercise, check: str) -> str:
    hidden = _hidden(exercise, check)
    return hidden.about if hidden else "values"


def _fallback(exercise: course.Exercise, outcome: Outcome) -> str:
    """A failed check always has a name, even where the diagnosis finds nothing."""
    if outcome.message.startswith("Your code raised"):
        return "raises"
    if _about(exercise, outcome.id) == "derivative":
        return "soft_gradient"
    return "soft_values" if exercise.functions[0].name == "ste_quantize" else "wrong_values"


def _label(exercise, outcome: Outcome, labels: dict[str, list[str]]) -> str | None:
    if outcome.outcome != "failed":
        return None
    mine = labels.get(_function_of(exercise, outcome.id), [])
    return label_for(mine, _about(exercise, outcome.id))


def _row(outcome: Outcome, misconception: str | None = None) -> dict:
    """A check as it stands in grades.json."""
    row = asdict(outcome)
    row.pop("picture")
    return {**row, "score": outcome.score, "misconception": misconception}
