"""Grades a folder of submissions: collect, run each in a worker, store, report."""

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
from dataclasses import dataclass, field, replace
from pathlib import Path

from straight_through import course
from straight_through.checks.solutions import SOLUTIONS
from straight_through.checks.visible import HIDDEN
from straight_through.grading import scratch
from straight_through.grading.collect import Found, UsageError, collect
from straight_through.grading.gradebook import Gradebook
from straight_through.grading.runner import Result, Task
from straight_through.grading.sandbox import Limits, SandboxMissing, sandbox_problem
from straight_through.grading.workers import ClusterWorkers, LocalWorkers

WORTH_WARMING = 4  # submissions, from which on it pays to compile everything beforehand
LEVELS = ("bubblewrap", "none")
PACKAGES = ("jax", "jaxlib", "numpy", "nbval", "pytest", "ipykernel")


@dataclass
class Graded:
    """One submission with its result."""

    found: Found
    result: Result
    override: float | None = None
    comment: str = ""


@dataclass
class Grades:
    """All results of one run, in the order of learners and exercises."""

    seed: int
    isolation: str
    versions: dict[str, str]
    graded: list[Graded] = field(default_factory=list)
    skipped: tuple[str, ...] = ()  # files that do not count, each with its reason

    @property
    def level(self) -> str:
        """The isolation of this run, or "none" if even one result of it came without a sandbox."""
        levels = {self.isolation, *(item.result.isolation for item in self.graded)}
        return "none" if "none" in levels else self.isolation

    @property
    def complete(self) -> bool:
        """False if something could not be graded for a reason of ours."""
        return all(
            item.result.status != "error"
            and not item.result.stale
            and all(check["outcome"] != "error" for check in item.result.checks)
            for item in self.graded
        )


def versions() -> dict[str, str]:
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"straight_through": course.load().version, "python": platform.python_version(), **found}


# The modules that decide a result. A new report or a new export grades nobody again.
DECIDING = "cells kernel magics messages notebook prepare runner sandbox watch zygote".split()


def _deciding_files() -> list[Path]:
    package, grading = course.PACKAGE, course.PACKAGE / "grading"
    files = [package / f"{name}.py" for name in ("operations", "submission", "wire")]
    files += [grading / f"{name}.py" for name in DECIDING]
    return (
        files + sorted((package / "checks").glob("*.py")) + sorted(grading.rglob("inside/**/*.py"))
    )


