"""Finds each learner's notebooks, in whatever layout they come.

Layouts: one notebook; ``<learner>/<NN_topic>.ipynb``; nbgrader's
``submitted/<learner>/<assignment>/<NN_topic>.ipynb``; what Moodle and Canvas download. Each of
them as a folder or as a zip.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from straight_through import course
from straight_through.grading import layouts
from straight_through.grading.cells import Unreadable, digest, read_bytes
from straight_through.grading.layouts import Owner
from straight_through.grading.sheet import PARTICIPANT, Sheet, UsageError
from straight_through.grading.sources import Entry, files, is_zip, junk, printable

LEARNER = ("learner", "student_id", "identifier", "username", "id", "user", "user id", "login")
LEARNER += ("student id", "student number", "id number", "matrikelnummer", "email", "e-mail")
LEARNER += ("email address", "e-mail address", "e-mail-adresse", "mail")
NAME = ("name", "full name", "student", "student name", "vollständiger name")
FIRST = ("first name", "firstname", "given name", "vorname")
LAST = ("last name", "lastname", "surname", "family name", "nachname")
ELSEWHERE = ("notebooks", "solutions")  # folders of the course that hold no hand-ins


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
    submitted_at: str | None = None
    remembered: str | None = None  # the hash of a file that is not at hand any more

    @property
    def sha256(self) -> str | None:
        return digest(self.raw) if self.raw is not None else self.remembered


class Collected(list[Found]):
    """What there is to grade; ``skipped`` says what else was there and why it does not count."""

    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File:
    """A notebook that is somebody's for some exercise."""

    entry: Entry
    owner: Owner

    @property
    def age(self) -> tuple:
        """Sorts the newest last: upload number, time, copy number, name."""
        name = self.owner.file
        return self.owner.order, self.entry.time, layouts.copy_number(name), name


def collect(
    place: Path, exercises: list[str] | None = None, roster: Path | None = None
) -> Collected:
    """What there is to grade, in a fixed order: by learner, then by exercise.

    Args:
        place: one notebook, a folder of learners' folders, an LMS's download, or a zip of these.
        exercises: only these stems; None takes every exercise of the course.
        roster: a CSV file whose first column (or the one called ``learner``) lists who should
            have handed in; those who did not are reported as missing. The LMS's own worksheet or
            gradebook export serves as well.

    Raises:
        UsageError: there is nothing here to grade; the message says what was looked for.
    """
    known = [exercise.stem for exercise in course.load().exercises]
    for stem in exercises or []:
        if stem not in known:
            raise UsageError(f"There is no exercise {stem!r}. The course has: {', '.join(known)}.")
    stems = list(exercises or known)
    people = read_roster(roster) if roster else {}
    if not place.exists() and not place.is_symlink():
        raise UsageError(f"There is nothing at {place}: give a notebook or a folder of learners.")
    if place.is_dir() or is_zip(place.name):
        found, everybody = _many(place, stems)
    else:
        found, everybody = Collected([_single(place, stems)]), {}
    named = {_same(learner): name for learner, name in people.items()}
    found[:] = [replace(f, name=f.name or named.get(_same(f.learner), "")) for f in found]
    found += _missing(found, everybody, people, stems, exercises, bool(roster))
    if not found:
        raise UsageError(
            f"No exercise was found in {place}: expected <learner>/<NN_topic>.ipynb, for example "
            f"ada/{stems[0]}.ipynb."
        )
    found.sort(key=lambda item: (item.learner, item.exercise))
    return found


def _single(place: Path, stems: list[str]) -> Found:
    try:
        raw, problem = read_bytes(place), ""
    except Unreadable as error:
        raw, problem = None, str(error)
    stem = layouts.exercise_of(place.name) or (layouts.exercise_by_content(raw) if raw else None)
    if stem is None and len(stems) == 1:
        stem = stems[0]
    if stem is None:
        raise UsageError(
            f"{place.name} is not named after an exercise; say which one it is with --exercise, "
            f"one of {', '.join(stems)}."
        )
    learner = printable(place.absolute().parent.name) or "learner"
    notes = () if place.name == f"{stem}.ipynb" else (f"took {place.name} for {stem}.ipynb",)
    return Found(learner, stem, place, printable(place.name), raw, problem, notes=notes)


def _many(place: Path, stems: list[str]) -> tuple[Collected, dict[str, list[Owner]]]:
    """The notebooks of a folder or zip, and every file in it by learner."""
    try:
        entries, skipped = files(place)
    except Unreadable as error:
        raise UsageError(str(error)) from None
    entries = [entry for entry in entries if not junk(entry.parts)]
    ours = {entry.parts[:-1] for entry in entries if entry.name == "gradebook.sqlite"}
    entries = [e for e in entries if not any(e.parts[: len(out)] == out for out in ours if out)]
    base = layouts.base(entries, place.stem if is_zip(place.name) else "")
    whole = layouts.is_course(entries, base)  # one learner's
    given: dict[tuple[str, str], list[_File]] = {}
    everybody: dict[str, list[Owner]] = {}
    loose = []
    for entry in entries:
        owner = None if whole else layouts.owner(entry, base)
        if owner is None:
            loose.append(entry)
            continue
        everybody.setdefault(owner.learner, []).append(owner)
        _add(given, _File(entry, owner), stems)
    if not given:  # one learner's own folder was given
        for entry in loose:
            owner = Owner(printable(place.absolute().name.removesuffix(".zip")), "", entry.name)
            _add(given, _File(entry, owner), stems)
        everybody = {} if given else everybody
    else:
        skipped += [f"{e.shown}: in no learner's folder" for e in loose if _is_notebook(e)]
    stamps = {e.parts[:-1]: e for e in entries if e.name == "timestamp.txt"}
    found = Collected(
        _choose(stem, candidates, stamps, base - whole) for (_, stem), candidates in given.items()
    )
    found.skipped = tuple(skipped)
    return found, everybody


