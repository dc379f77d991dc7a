"""grades.json and grades.csv: the stable interface of a run."""

import csv
import json
import os
import tempfile
from pathlib import Path

from straight_through import course
from straight_through.grading.engine import Graded, Grades

CHECK = ("id", "title", "hidden", "outcome", "score", "points", "message", "misconception")
DETAILS = ("called", "returned", "expected")
COLUMNS = ["learner", "exercise", "status", "score", "max_score", "misconceptions", "message"]
COLUMNS += ["submitted_at", "seconds", "file", "sha256"]


def _number(value: float | None) -> float | int | None:
    """Whole points as whole numbers; otherwise two decimals."""
    if value is None:
        return None
    return int(value) if float(value).is_integer() else round(float(value), 2)


def _check(check: dict) -> dict:
    row = {name: check[name] for name in CHECK}
    row["score"], row["points"] = _number(check["score"]), _number(check["points"])
    return {**row, **{name: check[name] for name in DETAILS if check[name]}}


def record(item: Graded) -> dict:
    """One submission as it stands in grades.json."""
    found, result = item.found, item.result
    score = result.score if item.override is None else item.override
    return {
        "learner": found.learner,
        "name": found.name,
        "exercise": found.exercise,
        "file": found.file,
        "sha256": found.sha256,
        "status": result.status,
        "message": result.message,
        "score": _number(score),
        "max_score": course.load().exercise(found.exercise).points,
        "seconds": result.seconds,
        "repairs": result.repairs,
        "notes": result.notes,
        "submitted_at": found.submitted_at,
        "override": _number(item.override),
        "comment": item.comment,
        "misconceptions": result.misconceptions,
        "checks": [_check(check) for check in result.checks],
    }


def document(grades: Grades) -> dict:
    return {
        "schema": 1,
        "course": course.load().title,
        "isolation": grades.isolation,
        "seed": grades.seed,
        "versions": grades.versions,
        "submissions": [record(item) for item in grades.graded],
    }


def write_text(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def inert(value) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    if text and (text[0] in "=+-@\t\r") and not _is_number(text):
        return "'" + text
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Lines(list):
    write = list.append


def table(grades: Grades) -> str:
    """grades.csv: one line a learner and exercise."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in grades.graded:
        row = record(item)
        row["misconceptions"] = " ".join(row["misconceptions"])
        writer.writerow([inert(row[name]) for name in COLUMNS])
    return "".join(lines)


def write(grades: Grades, out: Path) -> None:
    """Write grades.json and grades.csv into ``out``."""
    write_text(
        out / "grades.json", json.dumps(document(grades), indent=1, ensure_ascii=False) + "\n"
    )
    write_text(out / "grades.csv", table(grades))
