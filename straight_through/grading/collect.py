"""Finds each learner's notebooks, in whatever layout they come.

Layouts: one notebook; ``<learner>/<NN_topic>.ipynb``; nbgrader's
``submitted/<learner>/<assignment>/<NN_topic>.ipynb``.
"""

import csv
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from straight_through import course
from straight_through.grading.prepare import Unreadable, digest, parse, read_bytes
from straight_through.submission import stub_names

SKIPPED = {".ipynb_checkpoints", "__MACOSX"}
COPY = re.compile(r"(?:\s*\(\d+\)|[-_ ]\d{1,2}|[-_ ]?(?:copy|kopie)\d*)+$", re.IGNORECASE)


class UsageError(ValueError):
    """The grader was called in a way that it cannot work with; exit code 2."""


@dataclass(frozen=True)
class Found:
    """One learner's file for one exercise; ``path`` is None if there is none."""

    learner: str
    exercise: str
    path: Path | None
    file: str = ""
    raw: bytes | None = None
    problem: str = ""
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def sha256(self) -> str | None:
        return digest(self.raw) if self.raw is not None else None

    @property
    def submitted_at(self) -> str | None:
        """What nbgrader noted in timestamp.txt, if anything."""
        stamp = self.path.parent / "timestamp.txt" if self.path else None
        if stamp is None or not stamp.is_file() or stamp.is_symlink():
            return None
        return stamp.read_text(encoding="utf-8", errors="replace").strip()[:40] or None


def exercise_of(file_name: str, stems: list[str]) -> str | None:
    """The exercise that a file is for, by its name, however a browser or an LMS changed it."""
    name = unicodedata.normalize("NFC", file_name).removesuffix(".ipynb").strip()
    if name in stems:
        return name
    plain = COPY.sub("", name)
    for stem in stems:
        if plain.lower() == stem.lower() or plain.lower().endswith(stem.lower()):
            return stem
    return None


def collect(
    place: Path, exercises: list[str] | None = None, roster: Path | None = None
) -> list[Found]:
    """What there is to grade, in a fixed order: by learner, then by exercise.

    Args:
        place: one notebook, or a folder of learners' folders.
        exercises: only these stems; None takes every exercise of the course.
        roster: a CSV file whose first column (or the one called ``learner``) lists who should
            have handed in; those who did not are reported as missing.

    Raises:
        UsageError: there is nothing here to grade; the message says what was looked for.
    """
    known = [exercise.stem for exercise in course.load().exercises]
    for stem in exercises or []:
        if stem not in known:
            raise UsageError(f"There is no exercise {stem!r}. The course has: {', '.join(known)}.")
    stems = list(exercises or known)
    if not place.exists() and not place.is_symlink():
        raise UsageError(f"There is nothing at {place}: give a notebook or a folder of learners.")
    if place.is_file():
        found = [_single(place, known, stems)]
    else:
        found = _folder(place, known, stems)
    found += _missing(found, stems, exercises, roster, place)
    if not found:
        raise UsageError(
            f"No exercise was found in {place}: expected <learner>/<NN_topic>.ipynb, for example "
            f"ada/{stems[0]}.ipynb."
        )
    return sorted(found, key=lambda item: (item.learner, item.exercise))


def _single(place: Path, known: list[str], stems: list[str]) -> Found:
    stem = exercise_of(place.name, known)
    if stem is None and len(stems) == 1:
        stem = stems[0]
    if stem is None:
        raise UsageError(
            f"{place.name} is not named after an exercise; say which one it is with --exercise, "
            f"one of {', '.join(known)}."
        )
    learner = place.absolute().parent.name or "learner"
    return _read(learner, stem, [place], place.parent)


def _notebooks(folder: Path) -> list[Path]:
    """The files of a learner that may be notebooks, in a fixed order; links are not followed."""
    paths = []
    for path in sorted(folder.rglob("*.ipynb")):
        parts = path.relative_to(folder).parts
        if SKIPPED.intersection(parts) or path.name.startswith("._") or path.is_dir():
            continue
        if any(parent.is_symlink() for parent in path.parents if parent != folder):
            continue
        paths.append(path)
    return paths


def _folder(place: Path, known: list[str], stems: list[str]) -> list[Found]:
    found = []
    for folder in sorted(place.iterdir()):
        if not folder.is_dir() or folder.is_symlink() or folder.name in SKIPPED:
            continue
        if folder.name.startswith("."):
            continue
        byexercise: dict[str, list[Path]] = {}
        for path in _notebooks(folder):
            stem = exercise_of(path.name, known)
            if stem in stems:
                byexercise.setdefault(stem, []).append(path)
        for stem, paths in byexercise.items():
            found.append(_read(folder.name, stem, paths, place))
    if not found:  # the learner's own folder was given
        own = [path for path in sorted(place.glob("*.ipynb")) if exercise_of(path.name, known)]
        for stem in stems:
            paths = [path for path in own if exercise_of(path.name, known) == stem]
            if paths:
                found.append(_read(place.absolute().name, stem, paths, place))
    return found


def _is_stub(raw: bytes, stem: str) -> bool:
    try:
        cells = parse(raw, [])
    except Unreadable:
        return True
    names = {function.name for function in course.load().exercise(stem).functions}
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    return all(
        name in stub_names(source) for source in sources for name in names if name in source[:400]
    )


def _time(path: Path) -> float:
    return path.lstat().st_mtime


def _read(learner: str, stem: str, paths: list[Path], root: Path) -> Found:
    """Of several files for one exercise the newest that is not a stub counts."""
    notes = []
    path = paths[0]
    if len(paths) > 1:
        newest_first = sorted(paths, key=lambda p: (_time(p), str(p)), reverse=True)
        path = next((p for p in newest_first if not _stub_file(p, stem)), newest_first[0])
        notes.append(f"chose {path.name} of {len(paths)} files: the newest that is not a stub")
    elif path.name != f"{stem}.ipynb":
        notes.append(f"took {path.name} for {stem}.ipynb")
    file = str(path.relative_to(root)) if path.is_relative_to(root) else path.name
    try:
        raw, problem = read_bytes(path), ""
    except Unreadable as error:
        raw, problem = None, str(error)
    return Found(learner, stem, path, file, raw, problem, notes=tuple(notes))


def _stub_file(path: Path, stem: str) -> bool:
    try:
        return _is_stub(read_bytes(path), stem)
    except Unreadable:
        return True


def read_roster(path: Path) -> list[str]:
    """The learners of a roster file, in its order."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row and row[0].strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"The roster {path} cannot be read: {error}.") from None
    heads = [cell.strip().lower() for cell in rows[0]] if rows else []
    names = ("learner", "student_id", "username", "id")
    column = next((heads.index(head) for head in names if head in heads), None)
    if column is None:
        return [row[0].strip() for row in rows]
    return [row[column].strip() for row in rows[1:] if len(row) > column and row[column].strip()]


def _missing(found, stems, exercises, roster, place) -> list[Found]:
    """Who is on the roster, or has a folder, and handed nothing in for what was asked."""
    there = {(item.learner, item.exercise) for item in found}
    if roster is not None:
        learners = read_roster(roster)
        wanted = exercises or sorted({item.exercise for item in found}) or stems
    elif exercises and place.is_dir():
        learners = sorted(
            f.name for f in place.iterdir() if f.is_dir() and f.name not in SKIPPED | {place.name}
        )
        wanted = exercises
    else:
        return []
    return [
        Found(learner, stem, None, problem="Nothing was handed in.")
        for learner in dict.fromkeys(learners)
        for stem in wanted
        if (learner, stem) not in there
    ]


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