def _is_notebook(entry: Entry) -> bool:
    return layouts.is_notebook(entry.name)


def _add(given: dict, file: _File, stems: list[str]) -> None:
    if not layouts.is_notebook(file.owner.file):
        return
    stem = layouts.exercise_of(file.owner.file)
    if stem is None:
        try:
            stem = layouts.exercise_by_content(file.entry.read())
        except Unreadable:
            return
    if stem in stems:
        given.setdefault((file.owner.learner, stem), []).append(file)


def _choose(stem: str, candidates: list[_File], stamps: dict, base: int) -> Found:
    """Of several files for one exercise the newest that is not a stub counts."""
    handed_in = [f for f in candidates if not set(ELSEWHERE) & set(f.entry.parts[base + 1 : -1])]
    newest_first = sorted(handed_in or candidates, key=lambda file: file.age, reverse=True)
    notes, best = [], newest_first[0]
    if len(newest_first) > 1:
        best = next((file for file in newest_first if _is_answered(file, stem)), best)
        notes.append(
            f"chose {best.owner.file} of {len(newest_first)} files: the newest that is not a stub"
        )
    elif best.owner.file != f"{stem}.ipynb":
        notes.append(f"took {best.owner.file} for {stem}.ipynb")
    try:
        raw, problem = best.entry.read(), ""
    except Unreadable as error:
        raw, problem = None, str(error)
    owner, entry = best.owner, best.entry
    if owner.late:
        notes.append("Canvas marks it as late")
    return Found(
        *(owner.learner, stem, entry.path, entry.shown, raw, problem, owner.name, tuple(notes)),
        submitted_at=_stamp(stamps.get(entry.parts[:-1])),
    )


def _is_answered(file: _File, stem: str) -> bool:
    try:
        return layouts.is_answered(file.entry.read(), stem)
    except Unreadable:
        return False


def _stamp(entry: Entry | None) -> str | None:
    """What nbgrader noted in timestamp.txt, if anything."""
    try:
        text = entry.read()[:80].decode("utf-8", errors="replace") if entry else ""
    except Unreadable:
        return None
    return printable(" ".join(text.split()))[:40] or None


# ---- who is missing


def read_roster(path: Path) -> dict[str, str]:
    """The learners of a roster file in its order, each with the person's name if it has one."""
    rows = [[printable(cell.strip()) for cell in row] for row in Sheet(path).rows]
    rows = [row for row in rows if any(row)]
    if not rows:
        raise UsageError(f"The roster {path} is empty.")
    heads = [cell.lower() for cell in rows[0]]
    rows = [row + [""] * (len(heads) - len(row)) for row in rows]
    column, named = _column(heads, LEARNER), _column(heads, NAME)
    first, last = _column(heads, FIRST), _column(heads, LAST)
    worksheet = len(heads) > 1 and _is_worksheet([row[0] for row in rows])
    if worksheet:  # Moodle, in the site's language; no names if participants are anonymous
        column, named = 0, None if heads[1] == "status" else 1
    if column is named is first is last is None:
        return {row[0]: "" for row in rows if row[0]}
    people = {}
    for row in rows[1:]:
        parts = [row[c] for c in (first, last) if c is not None and row[c]]
        name = row[named] if named is not None else " ".join(parts)
        learner = row[column] if column is not None else name
        if worksheet and (found := PARTICIPANT.match(learner)):
            learner = found[2]
        if learner and name != "Student, Test":  # Canvas's own test student
            people[learner] = name
    return people


def _is_worksheet(cells: list[str]) -> bool:
    """True for "Identifier", "Participant 101", "Participant 102", in any language."""
    found = [PARTICIPANT.match(cell) for cell in cells[1:] if cell]
    words = {match[1].strip() for match in found if match}
    head = cells[0].lower()
    headed = head == "identifier" or not (head in LEARNER or PARTICIPANT.match(head))
    return headed and bool(found) and all(found) and len(words) == 1 and words != {""}


def _column(heads: list[str], names: tuple[str, ...]) -> int | None:
    return next((heads.index(name) for name in names if name in heads), None)


def _same(one: str) -> str:
    return " ".join(one.casefold().split())


def _missing(found, everybody, people, stems, exercises, roster: bool) -> list[Found]:
    """Who is on the roster, or has a folder, and handed nothing in for what was asked."""
    there = {(_same(key), item.exercise) for item in found for key in (item.learner, item.name)}
    seen = {item.learner for item in found}
    handed_in = sorted({item.exercise for item in found})
    people = dict(people)
    for learner, owned in everybody.items() if not roster else ():
        if exercises or learner not in seen:
            people[learner] = owned[0].name
    wanted = exercises or handed_in or (stems if roster else [])
    return [
        Found(learner, stem, None, problem=_why(everybody.get(learner)), name=name)
        for learner, name in people.items()
        for stem in wanted
        if (_same(learner), stem) not in there
    ]


def _why(owned: list[Owner] | None) -> str:
    if not owned:
        return "Nothing was handed in."
    names = ", ".join(owner.file for owner in owned[:5]) + (", …" if len(owned) > 5 else "")
    return f"No notebook of this exercise is among what was handed in: {names}."
