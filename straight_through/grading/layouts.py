"""Whose file it is, and which exercise it is for: the names that people and LMSs give.

Moodle and Canvas download all submissions of an assignment under names of their own
(mod/assign/classes/downloader.php; lib/content_zipper.rb). The number in such a name is the LMS's
own id of the learner, and the key for writing grades back.
"""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from straight_through import course
from straight_through.grading.cells import Unreadable, parse
from straight_through.grading.prepare import defines, prepare
from straight_through.grading.sources import Entry, is_zip

MOODLE = re.compile(
    r"^(?P<name>[^/]*?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_?/|_)(?P<path>.+)$"
)
ANONYMOUS = re.compile(r"^(?P<late>LATE_)?anon_(?P<id>[A-Za-z0-9]+)_(?P<order>\d+)_(?P<file>.+)$")
CANVAS = re.compile(r"^(?P<name>.+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<order>\d+)_(?P<file>.+)$")
NOTEBOOK = re.compile(r"\.ipynb(?:\.txt|\.json)?(?P<copy>\s*\(\d+\))?$", re.IGNORECASE)
COPY = re.compile(r"[(_ -]copy\s*(\d*)|[(_ -](\d{1,2})\)?$", re.IGNORECASE)
COURSE = {"exercises", "notebooks", "solutions"}  # the course's own folders of notebooks
WRAPPERS = ("submitted", "submissions")
GRADESCOPE = "submission_metadata.json"  # beside the folder of the one learner
NBGRADER = {"source", "release", "autograded", "feedback"}  # beside nbgrader's submitted/


@dataclass(frozen=True)
class Owner:
    """The learner's unique id, the person's name if the LMS tells it, and the file's own name."""

    learner: str
    name: str
    file: str
    order: int = 0  # Canvas: a later upload has a larger number
    late: bool = False


def owner(entry: Entry, base: int = 0) -> Owner | None:
    """Who handed in a file; None if it lies in nobody's folder."""
    parts = entry.parts[base:]
    if found := MOODLE.match("/".join(parts)):
        return Owner(found["id"], found["name"], found["path"].rsplit("/", 1)[-1])
    if len(parts) == 1 or is_zip(parts[0]):
        found = ANONYMOUS.match(parts[0]) or CANVAS.match(parts[0])
        if found and (len(parts) > 1 or exercise_of(found["file"]) or not exercise_of(parts[0])):
            file = found["file"] if len(parts) == 1 else parts[-1]
            name = found.groupdict().get("name") or ""
            return Owner(found["id"], name, file, int(found["order"]), bool(found["late"]))
    if len(parts) > 1:
        learner = parts[0][:-4] if is_zip(parts[0]) else parts[0]
        return Owner(learner, "", parts[-1])
    return None


def base(entries: list[Entry], zip_stem: str = "") -> int:
    """How many folders stand above those of the learners: 0, or more where all is wrapped."""
    depth = 0
    while True:
        tops = {entry.parts[depth] for entry in entries if len(entry.parts) > depth + 1}
        loose = [e for e in entries if len(e.parts) == depth + 1 and is_notebook(e.name)]
        wrapper = next((top for top in tops if top.lower() in WRAPPERS), None)
        if tops - {wrapper} - NBGRADER:
            wrapper = None  # learners stand beside it
        if wrapper is None and len(tops) == 1 and not loose:
            (top,) = tops
            inner = [e for e in entries if len(e.parts) > depth + 1]
            if _of_lms(inner[0], depth):
                return depth  # of a single learner
            if zip_stem and (
                top == zip_stem
                or (is_course(inner, depth + 1) and not is_zip(top))
                or (_has_learners(inner, depth + 1) and not is_course(inner, depth + 1))
            ):
                wrapper = top
            elif any(_of_lms(e, depth + 1) for e in inner):
                wrapper = top
        if wrapper is None:
            return depth
        entries[:] = [e for e in entries if len(e.parts) > depth + 1 and e.parts[depth] == wrapper]
        depth += 1


