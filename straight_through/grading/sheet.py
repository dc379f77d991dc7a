"""An LMS's own CSV file, changed cell by cell: every other byte stays as it was.

The csv module would rewrite quotes, line ends and the byte order mark.
"""

import codecs
import re
import unicodedata
from pathlib import Path

PARTICIPANT = re.compile(r"^(\D*?)(\d+)$")  # Moodle's "Participant 12345", in the site's language


class UsageError(ValueError):
    """The grader was called in a way that it cannot work with; exit code 2."""


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
        text, self.encoding = _decoded(raw)
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


def _decoded(raw: bytes) -> tuple[str, str]:
    """The text with its byte order mark, and the encoding that gives the same bytes again."""
    encodings = ["utf-8", "cp1252"]
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16-le" if raw.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"]
    for encoding in encodings:
        try:
            return raw.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1"), "latin-1"  # keeps every byte


def _value(written: str) -> str:
    if len(written) > 1 and written[0] == written[-1] == '"':
        return written[1:-1].replace('""', '"')
    return written
