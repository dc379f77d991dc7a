"""Reads a learner's file: bytes -> the cells that count, whatever was done to it on the way.

Everything that is repaired is recorded; a file that is no notebook is ``Unreadable``, with one
sentence that says what it is instead.
"""

import codecs
import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

import nbformat

MAX_BYTES = 50 * 2**20  # of a notebook file, but for its outputs
MAX_READ = 256 * 2**20  # of a notebook file with its outputs
MAX_LOOKS = 10_000_000  # at brackets and texts, to find the outputs in it: a few seconds
MAX_CELLS = 1000
MAX_CODE = 300_000  # characters: reading a program takes a few hundred times its size
CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\ufeff\ud800-\udfff]")  # \f and \x1b may be

# Quantifiers with a + never go back, so that each of 256 MB is looked at once. A text that does
# not end takes the rest.
TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
OUTPUTS = re.compile(rb'"outputs"\s*+:\s*+(\[)|' + TEXT, re.DOTALL)
BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + TEXT + rb")*+([\[\]{}])", re.DOTALL)

BLANKS = " \t\r\n"  # of JSON

HINTS = (  # what a file is that is no notebook
    (r"version https://git-lfs", "It is a Git LFS pointer: run `git lfs pull` and hand in again."),
    (r"<{7}|[^<]*\n(<{7} |={7}\n|>{7} )", "It holds an unresolved merge conflict of git."),
    (r"(?i)\s*<(!doctype|html|\?xml)", "It is a web page: the download was a sign-in page."),
    (r"PK\x03\x04", "It is a zip file."),
    (r"%PDF", "It is a PDF: hand in the notebook itself."),
    (r"\s*\{", "It was cut off, or edited by hand."),
)


class Unreadable(ValueError):
    """The file is no notebook; the message says what it is, in one sentence."""