def is_gradescopes(place: Path) -> bool:
    """True for /autograder/submission of Gradescope, with whatever one learner uploaded."""
    return place.is_dir() and (place.absolute().parent / GRADESCOPE).is_file()


def is_course(entries: list[Entry], depth: int) -> bool:
    """True if these are one learner's copy of the course, not a folder of learners."""
    tops = {entry.parts[depth] for entry in entries if len(entry.parts) > depth + 1}
    holders = {e.parts[depth] for e in entries if len(e.parts) > depth + 1 and exercise_of(e.name)}
    return "exercises" in holders <= COURSE and len(tops & (COURSE | {course.PACKAGE.name})) > 1


def _of_lms(entry: Entry, depth: int) -> bool:
    rest = entry.parts[depth:]
    return bool(MOODLE.match("/".join(rest)) or (len(rest) == 1 and CANVAS.match(rest[0])))


def _has_learners(entries: list[Entry], depth: int) -> bool:
    """True if the same exercise lies in two folders: those are learners, not assignments."""
    seen: dict[str, str] = {}
    for entry in entries:
        stem = exercise_of(entry.name) if len(entry.parts) > depth + 1 else None
        if stem and seen.setdefault(stem, entry.parts[depth]) != entry.parts[depth]:
            return True
    return False


def lms(file: str, learner: str) -> str:
    """Which LMS gave ``learner`` as the id in a file's name: "Moodle", "Canvas", or ""."""
    parts = file.split("/")
    for depth, part in enumerate(parts):
        found = MOODLE.match("/".join(parts[depth:]))
        if found and found["id"] == learner:
            return "Moodle"
        found = ANONYMOUS.match(part) or CANVAS.match(part)
        if found and found["id"] == learner:
            return "Canvas"
    return ""


# ---- which exercise


def is_notebook(file_name: str) -> bool:
    return NOTEBOOK.search(file_name) is not None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", unicodedata.normalize("NFKC", name).casefold()).strip("_")


def exercise_of(file_name: str) -> str | None:
    """The exercise that a notebook is for, by its name, however a browser or an LMS changed it."""
    name = NOTEBOOK.sub("", file_name)
    if name == file_name:
        return None
    stems = [exercise.stem for exercise in course.load().exercises]
    inside = [stem for stem in stems if f"_{_plain(stem)}_" in f"_{_plain(name)}_"]
    return max(inside, key=len, default=None)


def copy_number(file_name: str) -> int:
    """Which copy a file name says it is: 0 for the plain name, 1 for ``(1)``, ``-1``, ``Copy``."""
    found = NOTEBOOK.search(file_name)
    if found and found["copy"]:
        return int(re.sub(r"\D", "", found["copy"]))
    stem = exercise_of(file_name) or ""
    number = COPY.search(NOTEBOOK.sub("", file_name)[len(stem) :])
    return int(number[1] or number[2] or 1) if number else 0


def _names(stem: str) -> set[str]:
    return {function.name for function in course.load().exercise(stem).functions}


def exercise_by_content(raw: bytes) -> str | None:
    """The exercise whose answer cells, or whose functions, a notebook of another name holds."""
    try:
        cells = parse(raw, [])
    except Unreadable:
        return None
    marks = {cell.grade_id or cell.id for cell in cells}
    stems = [exercise.stem for exercise in course.load().exercises]
    marked = [stem for stem in stems if marks & _names(stem)]
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    defined = [s for s in stems if any(defines(c, n) for c in code for n in _names(s))]
    found = marked or defined
    return found[0] if len(found) == 1 else None


def is_answered(raw: bytes, stem: str) -> bool:
    """False for what is no notebook, and where every function is a stub or is not there."""
    try:
        prepared = prepare(raw, course.load().exercise(stem))
    except Unreadable:
        return False
    return not _names(stem) <= prepared.stubs | prepared.undefined
