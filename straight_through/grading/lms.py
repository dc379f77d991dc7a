"""Marks into the instructor's own files: Moodle's grading worksheet, Canvas's gradebook export.

Formats: Moodle, mod/assign/gradingtable.php and feedback/offline; Canvas, gradebook_exporter.rb
and gradebook_importer.rb. Only the cells of one column change, and only where a mark is known.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from straight_through import course
from straight_through.grading.marks import Mark
from straight_through.grading.names import agree
from straight_through.grading.sheet import PARTICIPANT, Sheet, UsageError, same

# 100 or 100.00 or 1,000.00 or 1.000,00; 1,000 alone could be one or a thousand, and is neither.
NUMBER = re.compile(
    r"^(\d{1,3}(?:([.,])\d{3})(?:\2\d{3})*(?!\2)[.,]\d+|\d+(?:[.,](?!\d{3}$)\d+)?)$"
)
BLANKS = re.compile(r"[\s'’]")  # also stand between thousands
NO = {"no", "nein", "non", "não", "nee", "nej", "nei", "ei", "nie", "ne", "нет", "ні", "hayır"}
IDS = ("ID", "SIS User ID", "SIS Login ID", "Integration ID")
EXCUSED = "EX"


@dataclass
class Filled:
    """A file of the LMS with marks in it, and what the instructor should know about it."""

    content: bytes
    count: int
    column: str
    problems: list[str]


@dataclass
class Row:
    """What tells whose row it is: the LMS's own id, other ids, and the person's name."""

    own: str
    others: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def _float(text: str) -> float | None:
    text = BLANKS.sub("", text)
    if not NUMBER.match(text):
        return None
    whole, mark, part = text.rpartition("," if _has_decimal_comma(text) else ".")
    return float(re.sub("[.,]", "", whole if mark else part) + (f".{part}" if mark else ""))


def _has_decimal_comma(text: str) -> bool:
    return text.rfind(",") > text.rfind(".")


def _scaled(mark: Mark, maximum: str) -> str:
    """A mark out of what the LMS wrote as the maximum, with the same decimal mark."""
    value = f"{mark.value / mark.total * (_float(maximum) or mark.total):.2f}"
    return value.replace(".", ",") if _has_decimal_comma(maximum) else value


def _not_a_number(maximum: str) -> str:
    """The reason why nothing can be scaled to this maximum; "" if it can."""
    if not maximum.strip() or _float(maximum) is not None:
        return ""
    return f"the maximum is {maximum.strip()!r}, which is no clear number"


# ---- Moodle


class Moodle:
    """A grading worksheet, downloaded from an assignment with "offline grading worksheet" on."""

    def __init__(self, path: Path):
        self.sheet = Sheet(path)
        rows = self.sheet.rows
        self.people = {
            row: Row(PARTICIPANT.match(cells[0])[2])
            for row, cells in enumerate(rows)
            if row and PARTICIPANT.match(cells[0])
        }
        if not self.people:
            raise UsageError(
                f"{path} is no grading worksheet of Moodle: its first column should say "
                '"Participant 123". Download it from the assignment, with "Download grading '
                'worksheet".'
            )
        self.column = self._grade_column(rows)
        heads = rows[0]
        last = heads.index("Status") if "Status" in heads[: self.column] else self.column
        for row, person in self.people.items():
            cells = rows[row]
            person.others = [cells[0], *(cell for cell in cells[1:last] if cell.strip())]
            # A download of anonymous participants says "Participant" for the name.
            person.names = [*cells[1 : min(last, 2)], PARTICIPANT.match(cells[0])[1]]

    def _grade_column(self, rows: list[list[str]]) -> int:
        """The column before the maximum grade, whatever language the headers are in."""
        heads = rows[0]
        if heads.count("Grade") == 1:
            return heads.index("Grade")
        width = max(len(rows[row]) for row in self.people)
        body = [rows[row] for row in self.people if len(rows[row]) == width]
        constant = [
            c
            for c in range(3, width)
            if _float(body[0][c]) is not None and len({cells[c] for cells in body}) == 1
        ]
        found = [
            c - 1
            for c in constant
            if all(
                cells[c - 1].strip() in ("", "-") or _float(cells[c - 1]) is not None
                for cells in body
            )
        ]
        if len(found) != 1:
            raise UsageError(
                f"{self.sheet.path}: it is not clear which column takes the grade; rename its "
                'header to "Grade".'
            )
        return found[0]

    def fill(self, people: list[Mark]) -> Filled:
        """The worksheet with the marks, scaled to its own maximum grade."""
        rows = self.sheet.rows
        chosen, problems = match(people, self.people, "Moodle")
        needed = min(self.column + 2, len(rows[0]))
        count = 0
        for mark in people:
            row = chosen.get(mark.learner)
            if row is None:
                continue
            cells = rows[row]
            maximum, *behind = [*cells[self.column + 1 : self.column + 4], ""]
            if mark.value is None:
                reason = mark.reason
            elif len(cells) < needed:
                reason = f"row {row + 1} has fewer cells than the header"
            elif NO.intersection(map(same, behind)):
                reason = "Moodle says that this grade cannot be changed"
            else:
                reason = _not_a_number(maximum)
            if reason:
                problems.append(f"{mark.learner}: left as it was ({reason})")
                continue
            self.sheet.put(row, self.column, _scaled(mark, maximum))
            count += 1
        return Filled(self.sheet.content(), count, rows[0][self.column], problems)


# ---- Canvas


class Canvas:
    """A gradebook export; ``column`` names the assignment's column, or its number."""

    def __init__(self, path: Path, column: str | None = None, stems: list[str] | None = None):
        self.sheet = Sheet(path)
        rows = self.sheet.rows
        heads = rows[0] if rows else []
        if len(heads) < 2 or "Student" not in heads[0] or "ID" not in heads[1]:
            raise UsageError(
                f"{path} is no gradebook export of Canvas: its first columns should be Student "
                "and ID. Export it from the gradebook, with Export Entire Gradebook."
            )
        self.limits = next(
            (cells for cells in rows if cells[0].strip() == "Points Possible"), [""] * len(heads)
        )
        ids = [c for c, head in enumerate(heads) if head in IDS]
        self.people = {
            row: Row(
                cells[1].strip(),
                [cells[c] for c in ids if 1 < c < len(cells) and cells[c]],
                _spellings(cells[0]),
            )
            for row, cells in enumerate(rows)
            if row and len(cells) > 1 and cells[1].strip() and cells[0] != "Student, Test"
        }
        self.column = self._assignment(heads, column, stems)

    def _assignment(self, heads: list[str], wanted: str | None, stems: list[str] | None) -> int:
        """The column of the assignment: the one asked for, or the only one that can be meant."""
        offered = [
            c
            for c, head in enumerate(heads)
            if re.search(r"\(\d+\)$", head) and "read only" not in self.limits[c : c + 1]
        ]
        words = [wanted] if wanted else []
        if not wanted:
            exercises = [course.load().exercise(stem) for stem in stems or []]
            words = [word for e in exercises for word in (e.stem, e.title)]
        fits = [c for c in offered if any(same(word) in same(heads[c]) for word in words)]
        exact = [c for c in offered if wanted and heads[c] == wanted]
        found = exact or fits or ([] if wanted else offered)
        if len(found) != 1:
            names = "; ".join(heads[c] for c in offered) or "none"
            raise UsageError(
                f"{self.sheet.path}: say which assignment takes the marks, with --canvas-column. "
                f"There are: {names}."
            )
        return found[0]

    def fill(self, people: list[Mark]) -> Filled:
        """The export with the marks, scaled to the points possible of the assignment."""
        rows = self.sheet.rows
        chosen, problems = match(people, self.people, "Canvas")
        maximum = self.limits[self.column] if len(self.limits) > self.column else ""
        count = 0
        for mark in people:
            row = chosen.get(mark.learner)
            if row is None:
                continue
            if mark.value is None:
                reason = mark.reason
            elif len(rows[row]) <= self.column:
                reason = f"row {row + 1} has fewer cells than the header"
            elif rows[row][self.column].strip().upper() == EXCUSED:
                reason = "excused in Canvas"
            else:
                reason = _not_a_number(maximum)
            if reason:
                problems.append(f"{mark.learner}: left as it was ({reason})")
                continue
            self.sheet.put(row, self.column, re.sub(r"[.,]?0+$", "", _scaled(mark, maximum)))
            count += 1
        return Filled(self.sheet.content(), count, rows[0][self.column], problems)


