"""Grades a folder of submissions: collect, run each in a worker, store, report."""

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from straight_through import course
from straight_through.checks.solutions import SOLUTIONS
from straight_through.checks.visible import HIDDEN
from straight_through.grading.collect import Found, UsageError, collect
from straight_through.grading.gradebook import Gradebook
from straight_through.grading.runner import Result, Task, grade_one
from straight_through.grading.sandbox import Limits, SandboxMissing, sandbox_problem

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

    @property
    def complete(self) -> bool:
        """False if something could not be graded for a reason of ours."""
        return all(
            item.result.status != "error"
            and all(check["outcome"] != "error" for check in item.result.checks)
            for item in self.graded
        )


def versions() -> dict[str, str]:
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"straight_through": course.load().version, "python": platform.python_version(), **found}


@functools.cache
def _checks_digest(stem: str) -> str:
    """Changes when the checks of an exercise change, or the code that runs and names them."""
    files = [HIDDEN / f"test_{stem}.py", course.ROOT / "solutions" / f"{stem}.ipynb"]
    files += sorted((course.PACKAGE / "checks").glob("*.py"))
    files += [course.PACKAGE / "operations.py", course.PACKAGE / "wire.py"]
    files += sorted((course.PACKAGE / "grading").rglob("*.py"))
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
    isolation: str = "bubblewrap",
    limits: Limits | None = None,
    on_progress=None,
) -> Grades:
    """Grade the submissions in ``place``.

    Args:
        place: a notebook, or a folder with one folder for each learner.
        out: where gradebook, grades.json, grades.csv and reports go; None writes nothing.
        exercises: only these stems.
        roster: a CSV file of who should have handed in.
        seed: what the checks' inputs are drawn from; None takes the gradebook's own, or draws one.
        jobs: how many submissions at once; None takes one for each processor.
        isolation: "bubblewrap", or "none" for your own work only.
        limits: what one submission may use.
        on_progress: called with (done, total, Graded) after each submission.

    Raises:
        UsageError: nothing to grade, or arguments that make no sense.
        SandboxMissing: bubblewrap was asked for and cannot work here.
        GradebookError: the gradebook cannot be written.
    """
    if isolation not in LEVELS:
        raise UsageError(f"--sandbox is one of {', '.join(LEVELS)}, not {isolation!r}.")
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs is the number of submissions at once, at least 1, not {jobs}.")
    problem = sandbox_problem() if isolation == "bubblewrap" else None
    if problem:
        raise SandboxMissing(problem)
    every = collect(Path(place), exercises, Path(roster) if roster else None)
    book = Gradebook(Path(out) / "gradebook.sqlite") if out else None
    try:
        grades = Grades(book.seed(seed) if book else (seed or 0), isolation, versions())
        _grade_all(
            every, grades, book, limits or Limits(), jobs or os.cpu_count() or 1, on_progress
        )
    finally:
        if book:
            book.close()
    return grades


def _grade_all(every, grades: Grades, book, limits, jobs, on_progress) -> None:
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

    with tempfile.TemporaryDirectory(prefix="ste-cache-") as cache:
        if len(waiting) >= WORTH_WARMING:
            waiting = _warm(waiting, cache)
        for place, result in _run(waiting, jobs):
            finish(place, result)
    for place, found in enumerate(every):
        override, comment = book.manual(found.learner, found.exercise) if book else (None, "")
        result = results[place]
        result.repairs = [*found.notes, *result.repairs]
        grades.graded.append(Graded(found, result, override, comment))


def _earlier(book: Gradebook, found: Found, failed: Result) -> Result:
    """A failure of ours never replaces a grade."""
    before = book.latest(found.learner, found.exercise)
    if before is None:
        return failed
    before.message = f"Not graded again ({failed.message}) This is the earlier grade."
    return before


def _warm(waiting: dict[int, Task], cache: str) -> dict[int, Task]:
    """The same tasks with a folder of compiled code that our own solutions have filled.

    JAX compiles every operation once for each shape and dtype; most of a run is spent on that.
    """
    for place, task in waiting.items():
        waiting[place] = dataclasses.replace(task, cache=cache)
    first = {task.exercise: task for task in waiting.values()}
    warming = {
        place: dataclasses.replace(
            task,
            learner="",
            raw=(SOLUTIONS / f"{task.exercise}.ipynb").read_bytes(),
            problem="",
            warming=True,
        )
        for place, task in enumerate(first.values())
    }
    for _ in _run(warming, len(warming)):
        pass
    return waiting


def _run(waiting: dict[int, Task], jobs: int):
    """Yield (place, result) as they come. A worker that dies is replaced, once a submission."""
    for attempt in (1, 2):
        if not waiting:
            return
        # Spawned, never forked: a fork of a process that has used JAX may hang.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(jobs, len(waiting)), mp_context=context) as pool:
            futures = {pool.submit(grade_one, task): place for place, task in waiting.items()}
            try:
                for future in as_completed(futures):
                    place = futures[future]
                    try:
                        result = future.result()
                    except BrokenProcessPool:
                        break
                    except Exception as error:
                        result = Result("error", f"{type(error).__name__}: {error}.")
                    if result.status == "error" and attempt == 1:
                        continue
                    del waiting[place]
                    yield place, result
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for place in waiting:
        yield place, Result("error", "The grader's own process ended twice while grading this.")
