"""``ste release --nbgrader``: a course that nbgrader generates, collects and grades by itself.

Each check becomes an autograder cell with the points that it has here. Its hidden region holds the
source of the check, inside a function: a learner's own names are neither used nor overwritten.
nbgrader gives full marks to a cell unless it raises or writes to stderr, so the cell does nothing
else: it ends without a value, and stderr is caught.
"""

import ast
import secrets
import textwrap
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

from straight_through import build, course
from straight_through.checks.solutions import role
from straight_through.checks.visible import HIDDEN, hidden_tests
from straight_through.grading.release import empty, exercises, solution

CONFIG = """\
# nbgrader's settings for this course. Run nbgrader in this folder.
import os
import sys

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "straight-through"
c.ClearSolutions.code_stub = {{"python": "{stub}"}}
c.ExecutePreprocessor.timeout = 120

# The kernels use no GPU, write nothing to stderr about one, and keep out of your own progress file.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["STE_PROGRESS"] = os.path.abspath(".ste/progress.json")
# nbgrader calls programs of this environment by name.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
"""

CELL = """\
# {title}
### BEGIN HIDDEN TESTS
def _hidden_check():
    import contextlib
    import io
    import warnings

{body}

    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
{call}


_hidden_check()
### END HIDDEN TESTS"""

# The learner's functions are looked up when the check runs, under their names.
SUBMISSION = """\
from straight_through.local import LocalSubmission

submission = LocalSubmission(dict(globals()), {seed})"""


def write(
    out: Path, wanted: list[str] | None = None, seed: int | None = None
) -> list[course.Exercise]:
    """Write the course into ``out``: one assignment for each exercise, named after it."""
    chosen = exercises(wanted)
    empty(out)
    seed = secrets.randbelow(2**31) if seed is None else seed
    for exercise in chosen:
        path = out / "source" / exercise.stem / exercise.file_name
        path.parent.mkdir(parents=True)
        path.write_bytes(build.render(notebook(exercise, seed)))
    config = CONFIG.format(stub=build.STUB)
    (out / "nbgrader_config.py").write_text(config, encoding="utf-8")
    return chosen


def notebook(exercise: course.Exercise, seed: int) -> nbformat.NotebookNode:
    """The solution's notebook with one autograder cell for each check behind its own cells."""
    made = nbformat.read(solution(exercise), as_version=4)
    setup, examples = [], []
    for cell in made.cells:
        grade_id = role(cell)[0] if cell.cell_type == "code" else ""
        if grade_id.startswith("setup"):
            setup.append(cell.source)
        elif grade_id.startswith("example"):
            examples.append(cell)
    cells = [_example(cell, "\n".join(setup)) for cell in examples]
    cells += [_check(exercise, test, seed) for test in hidden_tests(exercise.stem)]
    made.cells += cells
    return made


def _cell(name: str, title: str, points: float, body: str, call: str) -> nbformat.NotebookNode:
    source = CELL.format(
        title=title, body=textwrap.indent(body, " " * 4), call=textwrap.indent(call, " " * 8)
    )
    cell = new_code_cell(source, id=f"test_{name}"[:64])
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade": True,
        "grade_id": f"test_{name}",
        "locked": True,
        "points": points,
        "solution": False,
        "task": False,
    }
    return cell


def _example(cell: nbformat.NotebookNode, setup: str) -> nbformat.NotebookNode:
    """The worked example: its last expression must show as it does in the solution."""
    mark = cell.metadata.get("ste", {})
    (wanted,) = [
        output["data"]["text/plain"]
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    tree = ast.parse(cell.source)
    last = ast.get_source_segment(cell.source, tree.body[-1])
    before = cell.source[: cell.source.rindex(last)].strip()
    lines = [*filter(None, [before]), f"result = {last}"]
    lines.append("from IPython.lib.pretty import pretty")
    lines.append(f"assert pretty(result) == {wanted!r}, 'The example gives another result.'")
    title = mark.get("title", "The worked example")
    return _cell(role(cell)[0], title, mark.get("points", 0), setup, "\n".join(lines))


def _check(exercise: course.Exercise, test, seed: int) -> nbformat.NotebookNode:
    """One hidden check: the imports and helpers of its file, and the check itself."""
    path = HIDDEN / f"test_{exercise.stem}.py"
    text = path.read_text(encoding="utf-8")
    parts = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Expr) or _is_import_of_graded(node):
            continue  # the docstring, and what only the decorators need
        is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if is_test and node.name != test.__name__:
            continue
        # The decorator is not part of a function's own lines, and not needed here.
        lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
        parts.append("\n".join(["", *lines] if isinstance(node, ast.FunctionDef) else lines))
    body = "\n".join([*parts, "", SUBMISSION.format(seed=seed)])
    name, graded = test.__name__.removeprefix("test_"), test.graded
    return _cell(name, graded.title, graded.points, body, f"{test.__name__}(submission)")


def _is_import_of_graded(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and [a.name for a in node.names] == ["graded"]