def _spellings(sortable: str) -> list[str]:
    """ "Lovelace, Ada" as it stands, turned round, and as a bulk download squeezes it."""
    last, comma, first = sortable.partition(", ")
    turned = [f"{first} {last}"] if comma else []
    return [sortable, *turned, re.sub(r"\W", "", sortable).lower()]


# ---- which row is whose


def match(people: list[Mark], rows: dict[int, Row], lms: str) -> tuple[dict[str, int], list[str]]:
    """The row of each learner, and a line for everybody who has none.

    For what was downloaded from this LMS its own id decides alone: the same digits in another
    column belong to somebody else. Otherwise any id decides, then the name. Whatever fits twice,
    or has another name, is listed and never guessed.
    """
    own, ids, named = {}, {}, {}
    for row, person in rows.items():
        own.setdefault(same(person.own), set()).add(row)
        for key in (person.own, *person.others, *person.names):
            ids.setdefault(same(key), set()).add(row)
        for key in (*person.others, *person.names):
            named.setdefault(same(key), set()).add(row)
    shared = Counter(same(person.name) for person in people)
    chosen: dict[str, int] = {}
    problems = []
    for person in people:
        learner, name = person.learner, person.name
        if person.source == lms:
            fits = own.get(same(learner), set())
        else:
            fits = ids.get(same(learner), set()) if not person.source else set()
            if not fits and name and shared[same(name)] > 1 and same(name) in named:
                problems.append(f"{learner}: several learners are called {name}")
                continue
            fits = fits or (named.get(same(name), set()) if name else set())
        agreed = {row for row in fits if agree(name, rows[row].names)}
        if len(agreed) == 1:
            chosen[learner] = next(iter(agreed))
        elif agreed:
            lines = " and ".join(str(row + 1) for row in sorted(agreed))
            problems.append(f"{learner}: rows {lines} fit")
        elif fits:
            other = rows[min(fits)].names[0]
            problems.append(f"{learner}: row {min(fits) + 1} is for {other}, not for {name}")
        else:
            problems.append(f"{learner}: no row fits")
    claims = Counter(chosen.values())
    for learner, row in list(chosen.items()):
        if claims[row] > 1:
            del chosen[learner]
            problems.append(f"{learner}: row {row + 1} also fits another learner")
    return chosen, problems
