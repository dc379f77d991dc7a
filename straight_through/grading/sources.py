"""The files of a hand-in, from a folder or a zip, without trusting any of them.

Nothing is ever unpacked to disk. Links are not followed; entries of a zip that point out of it are
skipped and reported; only notebooks are decompressed, each and all of them up to a limit.
"""

import io
import os
import re
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from straight_through.grading import cells
from straight_through.grading.cells import Unreadable, read_bytes

MAX_TOTAL = 2 * 2**30  # bytes that one hand-in may unpack to
MAX_GIANTS = 8 * 2**30  # and its notebooks that lose their outputs: they take time, not memory
MAX_DEPTH = 2  # a zip of the class, and in it the zip of a learner
JOINERS = "\u200c\u200d"  # parts of names in some scripts
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Entry:
    """A file: its place below the hand-in, its time in seconds, and how to read it."""

    parts: tuple[str, ...]
    time: float
    path: Path
    read: Callable[[], bytes] = field(compare=False)

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def shown(self) -> str:
        return "/".join(self.parts)


def printable(text: str) -> str:
    """One line in normal form C; what steers a terminal or turns text around is spelled out."""
    return "".join(map(_spelled, unicodedata.normalize("NFC", text)))


def _spelled(c: str) -> str:
    if c in JOINERS or unicodedata.category(c) not in ("Cc", "Cf", "Cs"):
        return c
    return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"


def files(place: Path) -> tuple[list[Entry], list[str]]:
    """Every file in ``place``, in a fixed order, and what was skipped, with the reason."""
    walker = _Walker()
    if place.is_dir():
        walker.folder(place)
    else:
        walker.archive(str(place), (), place, 1)
    return sorted(walker.entries, key=lambda entry: entry.parts), walker.skipped


class _Walker:
    def __init__(self):
        self.entries: list[Entry] = []
        self.skipped: list[str] = []
        self.unpacked = self.giants = 0

    def folder(self, place: Path) -> None:
        def closed(error: OSError) -> None:
            below = Path(error.filename).relative_to(place).parts
            if not below:
                raise Unreadable(f"The folder {place} cannot be opened ({error.strerror}).")
            self._skip(below, f"the folder cannot be opened ({error.strerror})")

        for where, folders, names in os.walk(place, onerror=closed):
            below = Path(where).relative_to(place).parts
            for name in folders:
                if os.path.islink(os.path.join(where, name)):
                    self._skip((*below, name), "a link, and links are not followed")
            for name in names:
                path, parts = Path(where, name), tuple(map(printable, (*below, name)))
                if is_zip(name) and not junk(parts):
                    self._inner(lambda path=path: read_bytes(path), parts, path, 1)
                else:
                    read = lambda path=path: read_bytes(path)  # noqa: E731
                    self.entries.append(Entry(parts, path.lstat().st_mtime, path, read))

    def archive(self, file, parts: tuple, path: Path, depth: int) -> None:
        """The entries of a zip, as if it were a folder of that name."""
        try:
            opened = zipfile.ZipFile(file)
        except (*BROKEN, OSError) as error:
            if not parts:
                raise Unreadable(f"{path.name} is no zip that can be read ({error}).") from None
            self.entries.append(Entry(parts, 0, path, _refuse("The zip cannot be read.")))
            return
        for info in opened.infolist():
            name = _name(info)
            inside = [part for part in name.split("/") if part not in ("", ".")]
            if info.is_dir() or not inside:
                continue
            if name.startswith("/") or re.match("[A-Za-z]:", name) or ".." in inside:
                self._skip((*parts, name), "it points out of the zip")
                continue
            mine = (*parts, *map(printable, inside))
            read = _refuse(_problem(info)) if _problem(info) else self._reader(opened, info)
            if is_zip(name) and depth < MAX_DEPTH and not junk(mine):
                self._inner(read, mine, path / name, depth + 1)
            else:
                self.entries.append(Entry(mine, _time(info), path / name, read))

    def _inner(self, read, parts, path, depth) -> None:
        try:
            content = read()
        except Unreadable as error:
            self._skip(parts, str(error))
        else:
            self.archive(io.BytesIO(content), parts, path, depth)

    def _reader(self, opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            self._count(info.file_size)  # no more than this is ever unpacked
            try:
                with opened.open(info) as file:
                    content = file.read(cells.MAX_READ)
            except (*BROKEN, OSError) as error:
                raise Unreadable(f"The file in the zip is damaged ({error}).") from None
            return cells.small(content)

        return read

    def _count(self, size: int) -> None:
        """Two limits: giants that leave nothing in memory must not use up what others need."""
        giant = size > cells.MAX_BYTES
        if size > (MAX_GIANTS - self.giants if giant else MAX_TOTAL - self.unpacked):
            raise Unreadable(
                "All files of the zip together unpack to more than is read: unpack it, and give "
                "the folder."
            )
        if giant:
            self.giants += size
        else:
            self.unpacked += size

    def _skip(self, parts: tuple, reason: str) -> None:
        self.skipped.append(f"{printable('/'.join(parts))}: {reason}")


def is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def junk(parts: tuple[str, ...]) -> bool:
    """Copies that JupyterLab, macOS and this course's own ``reset`` leave behind."""
    name = parts[-1]
    hidden = any(part.startswith(".") for part in parts)
    return hidden or "__MACOSX" in parts or bool(re.search(r"\.backup-\d+\.ipynb$", name))


def _refuse(reason: str) -> Callable[[], bytes]:
    def read() -> bytes:
        raise Unreadable(reason)

    return read


def _name(info: zipfile.ZipInfo) -> str:
    """The name of a zip's entry. Many programs write UTF-8 without saying so."""
    name = info.filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name.replace("\\", "/")


def _problem(info: zipfile.ZipInfo) -> str:
    kind = (info.external_attr >> 16) & 0o170000
    if kind not in (0, 0o100000):
        return "The entry of the zip is a link or a device, and only regular files are read."
    if info.flag_bits & 1:
        return "The file in the zip is encrypted: hand it in again without a password."
    if info.file_size > (cells.MAX_BYTES if is_zip(info.filename) else cells.MAX_READ):
        return str(cells.too_large(info.file_size))
    return ""


def _time(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
