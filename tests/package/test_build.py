"""Exercises are built from solutions, and nobody's work is lost on the way."""

import subprocess

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from straight_through import build
from straight_through.course import UsageError

SOLVED = '''def half(x):
    """Half of x."""
    ### BEGIN SOLUTION
    # the secret
    return x / 2
    ### END SOLUTION'''


def nbgrader(name, solution):
    return {
        "schema_version": 3,
        "grade": False,
        "grade_id": name,
        "locked": not solution,
        "solution": solution,
        "task": False,
    }


def solution_notebook():
    output = new_output("stream", name="stdout", text="the secret\n")
    notebook = new_notebook(
        cells=[
            new_markdown_cell("Write `half`.", id="task"),
            new_code_cell(SOLVED, id="half", metadata={"nbgrader": nbgrader("half", True)}),
            new_code_cell(
                "half(3.0)",
                id="example_half",
                execution_count=2,
                outputs=[output],
                metadata={"nbgrader": nbgrader("example_half", False), "tags": ["a-tag"]},
            ),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}},
    )
    return notebook


@pytest.fixture
def course(tmp_path):
    (tmp_path / "solutions").mkdir()
    nbformat.write(solution_notebook(), tmp_path / "solutions" / "01_half.ipynb")
    assert build.main([], root=tmp_path) == 0
    return tmp_path


def edit(path, source="def half(x):\n    return x * 0.5"):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = source
    nbformat.write(notebook, path)


def test_the_stub_keeps_the_signature_and_the_docstring_and_nothing_else():
    exercise = build.build(solution_notebook())
    assert exercise.cells[1].source == (
        'def half(x):\n    """Half of x."""\n    raise NotImplementedError'
    )
    assert b"secret" not in build.render(exercise)


def test_outputs_go_and_ids_and_metadata_stay():
    solution, exercise = solution_notebook(), build.build(solution_notebook())
    assert [cell.id for cell in exercise.cells] == [cell.id for cell in solution.cells]
    assert [cell.metadata for cell in exercise.cells] == [cell.metadata for cell in solution.cells]
    assert exercise.cells[2].outputs == [] and exercise.cells[2].execution_count is None


def test_building_leaves_the_solution_alone():
    solution = solution_notebook()
    build.build(solution)
    assert solution == solution_notebook()


def test_the_same_solution_always_gives_the_same_bytes():
    first, second = (build.render(build.build(solution_notebook())) for _ in range(2))
    assert first == second
    assert first.endswith(b"}\n") and b"\r" not in first


def test_an_exercise_that_nobody_touched_is_simply_rewritten(course):
    exercise = course / "exercises" / "01_half.ipynb"
    edit(course / "solutions" / "01_half.ipynb", SOLVED.replace("Half of x.", "x over two."))
    assert build.stale(course) == ["01_half.ipynb"]
    assert build.main(["--check"], root=course) == 1
    build.main([], root=course)
    assert "x over two." in exercise.read_text()
    assert list(course.glob("exercises/*")) == [exercise]
    assert build.main(["--check"], root=course) == 0


def test_running_an_exercise_is_no_edit(course):
    exercise = course / "exercises" / "01_half.ipynb"
    notebook = nbformat.read(exercise, as_version=4)
    notebook.cells[2].outputs = [new_output("stream", name="stdout", text="1.5\n")]
    notebook.metadata["language_info"] = {"name": "python", "version": "3.11.7"}
    nbformat.write(notebook, exercise)
    assert not build.is_edited(exercise)


def test_an_edited_exercise_is_kept_every_time(course):
    exercise = course / "exercises" / "01_half.ipynb"
    for number in (1, 2):
        edit(exercise, f"my try {number}")
        build.main([], root=course)
        backup = course / "exercises" / f"01_half.backup-{number}.ipynb"
        assert f"my try {number}" in backup.read_text()
        assert "NotImplementedError" in exercise.read_text()
    assert build.stale(course) == []


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"<html>", b"\xff\xfe"])
def test_a_file_that_is_no_notebook_is_kept_too(course, content):
    exercise = course / "exercises" / "01_half.ipynb"
    exercise.write_bytes(content)
    path, backup = build.reset("01_half", root=course)
    assert path == exercise and backup.read_bytes() == content


def test_reset_of_an_untouched_exercise_keeps_no_copy(course):
    assert build.reset("01_half", root=course) == (course / "exercises" / "01_half.ipynb", None)


def test_reset_brings_back_a_deleted_exercise(course):
    exercise = course / "exercises" / "01_half.ipynb"
    original = exercise.read_bytes()
    exercise.unlink()
    build.reset("01_half", root=course)
    assert exercise.read_bytes() == original


def test_reset_without_solutions_takes_the_committed_exercise(course):
    exercise = course / "exercises" / "01_half.ipynb"
    original = exercise.read_bytes()
    git = ["git", "-C", str(course), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "exercises"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "the course"], check=True)
    (course / "solutions" / "01_half.ipynb").unlink()
    edit(exercise, "my try")
    path, backup = build.reset("01_half", root=course)
    assert path.read_bytes() == original and "my try" in backup.read_text()


def test_reset_without_any_original_says_what_to_do(course):
    (course / "solutions" / "01_half.ipynb").unlink()
    edit(course / "exercises" / "01_half.ipynb", "my try")
    with pytest.raises(UsageError, match="fresh download"):
        build.reset("01_half", root=course)
    assert "my try" in (course / "exercises" / "01_half.ipynb").read_text()
