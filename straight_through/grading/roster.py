"""Who should have handed in: a CSV file of the class, and who of it is among the learners found.

It decides who is listed as missing, and no grade: a grade stays with the learner of the hand-in.
Header words: Moodle's language packs (recordid, hiddenuser and fullname), which leave the blank
out that stands in the English "Participant 101".
"""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from straight_through.grading.names import agree, alike, turned, words
from straight_through.grading.sheet import PARTICIPANT, Sheet, UsageError, same
from straight_through.grading.sources import printable

LEARNER = ("learner", "student_id", "identifier", "username", "id", "user", "user id", "login")
LEARNER += ("student id", "student number", "id number", "matrikelnummer", "email", "e-mail")
LEARNER += ("email address", "e-mail address", "e-mail-adresse", "mail")
ALSO = ("sis user id", "sis login id", "integration id")  # Canvas
NAME = ("name", "full name", "student", "student name", "vollständiger name", "nom complet")
NAME += ("nombre completo", "nome completo", "volledige naam")
FIRST = ("first name", "firstname", "given name", "vorname")
LAST = ("last name", "lastname", "surname", "family name", "nachname")
NUMBERED = ("particip", "partecip", "teilnehm", "deelnem", "delta")  # Moodle's "Participant 101"


@dataclass(frozen=True)
class Person:
    """A row of a roster. ``learner`` is the id that somebody who is missing is listed by."""

    learner: str
    name: str = ""
    ids: tuple[str, ...] = ()  # of other columns
    word: str = ""  # "Participant": what an anonymous download calls everybody
    row: int = 0  # of the file, from 1 on


@dataclass
class Match:
    """Which learner is whom on the roster, who of both is left over, and what cannot be told."""

    left: dict[str, Person]
    free: dict[str, str]
    found: dict[str, Person] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    @property
    def missing(self) -> list[Person]:
        return list(self.left.values())

    def take(self, learner: str, person: Person) -> None:
        self.found[learner] = person
        del self.free[learner], self.left[person.learner]


# ---- reading


def read_roster(path: Path) -> dict[str, str]:
    """The learners of a roster file in its order, each with the person's name if it has one."""
    return {person.learner: person.name for person in read_people(path)}


def read_people(path: Path) -> list[Person]:
    """The people of a roster file in its order; UsageError if it is empty or no CSV file."""
    table = [[printable(cell.strip()) for cell in row] for row in Sheet(path).rows]
    table = {number: row for number, row in enumerate(table, 1) if any(row)}
    if not table:
        raise UsageError(f"The roster {path} is empty.")
    rows = list(table.values())
    heads = [cell.lower() for cell in rows[0]]
    column, named = _column(heads, LEARNER), _column(heads, NAME)
    first, last = _column(heads, FIRST), _column(heads, LAST)
    worksheet = len(heads) > 1 and _is_worksheet([row[0] for row in rows])
    if worksheet:  # Moodle, in the site's language; no names if participants are anonymous
        column, named = 0, 1 if heads[1] in NAME else None
    headed = not column is named is first is last is None
    if not headed:
        column = 0
    others = [c for c, head in enumerate(heads) if head in LEARNER + ALSO and c != column]
    people = {}
    for number, row in list(table.items())[headed:]:
        row += [""] * (len(heads) - len(row))
        parts = [row[c] for c in (first, last) if c is not None and row[c]]
        name = row[named] if named is not None else " ".join(parts)
        learner, word = row[column] if column is not None else name, ""
        if worksheet and (found := PARTICIPANT.match(learner)):
            word, learner = found[1], found[2]
        if learner and name != "Student, Test":  # Canvas's own test student
            ids = tuple(row[c] for c in others if row[c])
            people[learner] = Person(learner, name, ids, word, number)
    return list(people.values())


def _is_worksheet(cells: list[str]) -> bool:
    """True for "Identifier", "Participant 101", "Participant 102", in any language."""
    found = [PARTICIPANT.match(cell) for cell in cells[1:] if cell]
    said = {match[1].strip() for match in found if match}
    if not found or not all(found) or len(said) != 1 or said == {""}:
        return False
    head = cells[0].lower()
    # A German worksheet says "ID" there, and so may a list of student1, student2.
    numbered = said.pop().lower().startswith(NUMBERED)
    return head == "identifier" or (head == "id" and numbered) or not _is_own(head)


def _is_own(head: str) -> bool:
    return head in LEARNER or PARTICIPANT.match(head) is not None


def _column(heads: list[str], wanted: tuple[str, ...]) -> int | None:
    return next((heads.index(name) for name in wanted if name in heads), None)


# ---- matching


def match(people: list[Person], there: dict[str, str]) -> Match:
    """Who of ``people`` is among the learners ``there`` (with their names): by id, then by name.

    An id that goes with another name is another person's: Moodle numbers participants anew in
    each assignment. Notices name rows and nobody, since they are kept when a learner is forgotten.
    """
    result = Match(left={person.learner: person for person in people}, free=dict(there))
    _by_id(result, lambda person: (person.learner,))
    _by_id(result, lambda person: person.ids)
    _by_name(result)
    taken = {same(learner) for learner in there}
    clashes = [person for person in result.missing if same(person.learner) in taken]
    for person in clashes:
        del result.left[person.learner]
    if clashes:
        more = f", and so have {len(clashes) - 1} more rows" if len(clashes) > 1 else ""
        result.notices.append(
            f"row {clashes[0].row} has the id of a learner with another name{more}; it may be "
            "the list of another assignment"
        )
    return result


def _by_id(result: Match, keys) -> None:
    owners = defaultdict(list)
    for person in result.missing:
        for key in {same(key) for key in keys(person)}:
            owners[key].append(person)
    for learner, name in list(result.free.items()):
        fits = [person for person in owners[same(learner)] if person.learner in result.left]
        fits = [p for p in fits if _is_called(p, name)]
        if len(fits) == 1:
            result.take(learner, fits[0])


def _is_called(person: Person, name: str) -> bool:
    return alike(name, person.name) or agree(name, [person.name, person.word])


def _by_name(result: Match) -> None:
    owners, called = defaultdict(list), defaultdict(list)
    for person in result.missing:
        for key in turned(person.name):
            owners[key].append(person)
    for learner, name in result.free.items():
        called["".join(words(name or learner))].append(learner)
    for key, learners in called.items():
        fits = [person for person in owners[key] if person.learner in result.left]
        for learner, person in zip(learners, fits, strict=False):
            result.take(learner, person)
        rest = fits[len(learners) :]
        for person in rest:
            del result.left[person.learner]
        if rest:
            rows = " and ".join(str(person.row) for person in fits)
            result.notices.append(
                f"rows {rows} have one name, and fewer learners of that name handed in: who of "
                "them is missing cannot be told, unless the list has the ids of the hand-in"
            )
