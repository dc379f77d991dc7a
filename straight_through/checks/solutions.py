"""The solutions' notebooks: where they are, and what is in them."""

from pathlib import Path

import nbformat

from straight_through import course

SOLUTIONS = course.ROOT / "solutions"


def role(cell) -> tuple[str, bool]:
    """A code cell's nbgrader grade_id ("" without one), and whether it is a solution cell."""
    mark = cell.metadata.get("nbgrader", {})
    return mark.get("grade_id", ""), bool(mark.get("solution"))


def sources(path: Path) -> tuple[str, dict[str, str]]:
    """The source that comes before the answers, and the answer to each graded function."""
    return sources_of(nbformat.read(path, as_version=4))


def sources_of(notebook) -> tuple[str, dict[str, str]]:
    """The same for a notebook that was read already."""
    setup, answers = [], {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            name, answer = role(cell)
            if answer:
                answers[name] = cell.source
            elif name.startswith("setup"):
                setup.append(cell.source)
    return "\n".join(setup), answers
