"""Builds folders of submissions out of answers, for the tests of the grader."""

import json
import time
from pathlib import Path

import nbformat
import psutil

from straight_through import build, course
from straight_through.grading.sandbox import Limits

ROOT = course.ROOT
CASES = ROOT / "tests" / "cases" / "ste_quantize"
EXPECTED = json.loads((CASES / "expected.json").read_text())
RIGHT = (CASES / "right_zero_first.py").read_text()
# Low enough not to wait for long, high enough that no honest cell meets them on a busy machine.
LIMITS = Limits(cell=10, request=8, total=80, memory=2**30)


def notebook(answer: str, stem: str = "04_ste", function: str = "ste_quantize"):
    """The exercise's notebook, as it is given out, with ``answer`` in the solution cell."""
    given_out = build.built(ROOT / "solutions" / f"{stem}.ipynb")
    result = nbformat.reads(given_out.decode(), as_version=4)
    for cell in result.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == function:
            cell.source = answer
    return result


def hand_in(folder: Path, learner: str, content, stem: str = "04_ste") -> Path:
    """Write a learner's file: an answer, a notebook, or raw bytes."""
    path = folder / learner / f"{stem}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        made = notebook(content, stem) if isinstance(content, str) else content
        nbformat.write(made, path)
    return path


def cell(source: str):
    return nbformat.v4.new_code_cell(source)


def by_learner(grades) -> dict:
    return {item.found.learner: item for item in grades.graded}


def runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def ended(processes, seconds: float = 20) -> bool:
    """True once none of them runs any more, within some seconds."""
    until = time.monotonic() + seconds
    while any(runs(process) for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
