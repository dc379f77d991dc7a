"""Marks into the instructor's own files: Moodle's grading worksheet, Canvas's gradebook export.

Formats: Moodle, mod/assign/gradingtable.php and feedback/offline; Canvas, gradebook_exporter.rb
and gradebook_importer.rb. Only the cells of one column change, and only where a mark is known.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from straight_through import course
from straight_through.grading.collect import UsageError
from straight_through.grading.marks import Mark
from straight_through.grading.sheet import Sheet, match, same

NUMBER = re.compile(r"^\s*\d+(?:[.,]\d+)?\s*$")
PARTICIPANT = re.compile(r"^\D*?(\d+)$")  # "Participant 12345", in the site's language
IDS = ("ID", "SIS User ID", "SIS Login ID", "Integration ID")
EXCUSED = "EX"


@dataclass
class Filled:
    """A file of the LMS with marks in it, and what the instructor should know about it."""

    content: bytes
    count: int
    column: str
    problems: list[str]


def _float(text: str) -> float | None:
    return float(text.replace(",", ".")) if NUMBER.match(text) else None


def _scaled(mark: Mark, maximum: float) -> float:
    return round(mark.value / mark.total * maximum, 2)


# ---- Moodle


class Moodle:
    """A grading worksheet, downloaded from an assignment with "offline grading worksheet" on."""

    def __init__(self, path: Path):
        self.sheet = Sheet(path)
        rows = self.sheet.rows
        self.people = {
            row: [PARTICIPANT.match(cells[0])[1], *cells]
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
        self.people = {
            row: [cell for cell in cells[: self.column + 1] if cell.strip()]
            for row, cells in self.people.items()
        }

    def _grade_column(self, rows: list[list[str]]) -> int:
        """The column before the maximum grade, whatever language the headers are in."""
        heads = rows[0]
        if heads.count("Grade") == 1:
            return heads.index("Grade")
        body = [rows[row] for row in self.people]
        width = min(map(len, body))
        constant = [
            c
            for c in range(3, width)
            if NUMBER.match(body[0][c]) and len({cells[c] for cells in body}) == 1
        ]
        found = [
            c - 1
            for c in constant
            if all(
                cells[c - 1].strip() in ("", "-") or NUMBER.match(cells[c - 1]) for cells in body
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
        chosen, problems = match(people, self.people)
        count = 0
        for mark in people:
            row = chosen.get(mark.learner)
            if row is None:
                continue
            cells = rows[row]
            written = cells[self.column + 1] if len(cells) > self.column + 1 else ""
            maximum = _float(written) or mark.total
            if mark.value is None:
                problems.append(f"{mark.learner}: left as it was ({mark.reason})")
                continue
            text = f"{_scaled(mark, maximum):.2f}"
            self.sheet.put(row, self.column, text.replace(".", ",") if "," in written else text)
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
            row: [*(cells[c] for c in ids if c < len(cells) and cells[c]), *_spellings(cells[0])]
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
        chosen, problems = match(people, self.people)
        maximum = _float(self.limits[self.column]) if len(self.limits) > self.column else None
        count = 0
        for mark in people:
            row = chosen.get(mark.learner)
            if row is None:
                continue
            if mark.value is None:
                problems.append(f"{mark.learner}: left as it was ({mark.reason})")
            elif rows[row][self.column].strip() == EXCUSED:
                problems.append(f"{mark.learner}: left as it was (excused in Canvas)")
            else:
                value = _scaled(mark, maximum or mark.total)
                self.sheet.put(row, self.column, f"{value:g}")
                count += 1
        return Filled(self.sheet.content(), count, rows[0][self.column], problems)


def _spellings(sortable: str) -> list[str]:
    """ "Lovelace, Ada" as it stands, turned round, and as a bulk download squeezes it."""
    last, comma, first = sortable.partition(", ")
    turned = [f"{first} {last}"] if comma else []
    return [sortable, *turned, re.sub(r"\W", "", sortable).lower()]
