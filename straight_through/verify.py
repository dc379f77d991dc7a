"""``ste verify``: proves that the course keeps its promise.

For every exercise: the stub fails as not attempted, the solution earns full marks, and every named
wrong answer in tests/misconceptions fails exactly the checks it says, under exactly its name.
"""

import contextlib
import io
import os
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import jax
import nbformat

from straight_through import build, course
from straight_through.checks.misconceptions import MISCONCEPTIONS
from straight_through.checks.rules import LABELS
from straight_through.checks.solutions import SOLUTIONS, role, sources, sources_of
from straight_through.checks.visible import hidden_tests
from straight_through.home import SEED, judge
from straight_through.local import from_source

BANK = course.ROOT / "tests" / "misconceptions"
LEAST = 8  # wrong answers for an exercise
FIELD = re.compile(r"^# (\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Wrong:
    """A named wrong answer. Its first lines say ``# misconception:``, ``# fails:`` (the ids of the
    hidden checks, or ``none``), and ``# function:`` where the exercise has several."""

    path: Path
    stem: str
    function: str
    label: str
    fails: frozenset[str]

    @classmethod
    def read(cls, path: Path, exercise: course.Exercise) -> "Wrong":
        fields = dict(FIELD.findall(path.read_text(encoding="utf-8")))
        missing = {"misconception", "fails"} - fields.keys()
        if missing:
            raise ValueError(f"{path.name} does not say {' and '.join(sorted(missing))}.")
        function = fields.get("function", exercise.functions[0].name)
        fails = frozenset(fields["fails"].split()) - {"none"}
        return cls(path, exercise.stem, function, fields["misconception"].strip(), fails)


def read_bank(exercise: course.Exercise) -> list[Wrong]:
    """All wrong answers to an exercise; ValueError for one without its header."""
    return [Wrong.read(path, exercise) for path in sorted((BANK / exercise.stem).glob("*.py"))]


def try_answer(stem: str, function: str, source: str, seed: int = SEED):
    """The verdict on one function, with the solution's answers for the others."""
    setup, answers = sources(SOLUTIONS / f"{stem}.ipynb")
    others = "\n\n\n".join(text for name, text in answers.items() if name != function)
    return judge(from_source(source, seed, f"{setup}\n\n\n{others}"), stem, function)


def failing(verdict) -> frozenset[str]:
    return frozenset(o.id for o in verdict.hidden if o.outcome != "passed")


def prove_wrong(wrong: Wrong) -> list[str]:
    """What is not as the wrong answer's header says."""
    source = wrong.path.read_text(encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):  # an answer may print
        verdict = try_answer(wrong.stem, wrong.function, source)
    place = f"{wrong.stem}/{wrong.path.name}"
    if verdict.passed:
        return [f"{place} passes every check."]
    said = []
    if verdict.misconceptions[:1] != [wrong.label]:
        got = ", ".join(verdict.misconceptions) or "nothing"
        said.append(f"{place} should be named {wrong.label}, but is named {got}.")
    # Without a function there is nothing to check: every check fails at grading.
    failed = failing(verdict) if verdict.outcomes else frozenset()
    if failed != wrong.fails:
        should = " ".join(sorted(wrong.fails)) or "none"
        got = " ".join(sorted(failed)) or "none"
        said.append(f"{place} should fail {should}, but fails {got}.")
    return said


def _given_out(exercise: course.Exercise):
    """The exercise as it is given out: whoever works in exercises/ breaks no proof."""
    content = build.built(SOLUTIONS / exercise.file_name)
    return nbformat.reads(content.decode(), as_version=4)


def prove_solution(stem: str) -> list[str]:
    """The solution earns full marks, and the stub is not attempted."""
    exercise, said = course.load().exercise(stem), []
    _, answers = sources(SOLUTIONS / f"{stem}.ipynb")
    _, stubs = sources_of(_given_out(exercise))
    for function in exercise.functions:
        verdict = try_answer(stem, function.name, answers[function.name])
        if not verdict.passed:
            first = verdict.first_failed
            said.append(f"The solution of {function.name} fails: {first.title if first else '?'}.")
        verdict = try_answer(stem, function.name, stubs.get(function.name, ""))
        if verdict.misconceptions != ["not_attempted"]:
            got = ", ".join(verdict.misconceptions) or "passed"
            said.append(f"The stub of {function.name} should be not_attempted, but is {got}.")
    return said


# ---- the course as data


def check_course() -> list[str]:
    """Names, order, goals, minutes and hints of the table of contents, names of wrong answers."""
    said, seen = [], []
    for lesson in course.load().lessons:
        for need in lesson.needs:
            if need not in seen:
                said.append(f"{lesson.stem} needs {need}, which does not come before it.")
        seen.append(lesson.stem)
        if not lesson.goals or not all(len(goal) > 5 for goal in lesson.goals):
            said.append(f"{lesson.stem} has no goals.")
        if lesson.minutes <= 0 or (lesson.exercise and lesson.exercise.minutes <= 0):
            said.append(f"{lesson.stem} does not say how many minutes it takes.")
        for function in lesson.exercise.functions if lesson.exercise else ():
            if not function.hints or not all(len(hint) > 5 for hint in function.hints):
                said.append(f"{function.name} has no hints.")
    names = [f.name for exercise in course.load().exercises for f in exercise.functions]
    files = [path.stem for path in BANK.glob("*/*.py")]
    for name, count in Counter(seen + names + files).items():
        if count > 1:
            said.append(f"The name {name} is used {count} times.")
    return said


def check_notebooks(exercise: course.Exercise) -> list[str]:
    """Points add up, ids agree between solution and exercise, nothing is left in the files."""
    said, ids = [], {}
    points = sum(test.graded.points for test in hidden_tests(exercise.stem))
    for folder in ("solutions", "exercises"):
        notebook = nbformat.read(SOLUTIONS / exercise.file_name, as_version=4)
        if folder == "exercises":
            notebook = _given_out(exercise)
        ids[folder] = [cell.id for cell in notebook.cells]
        if "widgets" in notebook.metadata:
            said.append(f"{folder}/{exercise.file_name} has saved widget state.")
        if len(set(ids[folder])) != len(ids[folder]):
            said.append(f"{folder}/{exercise.file_name} has a cell id twice.")
        for cell in notebook.cells if folder == "solutions" else []:
            if cell.cell_type == "code" and role(cell)[0].startswith("example"):
                points += cell.metadata.get("ste", {}).get("points", 0)
    if ids["solutions"] != ids["exercises"]:
        said.append(f"The cell ids of {exercise.stem} differ between solution and exercise.")
    if points != exercise.points:
        said.append(f"The checks of {exercise.stem} give {points} points, not {exercise.points}.")
    return said


def check_bank(exercise: course.Exercise, bank: list[Wrong]) -> list[str]:
    """Enough wrong answers, one for each label that applies, none with an unknown name."""
    said = []
    if len(bank) < LEAST:
        said.append(f"{exercise.stem} has {len(bank)} misconceptions, fewer than {LEAST}.")
    for function in exercise.functions:
        shown = {wrong.label for wrong in bank if wrong.function == function.name}
        for label in LABELS[function.name]:
            if label not in shown:
                said.append(f"No wrong answer to {function.name} shows {label}.")
        for label in shown - set(MISCONCEPTIONS):
            said.append(f"{exercise.stem} uses the unknown name {label}.")
    known = {test.__name__.removeprefix("test_") for test in hidden_tests(exercise.stem)}
    for check in sorted(known - set().union(*(wrong.fails for wrong in bank), set())):
        said.append(f"No wrong answer to {exercise.stem} fails the check {check}.")
    return said


def _environment() -> None:
    jax.config.update("jax_platforms", "cpu")


def workers() -> ProcessPoolExecutor:
    """A pool of processes to try answers in."""
    return ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=_environment)


def main(argv: list[str] | None = None) -> int:
    """Prove the course, or only the exercises named in ``argv``; 0 if everything holds."""
    try:
        chosen = [course.load().exercise(stem) for stem in argv or []]
    except ValueError as error:
        print(f"ste verify: {error}")
        return 2
    said, count = check_course(), 0
    with workers() as pool:
        for exercise in chosen or course.load().exercises:
            try:
                bank = read_bank(exercise)
            except ValueError as error:
                said.append(str(error))
                continue
            said += check_notebooks(exercise) + check_bank(exercise, bank)
            proofs = [pool.submit(prove_solution, exercise.stem)]
            proofs += [pool.submit(prove_wrong, wrong) for wrong in bank]
            found = [line for proof in proofs for line in proof.result()]
            said += found
            count += len(bank)
            state = "not as it should be" if found else "as it should be"
            print(f"{exercise.stem}: {len(bank)} wrong answers, one solution, one stub: {state}")
    for line in said:
        print(f"  {line}")
    print("Everything holds." if not said else f"{len(said)} things do not hold.")
    return 1 if said else 0
