"""Writes report.html and feedback/<learner>.html."""

import hashlib
import json
import re
from pathlib import Path
from urllib.parse import quote

from straight_through.grading import export, feedback_page, page, report
from straight_through.grading.engine import Grades

MADE_FROM = re.compile(r'<meta name="made-from" content="(\w+)">')


def write(grades: Grades, out: Path) -> None:
    """Both reports. A learner's page that would not change is left alone; one whose learner is
    gone is deleted."""
    records = [export.record(item) for item in grades.graded]
    portraits = [item.result.portraits for item in grades.graded]
    people: dict[str, list[tuple[dict, dict]]] = {}
    for record, arrays in zip(records, portraits, strict=True):
        people.setdefault(record["learner"], []).append((record, arrays))
    names = {learner: f"{n}.html" for learner, n in page.file_names(list(people)).items()}
    folder = out / "feedback"
    about = _about(grades)
    for learner, mine in people.items():
        _feedback(folder / names[learner], mine, about)
    for path in folder.glob("*.html"):
        if path.name not in names.values() and _made_from(path):
            path.unlink()
    facts = {"isolation": grades.level, "seed": grades.seed, "versions": grades.versions}
    links = {learner: f"feedback/{quote(name)}" for learner, name in names.items()}
    skipped = export.skipped(grades)
    export.write_text(out / "report.html", report.page(records, portraits, facts, links, skipped))


def _about(grades: Grades) -> str:
    versions = grades.versions
    wanted = ("straight_through", "jax", "python")
    shown = ", ".join(f"{name} {versions[name]}" for name in wanted if name in versions)
    return f"Isolation: {grades.level}. {shown}."


def _feedback(path: Path, mine: list[tuple[dict, dict]], about: str) -> None:
    digest = hashlib.sha256(json.dumps([mine, about], sort_keys=True).encode()).hexdigest()
    if _made_from(path) != digest:
        export.write_text(path, feedback_page.page(mine, about, digest))


def _made_from(path: Path) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = MADE_FROM.search(file.read(2000))
    except OSError:
        return None
    return found[1] if found else None
