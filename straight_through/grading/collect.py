"""Finds each learner's notebooks, in whatever layout they come.

Layouts: one notebook; ``<learner>/<NN_topic>.ipynb``; nbgrader's
``submitted/<learner>/<assignment>/<NN_topic>.ipynb``; what Moodle and Canvas download. Each of
them as a folder or as a zip.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from straight_through import course
from straight_through.grading import layouts
from straight_through.grading.cells import Unreadable, digest, read_bytes
from straight_through.grading.layouts import Owner
from straight_through.grading.roster import Match, match, read_people
from straight_through.grading.sheet import UsageError as UsageError
from straight_through.grading.sources import Entry, files, is_zip, junk, printable

ELSEWHERE = ("notebooks", "solutions")  # folders of the course that hold no hand-ins
NOTHING = "Nothing was handed in."  # by somebody who is on the roster
KNOWN = {  # what the learners of a hand-in are known by, and what roster fits that
    "Moodle": "their numbers and full names in Moodle: give the grading worksheet of this "
    "assignment, or a list with a column of full names",
    "Canvas": "their ids and names in Canvas: give the export of the gradebook, or a list with a "
    "column of full names",
    "": "the names of their folders: give a list whose first column has these",
}


class NothingFound(UsageError):
    """No notebook of the course is there. ``told`` says it to ``learner``, if it is one's own."""

    def __init__(self, message: str, learner: str, told: str):
        super().__init__(message)
        self.learner, self.told = learner, told


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
    files: tuple[str, ...] = ()  # the names of all


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
        UsageError: the arguments make no sense.
        NothingFound: there is nothing here to grade; the message says what was looked for.
    """
    known = [exercise.stem for exercise in course.load().exercises]
    for stem in exercises or []:
        if stem not in known:
            raise UsageError(f"There is no exercise {stem!r}. The course has: {', '.join(known)}.")
    stems = list(exercises or known)
    people = read_people(roster) if roster else None
    if not place.exists() and not place.is_symlink():
        raise UsageError(f"There is nothing at {place}: give a notebook or a folder of learners.")
    if place.is_dir() or is_zip(place.name):
        found, everybody = _many(place, stems)
    else:
        found, everybody = Collected([_single(place, stems)]), {}
    there = {learner: owned[0].name for learner, owned in everybody.items()}
    there |= {item.learner: item.name for item in found}
    whose = None
    if people is not None:
        whose, notices = _on_roster(people, there, found)
        found.skipped += tuple(f"{printable(roster.name)}: {notice}" for notice in notices)
    if whose:
        named = {learner: person.name for learner, person in whose.found.items()}
        found[:] = [replace(f, name=f.name or named.get(f.learner, "")) for f in found]
    found += _missing(found, everybody, there, whose, exercises, stems)
    if not found:
        raise NothingFound(
            f"No exercise was found in {place}: expected <learner>/<NN_topic>.ipynb, for example "
            f"ada/{stems[0]}.ipynb.",
            _own_name(place),
            _without_notebook(found.files or found.skipped, stems),
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
    whole, base = layouts.is_gradescopes(place), 0  # one learner's
    if not whole:
        base = layouts.base(entries, place.stem if is_zip(place.name) else "")
        whole = layouts.is_course(entries, base)
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
        mine = [_File(entry, Owner(_own_name(place), "", entry.name)) for entry in loose]
        for file in mine:
            _add(given, file, stems)
        everybody = {_own_name(place): [file.owner for file in mine]} if given else everybody
    else:
        skipped += [f"{e.shown}: in no learner's folder" for e in loose if _is_notebook(e)]
    stamps = {e.parts[:-1]: e for e in entries if e.name == "timestamp.txt"}
    found = Collected(
        _choose(stem, candidates, stamps, base - whole) for (_, stem), candidates in given.items()
    )
    found.skipped = tuple(skipped)
    found.files = tuple(entry.shown for entry in entries)
    return found, everybody


def _own_name(place: Path) -> str:
    return printable(place.absolute().name.removesuffix(".zip")) or "learner"


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


def _on_roster(people, there: dict[str, str], found) -> tuple[Match | None, list[str]]:
    """Who on the roster is who of the hand-in; None if nobody is, and what cannot be told.

    Then it is another list, or one with other ids. To call all of it missing would give a zero,
    where missing counts as one, to people who handed in.
    """
    matched = match(people, there)
    if matched.found or not there:
        return matched, matched.notices
    sources = Counter(layouts.lms(item.file, item.learner) for item in found)
    known = KNOWN[max(sources, key=sources.get, default="")]
    return None, [
        "nobody on it is among those who handed in, so nobody is listed as missing; learners are "
        f"known by {known}"
    ]


def _missing(found, everybody, there, whose: Match | None, exercises, stems) -> list[Found]:
    """Who is on the roster, or has a folder, and handed nothing in for what was asked."""
    seen = {item.learner for item in found}
    if whose:
        listed = {learner: there[learner] or one.name for learner, one in whose.found.items()}
        listed |= {person.learner: person.name for person in whose.missing}
    else:
        listed = {k: name for k, name in there.items() if exercises or k not in seen}
    handed_in = sorted({item.exercise for item in found})
    wanted = exercises or handed_in or (stems if whose else [])
    has = {(item.learner, item.exercise) for item in found}
    return [
        Found(learner, stem, None, problem=_why(everybody.get(learner), stem), name=name)
        for learner, name in listed.items()
        for stem in wanted
        if (learner, stem) not in has
    ]


def _why(owned: list[Owner] | None, stem: str) -> str:
    return _without_notebook([owner.file for owner in owned], [stem]) if owned else NOTHING


def _without_notebook(files, stems: list[str]) -> str:
    """What was handed in instead, and what is expected."""
    wanted = f"{'' if len(stems) == 1 else 'one of '}{', '.join(f'{s}.ipynb' for s in stems)}"
    if not files:
        return f"No file was handed in: {wanted} is expected."
    names = ", ".join(files[:5]) + (", …" if len(files) > 5 else "")
    what = "this exercise" if len(stems) == 1 else "the course"
    return f"No notebook of {what} is among what was handed in, {names}: {wanted} is expected."
