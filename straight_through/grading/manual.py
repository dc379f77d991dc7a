"""What an instructor does by hand: another score, a comment, a learner's data deleted.

All three work on the gradebook, so that grading again keeps them.
"""

import json
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path

from straight_through import course
from straight_through.grading.collect import Found, UsageError
from straight_through.grading.engine import Graded, Grades
from straight_through.grading.gradebook import Gradebook, GradebookError
from straight_through.grading.runner import Result

AUTO = "auto"


def reread(out: Path) -> Grades:
    """The grades of the last run in ``out``, with what was changed by hand since."""
    try:
        document = json.loads((out / "grades.json").read_text(encoding="utf-8"))
        rows = document["submissions"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"There are no grades in {out} yet: give SUBMISSIONS to grade.") from None
    grades = Grades(document["seed"], document["isolation"], document["versions"])
    grades.skipped = tuple(document.get("skipped", ()))
    book = Gradebook(out / "gradebook.sqlite")
    try:
        grades.graded = [_graded(row, book) for row in rows]
    finally:
        book.close()
    return grades


def with_earlier(grades: Grades, out: Path) -> Grades:
    """``grades`` with what ``out`` already holds of exercises that were not graded this time."""
    now = {item.found.exercise for item in grades.graded}
    with suppress(UsageError):  # nothing there that could be read
        before = reread(out).graded
        grades.graded += [item for item in before if item.found.exercise not in now]
        grades.graded.sort(key=lambda item: (item.found.learner, item.found.exercise))
    return grades


def _graded(row: dict, book: Gradebook) -> Graded:
    found = Found(
        row["learner"],
        row["exercise"],
        None,
        row["file"],
        name=row.get("name", ""),
        submitted_at=row["submitted_at"],
        remembered=row["sha256"],
    )
    stored = book.latest(found.learner, found.exercise)
    known = {field.name for field in fields(Result)} & row.keys()
    result = Result(**{name: row[name] for name in known})
    if stored is not None:
        result.portraits = stored.portraits
        result.cpu_seconds = stored.cpu_seconds
    override, comment = book.manual(found.learner, found.exercise)
    return Graded(found, result, override, comment)


def override(out: Path, learner: str, exercise: str, score: str, comment: str | None) -> str:
    """Set the score (a number, or "auto" for the computed one) and the comment; says what it did.

    A comment of None keeps the one there is.
    """
    (row,) = [
        item
        for item in reread(out).graded
        if (item.found.learner, item.found.exercise) == (learner, exercise)
    ] or [None]
    if row is None:
        raise UsageError(f"There is no grade of {learner!r} for {exercise!r} in {out}.")
    value = _score(score, course.load().exercise(exercise).points)
    with _database(out) as database:
        database.execute(
            "INSERT OR IGNORE INTO results (learner, exercise, fingerprint, result) "
            "VALUES (?, ?, '', ?)",
            (learner, exercise, json.dumps(asdict(row.result))),
        )
        database.execute(
            "UPDATE results SET override = ?, comment = COALESCE(?, comment) "
            "WHERE learner = ? AND exercise = ?",
            (value, comment, learner, exercise),
        )
    shown = "as computed" if value is None else f"{value:g}"
    return f"{learner}, {exercise}: the score is {shown} from now on."


def _score(text: str, points: float) -> float | None:
    if text == AUTO:
        return None
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0 <= value <= points:
        raise UsageError(f"A score is a number from 0 to {points:g}, or {AUTO}; not {text!r}.")
    return value


def forget(out: Path, learner: str) -> str:
    """Delete everything the gradebook knows about a learner; says what is left to do."""
    with _database(out) as database:
        database.execute("PRAGMA secure_delete = ON")
        count = database.execute("DELETE FROM results WHERE learner = ?", (learner,)).rowcount
    every = reread(out).graded if (out / "grades.json").exists() else []
    listed = [item for item in every if item.found.learner == learner]
    if not count and not listed:
        raise UsageError(f"Nothing is stored about {learner!r} in {out}.")
    return (
        f"Deleted what {out} held about {learner}. The notebooks that were handed in, and what "
        "you uploaded to an LMS, are yours to delete."
    )


@contextmanager
def _database(out: Path):
    """One transaction on the gradebook in ``out``, as its only user."""
    path = out / "gradebook.sqlite"
    if not path.is_file():
        raise UsageError(f"There is no gradebook in {out}: grade something first.")
    Gradebook(path).close()  # refuses a file that is none, or that another grader is using
    try:
        database = sqlite3.connect(path, timeout=1, isolation_level=None)
        try:
            database.execute("BEGIN EXCLUSIVE")
            yield database
            database.execute("COMMIT")
        finally:
            database.close()
    except sqlite3.Error as error:
        raise GradebookError(f"{path} cannot be changed ({error}).") from None
