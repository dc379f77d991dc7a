"""Writes exercises/ from solutions/: ``python -m straight_through.build``; ``--check`` compares.

nbgrader's own preprocessors do the work, so that what a learner opens is what nbgrader itself would
hand out. The same notebook always gives the same bytes.
"""

import argparse
import copy
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from straight_through.course import ROOT, UsageError

STUB = "raise NotImplementedError"


def build(solution: NotebookNode) -> NotebookNode:
    """The exercise for a solution notebook: stubs, no outputs, the same ids and metadata."""
    # Imported here: nbgrader takes seconds, and most commands never build anything.
    from nbconvert.preprocessors import ClearOutputPreprocessor
    from nbgrader.preprocessors import ClearSolutions

    exercise = copy.deepcopy(solution)
    resources: dict = {}
    for step in (ClearSolutions(code_stub={"python": STUB}), ClearOutputPreprocessor()):
        exercise, resources = step.preprocess(exercise, resources)
    exercise.metadata.setdefault("ste", {})["built_from"] = fingerprint(exercise)
    return exercise


def fingerprint(notebook: NotebookNode) -> str:
    """SHA-256 of what a learner can type: ids, kinds and sources of the cells, in order.

    Running and saving a notebook changes outputs and metadata; that is no edit.
    """
    cells = [[cell.get("id"), cell.cell_type, cell.source] for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def render(notebook: NotebookNode) -> bytes:
    """The bytes of a notebook as they are stored: one indent, UTF-8, a newline at the end."""
    return (nbformat.writes(notebook, indent=1).rstrip("\n") + "\n").encode()


def built(solution: Path) -> bytes:
    """The exercise built from the solution at this path."""
    return render(build(nbformat.read(solution, as_version=4)))


def is_edited(path: Path) -> bool:
    """Whether somebody worked in the exercise at ``path`` since it was built."""
    try:
        notebook = nbformat.read(path, as_version=4)
        return notebook.metadata["ste"]["built_from"] != fingerprint(notebook)
    except FileNotFoundError:
        return False
    except Exception:  # whatever it is, it is not ours to throw away
        return True


def keep_copy(path: Path) -> Path:
    """Move ``path`` to the next free ``NAME.backup-N.ipynb`` beside it."""
    number = 1
    while (backup := path.with_name(f"{path.stem}.backup-{number}.ipynb")).exists():
        number += 1
    return path.rename(backup)


def put(path: Path, content: bytes) -> Path | None:
    """Write an exercise; an edited one is kept as a copy, whose path is returned."""
    if path.exists() and path.read_bytes() == content:
        return None
    backup = keep_copy(path) if is_edited(path) else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return backup


def committed(path: Path, root: Path = ROOT) -> bytes | None:
    """The file as the last commit has it; None without git, without a commit, without the file."""
    name = f"HEAD:./{path.relative_to(root).as_posix()}"
    try:
        show = subprocess.run(["git", "-C", str(root), "show", name], capture_output=True)
    except OSError:
        return None
    return show.stdout if show.returncode == 0 else None


def reset(stem: str, root: Path = ROOT) -> tuple[Path, Path | None]:
    """Restore one exercise. Returns its path and that of the kept copy, if it was edited.

    Raises UsageError where neither the solution nor a commit with the exercise is at hand.
    """
    path, solution = root / "exercises" / f"{stem}.ipynb", root / "solutions" / f"{stem}.ipynb"
    original = built(solution) if solution.exists() else committed(path, root)
    if original is None:
        raise UsageError(
            f"The original of {path.name} is not here. Copy it from a fresh download of the course."
        )
    return path, put(path, original)


def stale(root: Path = ROOT) -> list[str]:
    """Names of exercises that differ from a fresh build or have no solution."""
    solutions = {path.name: path for path in sorted((root / "solutions").glob("*.ipynb"))}
    exercises = {path.name for path in (root / "exercises").glob("*.ipynb")}
    orphans = {name for name in exercises - set(solutions) if ".backup-" not in name}
    differing = {
        name
        for name, path in solutions.items()
        if name not in exercises or (root / "exercises" / name).read_bytes() != built(path)
    }
    return sorted(orphans | differing)


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="python -m straight_through.build", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if one differs")
    if parser.parse_args(argv).check:
        names = stale(root)
        if names:
            print(f"Not as built from solutions/: {', '.join(names)}. Run: make exercises")
        return 1 if names else 0
    for solution in sorted((root / "solutions").glob("*.ipynb")):
        path = root / "exercises" / solution.name
        backup = put(path, built(solution))
        print(path.relative_to(root), f"(your work is in {backup.name})" if backup else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
