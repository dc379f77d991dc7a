"""The gradebook: a SQLite file that only the grader's own process writes.

One transaction a submission: stopping at any moment loses at most what was in flight. A result is
used again as long as the notebook, the checks and the versions are the same.
"""

import json
import secrets
import sqlite3
from dataclasses import asdict
from pathlib import Path

from straight_through.grading.runner import Result

SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS results (
  learner TEXT NOT NULL, exercise TEXT NOT NULL, fingerprint TEXT NOT NULL,
  result TEXT NOT NULL, override REAL, comment TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (learner, exercise)
);
"""


class GradebookError(RuntimeError):
    """The gradebook cannot be used; the message says why and what to do."""


class Gradebook:
    """Results by learner and exercise, and the seed that belongs to this class."""

    def __init__(self, path: Path):
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1, isolation_level=None)
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("BEGIN EXCLUSIVE")
            for statement in SCHEMA.split(";\n"):
                self._database.execute(statement)
            self._database.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise GradebookError(_reason(path, error)) from None

    def seed(self, wanted: int | None) -> int:
        """The class's seed: the one it has, or ``wanted``, or a fresh one that is kept."""
        row = self._database.execute("SELECT value FROM facts WHERE name = 'seed'").fetchone()
        if row and wanted in (None, int(row[0])):
            return int(row[0])
        seed = secrets.randbelow(2**31) if wanted is None else wanted
        self._write("REPLACE INTO facts VALUES ('seed', ?)", (str(seed),))
        return seed

    def find(self, learner: str, exercise: str, fingerprint: str) -> Result | None:
        """The result for this very submission, checks and versions, if there is one."""
        row = self._database.execute(
            "SELECT result FROM results WHERE learner = ? AND exercise = ? AND fingerprint = ?",
            (learner, exercise, fingerprint),
        ).fetchone()
        return Result(**json.loads(row[0])) if row else None

    def latest(self, learner: str, exercise: str) -> Result | None:
        """The last result of a submission, whatever it was made from."""
        row = self._database.execute(
            "SELECT result FROM results WHERE learner = ? AND exercise = ?", (learner, exercise)
        ).fetchone()
        return Result(**json.loads(row[0])) if row else None

    def store(self, learner: str, exercise: str, fingerprint: str, result: Result) -> None:
        self._write(
            "INSERT INTO results (learner, exercise, fingerprint, result) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (learner, exercise) DO UPDATE SET "
            "fingerprint = excluded.fingerprint, result = excluded.result",
            (learner, exercise, fingerprint, json.dumps(asdict(result))),
        )

    def manual(self, learner: str, exercise: str) -> tuple[float | None, str]:
        """The instructor's own score and comment, which a regrade keeps."""
        row = self._database.execute(
            "SELECT override, comment FROM results WHERE learner = ? AND exercise = ?",
            (learner, exercise),
        ).fetchone()
        return (row[0], row[1]) if row else (None, "")

    def _write(self, statement: str, values: tuple) -> None:
        try:
            self._database.execute(statement, values)
        except sqlite3.Error as error:
            raise GradebookError(_reason(self.path, error)) from None

    def close(self) -> None:
        self._database.close()


def _reason(path: Path, error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError):
        return f"The folder of {path} cannot be written ({error.strerror}): give another --out."
    if "is locked" in text:
        return f"Another grader is using the gradebook {path}: wait until it has ended."
    if "not a database" in text or "malformed" in text:
        return f"{path} is no gradebook of this course: give another --out, or move it away."
    if "full" in text:
        return f"The disk is full; {path} could not be written. Free space and start again."
    return f"The gradebook {path} cannot be written ({text}): check the folder's permissions."
