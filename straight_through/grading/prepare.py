"""From a learner's file to the notebook that is run: read, repaired, every repair recorded.

The prepared notebook has our setup first, then the learner's cells in their order without outputs
and without nbval markers, then our example cells with our reference outputs. The learner's own
cells earn nothing and cost nothing.
"""

import ast
import functools
import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from straight_through import course
from straight_through.checks.solutions import SOLUTIONS, role
from straight_through.submission import stub_names

MAX_BYTES = 50 * 2**20  # of a notebook file
MARKER = re.compile(r"^\s*#+\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.MULTILINE)
INSTALL = re.compile(r"^\s*(?:[!%]{1,2}\s*)(?:pip|conda|mamba|apt|apt-get|uv)\b.*$", re.MULTILINE)


class Unreadable(ValueError):
    """The file is no notebook; the message says what it is, in one sentence."""


@dataclass
class Cell:
    """What counts of a learner's cell."""

    cell_type: str
    id: str
    grade_id: str
    source: str


@dataclass
class Prepared:
    """A notebook ready to run. ``labels`` names each code cell as the learner would."""

    notebook: nbformat.NotebookNode
    stubs: set[str]
    repairs: list[str] = field(default_factory=list)
    undefined: set[str] = field(default_factory=set)


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
        if status.st_size > MAX_BYTES:
            raise Unreadable(
                f"The file has {status.st_size / 2**20:.0f} MB; a notebook of this course has "
                "less than one. Clear the outputs and hand it in again."
            )
        return file.read()


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def parse(raw: bytes, repairs: list[str]) -> list[Cell]:
    """The cells of the notebook in ``raw``; Unreadable if it is none."""
    if not raw.strip():
        raise Unreadable("The file is empty.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
        repairs.append("read as Windows-1252 text, since it is not UTF-8")
    if text.startswith("\ufeff"):
        text = text.removeprefix("\ufeff")
        repairs.append("removed a byte order mark")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        start = " ".join(text[:60].split())
        raise Unreadable(f"The file is no notebook; it begins with {start!r}.") from None
    if not isinstance(content, dict):
        raise Unreadable("The file holds JSON, but no notebook.")
    return _upgrade(content, repairs)


def _upgrade(content: dict, repairs: list[str]) -> list[Cell]:
    major, minor = content.get("nbformat"), content.get("nbformat_minor", 0)
    if major not in (3, 4):
        raise Unreadable(f"The file is no notebook of format 3 or 4 (it says {major!r}).")
    if major == 3:
        try:
            notebook = nbformat.convert(nbformat.from_dict(content), 4)
        except Exception as error:
            raise Unreadable(
                f"The notebook of format 3 cannot be upgraded ({type(error).__name__})."
            ) from None
        content = dict(notebook)
        repairs.append("upgraded from notebook format 3")
    elif (major, minor) < (4, 5):
        repairs.append(f"upgraded from notebook format 4.{minor}")
    cells = content.get("cells")
    if not isinstance(cells, list) or not cells:
        raise Unreadable("The notebook has no cells.")
    if "widgets" in (content.get("metadata") or {}):
        repairs.append("dropped saved widget state")
    return [_cell(cell, repairs) for cell in cells if isinstance(cell, dict)]


def _cell(cell: dict, repairs: list[str]) -> Cell:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    source = source if isinstance(source, str) else ""
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
        _once(repairs, "changed Windows line ends")
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = mark.get("grade_id") if isinstance(mark, dict) else None
    kind = cell.get("cell_type")
    return Cell(
        cell_type=kind if kind in ("code", "markdown", "raw") else "raw",
        id=cell.get("id") if isinstance(cell.get("id"), str) else "",
        grade_id=grade_id if isinstance(grade_id, str) else "",
        source=source,
    )


def _once(repairs: list[str], repair: str) -> None:
    if repair not in repairs:
        repairs.append(repair)


# ---- which cells answer


def defines(source: str, name: str) -> bool:
    """True if the cell defines ``name`` at its top level, or would if it had no syntax error."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.search(rf"^(def\s+{name}\b|{name}\s*=)", source, re.MULTILINE) is not None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(
            node, ast.Assign | ast.AnnAssign | ast.ImportFrom | ast.Try | ast.If | ast.With
        ):
            for part in ast.walk(node):
                if (
                    isinstance(part, ast.Name)
                    and isinstance(part.ctx, ast.Store)
                    and part.id == name
                ):
                    return True
                if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name:
                    return True
                if isinstance(part, ast.alias) and (part.asname or part.name) == name:
                    return True
    return False


def _answers(cells: list[Cell], name: str, repairs: list[str]) -> list[Cell]:
    """The cells that answer one function: by grade_id, then cell id, then the def they contain."""
    found = [cell for cell in cells if cell.grade_id == name]
    if not found:
        found = [cell for cell in cells if cell.id == name]
    for cell in found:
        if cell.cell_type != "code":
            repairs.append(f"turned the answer cell of {name} back into a code cell")
            cell.cell_type = "code"
    marked = {id(cell) for cell in found}
    code = [cell for cell in cells if cell.cell_type == "code"]
    others = [cell for cell in code if id(cell) not in marked and defines(cell.source, name)]
    if not found and others:
        repairs.append(f"found {name} by its definition: its cell has lost its mark")
    return [cell for cell in code if id(cell) in marked or cell in others]


def _settle(answers: list[Cell], name: str, repairs: list[str]) -> tuple[bool, bool]:
    """Whether the function is still a stub, and whether it is defined anywhere at all."""
    defining = [cell for cell in answers if defines(cell.source, name)]
    stubs = [cell for cell in defining if name in stub_names(cell.source)]
    written = [cell for cell in defining if name not in stub_names(cell.source)]
    if written and stubs:
        for cell in stubs:  # an untouched stub yields to an answer given elsewhere
            cell.source = ""
        repairs.append(f"left out an untouched stub of {name}: another cell defines it")
    if len(written) > 1:
        repairs.append(f"{name} is defined in {len(written)} cells: the last one counts")
    return bool(stubs) and not written, bool(defining)


def _clean(cell: Cell, number: int, repairs: list[str]) -> None:
    """Strip what would change how the grader runs or compares a cell."""
    if MARKER.search(cell.source):
        cell.source = MARKER.sub("", cell.source)
        repairs.append(f"removed an nbval marker from cell {number}")
    if INSTALL.search(cell.source):
        cell.source = INSTALL.sub("pass", cell.source)
        repairs.append(f"left out an install command in cell {number}: there is no network")


@functools.cache
def _ours(stem: str) -> tuple[str, tuple]:
    """Our setup source and our example cells, from the solution notebook."""
    setup, examples = [], []
    for cell in nbformat.read(SOLUTIONS / f"{stem}.ipynb", as_version=4).cells:
        grade_id, _ = role(cell) if cell.cell_type == "code" else ("", False)
        if grade_id.startswith("setup"):
            setup.append(cell.source)
        elif grade_id.startswith("example"):
            examples.append(cell)
    return "\n".join(setup), tuple(examples)


def prepare(raw: bytes, exercise: course.Exercise) -> Prepared:
    """The notebook to run for a learner's file; Unreadable if the file is no notebook."""
    repairs: list[str] = []
    cells = parse(raw, repairs)
    stubs, undefined, answers = set(), set(), {}
    for function in exercise.functions:
        answers[function.name] = _answers(cells, function.name, repairs)
        stub, defined = _settle(answers[function.name], function.name, repairs)
        stubs |= {function.name} if stub else set()
        undefined |= set() if defined else {function.name}
    setup, examples = _ours(exercise.stem)
    run = [new_code_cell(setup, metadata={"ste": {"role": "setup", "label": "our setup"}})]
    for number, cell in enumerate(cells, 1):
        if cell.cell_type != "code":
            continue
        _clean(cell, number, repairs)
        answered = [name for name, found in answers.items() if any(cell is c for c in found)]
        mark = {"role": "learner", "label": f"cell {number}", "functions": answered}
        run.append(new_code_cell(cell.source, metadata={"ste": mark}))
    for example in examples:
        run.append(_example(example, setup))
    prepared = new_notebook(cells=run)
    return Prepared(prepared, stubs, repairs, undefined)


def _example(cell, setup: str) -> nbformat.NotebookNode:
    """Our example with our result. Its imports come first: the learner may have reused a name."""
    mark = {
        "role": "example",
        "id": role(cell)[0],
        "label": "our example",
        **cell.metadata.get("ste", {}),
    }
    source = f"{setup}\n{cell.source}"
    results = [output for output in cell.outputs if output.output_type == "execute_result"]
    return new_code_cell(source, metadata={"ste": mark}, outputs=results, execution_count=1)
