"""grades.json, grades.csv and grades-wide.csv: the stable interface of a run."""

import csv
import json
import os
import re
import tempfile
from pathlib import Path

from straight_through import course
from straight_through.grading.engine import Graded, Grades
from straight_through.grading.marks import Mark

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
    return {**row, **{name: check[name] for name in DETAILS if check.get(name)}}


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
        "isolation": result.isolation,
        "repairs": result.repairs,
        "notes": result.notes,
        "submitted_at": found.submitted_at,
        "override": _number(item.override),
        "comment": item.comment,
        "misconceptions": result.misconceptions,
        "checks": [_check(check) for check in result.checks],
    }


def skipped(grades: Grades) -> tuple[str, ...]:
    """Files that do not count, each with the reason."""
    return tuple(grades.skipped)


def document(grades: Grades) -> dict:
    return {
        "schema": 1,
        "course": course.load().title,
        "isolation": grades.level,
        "seed": grades.seed,
        "versions": grades.versions,
        "skipped": list(skipped(grades)),
        "submissions": [record(item) for item in grades.graded],
    }


def write_text(path: Path, text: str) -> None:
    """Write a file in one step: a reader sees the old one or the new one, never a half."""
    write_bytes(path, text.encode("utf-8", errors="replace"))


def write_bytes(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(path: Path, content: dict) -> None:
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


FORMULA = re.compile(r"(?:^|[;|\t])[\s]*[=+\-@]|^[\t\r\n]")
INNER = re.compile(r"([;|\t])(?=\s*[=+\-@])")


def inert(value) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    if _is_number(text):
        return text
    if FORMULA.search(text):
        # Where the list separator is another one, a cell is cut there: each part must be inert.
        return "'" + INNER.sub(r"\1'", text)
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Lines(list):
    write = list.append


def _csv(rows) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator="\n").writerows([map(inert, row) for row in rows])
    return "".join(lines)


def table(grades: Grades) -> str:
    """grades.csv: one line a learner and exercise."""
    rows = [COLUMNS]
    for item in grades.graded:
        row = record(item)
        row["misconceptions"] = " ".join(row["misconceptions"])
        rows.append([row[name] for name in COLUMNS])
    return _csv(rows)


def wide(grades: Grades) -> str:
    """grades-wide.csv: one line a learner; for each exercise its score and one column a check."""
    checks: dict[str, dict[str, None]] = {}
    people: dict[str, dict] = {}
    for item in grades.graded:
        row = record(item)
        stem = row["exercise"]
        ids = checks.setdefault(stem, {})
        ids.update(dict.fromkeys(check["id"] for check in row["checks"]))
        mine = people.setdefault(row["learner"], {"name": ""})
        mine["name"] = mine["name"] or row["name"]
        mine[stem, "status"], mine[stem, "score"] = row["status"], row["score"]
        mine.update({(stem, "check", check["id"]): check["score"] for check in row["checks"]})
    keys: list[tuple] = []
    for stem in sorted(checks):
        keys += [(stem, "status"), (stem, "score")]
        keys += [(stem, "check", name) for name in checks[stem]]
    rows = [["learner", "name", *(f"{key[0]}: {key[-1]}" for key in keys)]]
    for learner, mine in people.items():
        rows.append([learner, mine["name"], *(mine.get(key) for key in keys)])
    return _csv(rows)


def mark_table(marks: list[Mark]) -> str:
    """marks.csv: one mark a learner, and the scores that it was made from."""
    stems = list(marks[0].scores) if marks else []
    rows = [["learner", "name", "mark", "total", *stems, "why there is no mark"]]
    for mark in marks:
        scores = [_number(score) for score in mark.scores.values()]
        value = mark.value if mark.value is None or mark.value % 1 else int(mark.value)
        rows.append([mark.learner, mark.name, value, _number(mark.total), *scores, mark.reason])
    return _csv(rows)


def write(grades: Grades, out: Path) -> None:
    """Write grades.json and the two tables into ``out``."""
    write_json(out / "grades.json", document(grades))
    write_text(out / "grades.csv", table(grades))
    write_text(out / "grades-wide.csv", wide(grades))
