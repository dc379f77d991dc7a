"""An LMS's own CSV file, changed cell by cell: every other byte stays as it was.

The csv module would rewrite quotes, line ends and the byte order mark.
"""

import re
import unicodedata
from collections import Counter
from pathlib import Path

from straight_through.grading.collect import UsageError
from straight_through.grading.marks import Mark


def same(text: str) -> str:
    """What two spellings of one name or id have in common."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


class Sheet:
    """The cells of a CSV file. ``rows[r][c]`` is a cell's value; ``put`` changes one."""

    def __init__(self, path: Path):
        self.path = path
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
        try:
            text, self.encoding = raw.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            text, self.encoding = raw.decode("latin-1"), "latin-1"  # keeps every byte
        self._bom = "\ufeff" if text.startswith("\ufeff") else ""
        text = text.removeprefix("\ufeff")
        head = re.split(r"[\r\n]", text, maxsplit=1)[0]
        self.delimiter = max(",;\t", key=head.count)
        # Alternately a cell as it is written, and what stands behind it.
        cell = rf'("(?:[^"]|"")*"|(?!")[^{self.delimiter}\r\n]*)({self.delimiter}|\r\n|\r|\n|\Z)'
        self._pieces: list[list[str]] = []
        self._places: list[list[int]] = [[]]
        for found in re.finditer(cell, text):
            if found.end() == found.start() and not self._places[-1]:
                continue  # behind the last line
            self._places[-1].append(len(self._pieces))
            self._pieces.append([found[1], found[2]])
            if found[2] != self.delimiter:
                self._places.append([])
            if found.end() == len(text) and found[2] != self.delimiter:
                break
        if "".join(map("".join, self._pieces)) != text:
            raise UsageError(f"{path} is no CSV file: a quote in it does not end.")
        self._places = [row for row in self._places if row]

    @property
    def rows(self) -> list[list[str]]:
        return [[_value(self._pieces[place][0]) for place in row] for row in self._places]

    def put(self, row: int, column: int, value: str) -> None:
        piece = self._pieces[self._places[row][column]]
        quoted = piece[0].startswith('"') or any(c in value for c in f'{self.delimiter}"\r\n')
        piece[0] = '"' + value.replace('"', '""') + '"' if quoted else value

    def content(self) -> bytes:
        text = self._bom + "".join(map("".join, self._pieces))
        return text.encode(self.encoding, errors="replace")


def _value(written: str) -> str:
    if len(written) > 1 and written[0] == written[-1] == '"':
        return written[1:-1].replace('""', '"')
    return written


def match(people: list[Mark], rows: dict[int, list[str]]) -> tuple[dict[str, int], list[str]]:
    """Which row is whose. ``rows`` gives the names and ids that stand in each.

    The id decides, then the person's name. Whatever fits twice is listed, never guessed.
    """
    places: dict[str, set[int]] = {}
    for row, keys in rows.items():
        for key in keys:
            places.setdefault(same(key), set()).add(row)
    shared = Counter(same(person.name) for person in people)
    chosen: dict[str, int] = {}
    problems = []
    for person in people:
        fits = places.get(same(person.learner), set())
        if not fits and person.name and shared[same(person.name)] == 1:
            fits = places.get(same(person.name), set())
        elif not fits and person.name and same(person.name) in places:
            problems.append(f"{person.learner}: several learners are called {person.name}")
            continue
        if len(fits) == 1:
            chosen[person.learner] = next(iter(fits))
        elif fits:
            lines = " and ".join(str(row + 1) for row in sorted(fits))
            problems.append(f"{person.learner}: rows {lines} fit")
        else:
            problems.append(f"{person.learner}: no row fits")
    claims = Counter(chosen.values())
    for learner, row in list(chosen.items()):
        if claims[row] > 1:
            del chosen[learner]
            problems.append(f"{learner}: row {row + 1} also fits another learner")
    return chosen, problems