@dataclass
class Cell:
    """What counts of a learner's cell."""

    cell_type: str
    id: str
    grade_id: str
    source: str


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file; Unreadable for links, devices, pipes and giants."""
    try:
        # Never follow a link, never wait for a pipe.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(
            f"The file cannot be opened ({error.strerror}); only regular files are read."
        ) from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("This is no regular file, and only regular files are read.")
        if status.st_size > MAX_READ:
            raise too_large(status.st_size)
        return small(file.read())


def small(raw: bytes) -> bytes:
    """The file as it is, or without its outputs if it is a giant; Unreadable if that is one too."""
    if len(raw) <= MAX_BYTES:
        return raw
    kept = without_outputs(raw)
    if not 0 < len(kept) <= MAX_BYTES:
        raise too_large(len(raw))
    return kept


def too_large(size: int) -> Unreadable:
    return Unreadable(
        f"The file has {size / 2**20:.0f} MB; a notebook of this course has less than one. Clear "
        "the outputs and hand it in again."
    )


def without_outputs(raw: bytes) -> bytes:
    """The file with null for each list of outputs, which ``parse`` reports.

    A parser would take many times the size of the file. b"" if there is no end to be found.
    """
    kept, begin, at, looked = [], 0, 0, 0
    while found := OUTPUTS.search(raw, at):
        at, depth = found.end(), int(found[1] is not None)
        while depth and looked < MAX_LOOKS and (bracket := BRACKET.match(raw, at)):
            at, depth = bracket.end(), depth + (1 if bracket[1] in b"[{" else -1)
            looked += 1
        looked += 1
        if depth or looked >= MAX_LOOKS:
            return b""
        if found[1]:
            kept += [raw[begin : found.start(1)], b"null"]
            begin = at
    return b"".join([*kept, raw[begin:]])


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def parse(raw: bytes, repairs: list[str]) -> list[Cell]:
    """The cells of the notebook in ``raw``; Unreadable if it is none."""
    text = _text(raw, repairs)
    if not text.strip():
        raise Unreadable("The file is empty.")
    try:
        content = _first_document(text, repairs)
    except (ValueError, RecursionError):
        start = " ".join(text[:60].split())
        hint = next((f" {said}" for pattern, said in HINTS if re.match(pattern, text)), "")
        raise Unreadable(f"The file is no notebook; it begins with {start!r}.{hint}") from None
    if not isinstance(content, dict):
        raise Unreadable("The file holds JSON, but no notebook.")
    cells = [_cell(cell, repairs) for cell in _upgraded(content, repairs)]
    _check_size(cells)
    named = [cell.id for cell in cells if cell.id]
    if len(set(named)) < len(cells) and not any("upgraded" in repair for repair in repairs):
        repairs.append("gave ids to cells that had none of their own")
    return cells


def _first_document(text: str, repairs: list[str]):
    """The JSON that the text begins with: a disk or a copy may have added to a whole notebook."""
    text = text.strip(BLANKS)
    content, end = json.JSONDecoder(parse_int=_int).raw_decode(text)
    if rest := len(text) - end:
        if not isinstance(content, dict):
            raise ValueError("no notebook, nor JSON")
        repairs.append(f"left out {rest} characters that follow the end of the notebook")
    return content


def _text(raw: bytes, repairs: list[str]) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        repairs.append("read as UTF-16 text")
        return raw.decode("utf-16", errors="replace")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
        repairs.append("read as Windows-1252 text, since it is not UTF-8")
    if text.startswith("\ufeff"):
        text = text.removeprefix("\ufeff")
        repairs.append("removed a byte order mark")
    return text


def _int(digits: str) -> int:
    return int(digits) if len(digits) < 20 else 0  # nothing that counts here is a huge number


def _upgraded(content: dict, repairs: list[str]) -> list:
    """The cells of a notebook of any format as in format 4."""
    if "nbformat" not in content and isinstance(content.get("cells"), list):
        content = {**content, "nbformat": 4}
        repairs.append("took it for notebook format 4, which it does not say")
    major, minor = content.get("nbformat"), content.get("nbformat_minor", 0)
    if major in (3.0, 4.0, "3", "4", "4.0") and not isinstance(major, int):
        repairs.append(f"took its notebook format, {major!r}, for a whole number")
        content = {**content, "nbformat": (major := int(float(major)))}
    if not isinstance(major, int) or major not in (3, 4):
        raise Unreadable(f"The file is no notebook of format 3 or 4 (it says {str(major)[:20]!r}).")
    if major == 3:
        try:
            content = dict(nbformat.convert(nbformat.from_dict(content), 4))
        except Exception as error:
            raise Unreadable(
                f"The notebook of format 3 cannot be upgraded ({type(error).__name__})."
            ) from None
        repairs.append("upgraded from notebook format 3")
    elif not isinstance(minor, int) or minor < 5:
        repairs.append(f"upgraded from notebook format 4.{str(minor)[:20]}")
    cells = content.get("cells")
    if not isinstance(cells, list) or not cells:
        raise Unreadable("The notebook has no cells.")
    if any(isinstance(cell, dict) and cell.get("outputs", ()) is None for cell in cells):
        repairs.append(f"left out outputs that made the file larger than {MAX_BYTES >> 20} MB")
    metadata = content.get("metadata")
    if isinstance(metadata, dict) and "widgets" in metadata:
        repairs.append("dropped saved widget state")
    return cells


def _check_size(cells: list[Cell]) -> None:
    code = sum(len(cell.source) for cell in cells if cell.cell_type == "code")
    if len(cells) > MAX_CELLS:
        raise Unreadable(
            f"The notebook has {len(cells)} cells; one of this course has about ten. Delete what "
            "is not needed and hand it in again."
        )
    if code > MAX_CODE:
        raise Unreadable(
            f"The notebook has {code // 1000} thousand characters of code; one of this course has "
            "two or three. Put data into a file of its own and hand it in again."
        )


def _cell(cell, repairs: list[str]) -> Cell:
    if not isinstance(cell, dict):
        _once(repairs, "left out something that is no cell")
        return Cell("raw", "", "", "")
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = mark.get("grade_id") if isinstance(mark, dict) else None
    kind = cell.get("cell_type")
    return Cell(
        cell_type=kind if kind in ("code", "markdown", "raw") else "raw",
        id=cell.get("id") if isinstance(cell.get("id"), str) else "",
        grade_id=grade_id if isinstance(grade_id, str) else "",
        source=_source(cell.get("source", cell.get("input", "")), repairs),
    )


def _source(source, repairs: list[str]) -> str:
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    source = source if isinstance(source, str) else ""
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
        _once(repairs, "changed Windows line ends")
    if CONTROL.search(source):
        source = CONTROL.sub("", source)
        _once(repairs, "removed characters that are no text")
    return source


def _once(repairs: list[str], repair: str) -> None:
    if repair not in repairs:
        repairs.append(repair)