@functools.cache
def _checks_digest(stem: str) -> str:
    """Changes when the checks of an exercise change, or the code that runs and names them."""
    files = [HIDDEN / f"test_{stem}.py", SOLUTIONS / f"{stem}.ipynb", *_deciding_files()]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _fingerprint(found: Found, grades: Grades, limits: Limits) -> str:
    parts = [found.sha256, found.problem, _checks_digest(found.exercise), grades.seed]
    parts += [grades.isolation, grades.versions, repr(limits)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def grade(
    place: Path | str,
    out: Path | str | None = None,
    *,
    exercises: list[str] | None = None,
    roster: Path | str | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    isolation: str = "bubblewrap",
    limits: Limits | None = None,
    on_progress=None,
) -> Grades:
    """Grade the submissions in ``place``.

    Args:
        place: a notebook, or a folder with one folder for each learner.
        out: the folder of the gradebook; None keeps none. Grades and reports are written by
            ``grading.export.write`` and ``grading.reports.write``, as ``ste grade`` does.
        exercises: only these stems.
        roster: a CSV file of who should have handed in.
        seed: what the checks' inputs are drawn from; None takes the gradebook's own, or draws one.
        jobs: how many submissions at once; None takes one for each processor.
        scheduler: address of an existing Dask scheduler whose workers do the grading.
        isolation: "bubblewrap", or "none" for your own work only.
        limits: what one submission may use.
        on_progress: called with (done, total, Graded) after each submission.

    Raises:
        UsageError: arguments that make no sense.
        NothingFound: nothing to grade; a UsageError, too.
        SandboxMissing: bubblewrap was asked for and cannot work here.
        GradebookError: the gradebook cannot be written.
        ClusterError: the scheduler cannot be reached.
    """
    if isolation not in LEVELS:
        raise UsageError(f"--sandbox is one of {', '.join(LEVELS)}, not {isolation!r}.")
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs is the number of submissions at once, at least 1, not {jobs}.")
    if seed is not None and seed < 0:
        raise UsageError(f"--seed is a whole number from 0 on, not {seed}.")
    problem = sandbox_problem() if isolation == "bubblewrap" else None
    if problem:
        raise SandboxMissing(problem)
    every = collect(Path(place), exercises, Path(roster) if roster else None)
    book = Gradebook(Path(out) / "gradebook.sqlite") if out else None
    try:
        drawn = book.seed(seed) if book else (seed or 0)
        grades = Grades(drawn, isolation, versions(), skipped=every.skipped)
        jobs = jobs or os.cpu_count() or 1
        results = _grade_all(every, grades, book, limits or Limits(), jobs, scheduler, on_progress)
        for found, result in zip(every, results, strict=True):
            override, comment = book.manual(found.learner, found.exercise) if book else (None, "")
            result.repairs = [*found.notes, *result.repairs]
            grades.graded.append(Graded(found, result, override, comment))
    finally:
        if book:
            book.close()
    return grades


def _grade_all(every, grades: Grades, book, limits, jobs, scheduler, on_progress) -> list[Result]:
    """The result of each found submission; those that did not change come from the gradebook."""
    results: dict[int, Result] = {}
    waiting: dict[int, Task] = {}
    for place, found in enumerate(every):
        known = book and book.find(
            found.learner, found.exercise, _fingerprint(found, grades, limits)
        )
        if known:
            results[place] = known
        elif found.path is None:
            results[place] = Result("missing", found.problem)
        else:
            waiting[place] = Task(
                found.learner,
                found.exercise,
                found.file,
                found.raw,
                grades.seed,
                grades.isolation,
                limits,
                found.problem,
            )

    def finish(place: int, result: Result) -> None:
        found = every[place]
        if book and result.status != "error":
            fingerprint = _fingerprint(found, grades, limits)
            book.store(found.learner, found.exercise, fingerprint, result)
        elif book:
            result = _earlier(book, found, result)
        results[place] = result
        if on_progress:
            on_progress(len(results), len(every), Graded(found, result))

    for place, result in _results(waiting, jobs, scheduler):
        finish(place, result)
    return [results[place] for place in range(len(every))]


def _earlier(book: Gradebook, found: Found, failed: Result) -> Result:
    """A failure of ours never replaces a grade."""
    before = book.latest(found.learner, found.exercise)
    if before is None or before.score is None:
        return failed
    before.stale = True
    before.message = f"Not graded again ({failed.message}) This is the earlier grade."
    return before


def _results(waiting: dict[int, Task], jobs: int, scheduler: str | None):
    """(place, result) of every task, as they come."""
    if not waiting:
        return
    if scheduler:
        with ClusterWorkers(scheduler) as workers:
            yield from workers.run(waiting)
        return
    with (
        scratch.folder() as folder,
        LocalWorkers(min(jobs, len(waiting)), folder) as workers,
    ):
        cache = os.path.join(folder, "cache")
        os.mkdir(cache)
        if len(waiting) >= WORTH_WARMING:
            list(workers.run(_warming(waiting, cache)))
            waiting = {key: replace(task, cache=cache) for key, task in waiting.items()}
        yield from workers.run(waiting)


def _warming(waiting: dict[int, Task], cache: str) -> dict[int, Task]:
    """Our own solutions as tasks that fill a folder of compiled code.

    JAX compiles every operation once for each shape and dtype; most of a run is spent on that.
    """
    stems = dict.fromkeys(task.exercise for task in waiting.values())
    any_task = next(iter(waiting.values()))
    return {
        place: replace(
            any_task,
            learner="",
            exercise=stem,
            raw=(SOLUTIONS / f"{stem}.ipynb").read_bytes(),
            problem="",
            cache=cache,
            warming=True,
        )
        for place, stem in enumerate(stems)
    }
