"""What every notebook of the course promises: readable anywhere, honest outputs, nothing hidden."""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from straight_through import build, course

ROOT = course.ROOT
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
each_lesson = pytest.mark.parametrize("lesson", course.load().lessons, ids=lambda e: e.stem)

LINK = re.compile(r"\]\((?!https?:|mailto:|attachment:|#)([^)\s#]+)[^)]*\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(|<img\b([^>]*)>")
PLACE = re.compile(r"(?<![\w.])/(?:home|root|Users|tmp|work|opt|usr)/\S+")


def read(path):
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


@functools.cache
def exercise_of(solution):
    """A learner's own work is nobody's business here: the exercise as it is built."""
    return nbformat.reads(build.built(solution), as_version=4)


def lesson_notebook(lesson):
    return read(ROOT / "notebooks" / f"{lesson.stem}.ipynb")


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def name(path):
    return f"{path.parent.name}/{path.name}"


@pytest.fixture(params=[*LESSONS, *SOLUTIONS], ids=name)
def notebook(request):
    return read(request.param)


@pytest.fixture(params=SOLUTIONS, ids=name)
def solution(request):
    return request.param


def test_the_contents_and_the_folders_agree():
    stems = {lesson.stem for lesson in course.load().lessons}
    assert {path.stem for path in LESSONS} == stems | {"playground"}
    exercises = {exercise.file_name for exercise in course.load().exercises}
    assert {path.name for path in SOLUTIONS} == exercises


def test_notebooks_are_stored_in_one_way(notebook):
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec == {
        "name": "python3",
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
    }
    nbformat.validate(notebook)


def test_no_widget_state_is_saved(notebook):
    assert "widgets" not in notebook.metadata


def test_cell_ids_are_unique_and_readable(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    for cell_id in ids:
        assert re.fullmatch(r"[a-z0-9_-]+", cell_id) and not re.fullmatch(r"[0-9a-f]{8,}", cell_id)


def test_nothing_is_hidden(notebook):
    for cell in notebook.cells:
        hidden = {"source_hidden", "outputs_hidden"} & set(cell.metadata.get("jupyter", {}))
        assert not hidden and not cell.metadata.get("collapsed"), cell.id
        assert not [tag for tag in tags(cell) if tag.startswith(("hide", "remove"))], cell.id


def test_nothing_is_installed_or_fetched(notebook):
    forbidden = re.compile(
        r"^\s*[!%]|\bget_ipython\b|\bpip install\b|\bconda install\b"
        r"|\burlopen\b|\burlretrieve\b|\brequests\b|\bfetch_\w+\(",
        re.MULTILINE,
    )
    for cell in code_cells(notebook):
        assert not forbidden.search(cell.source), cell.id


def test_notebooks_were_run_from_top_to_bottom(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))


def test_errors_are_intended(notebook):
    for cell in code_cells(notebook):
        raised = any(output.output_type == "error" for output in cell.outputs)
        assert raised == ("raises-exception" in tags(cell)), cell.id


def test_no_warning_is_shown(notebook):
    for cell in code_cells(notebook):
        streams = [output.name for output in cell.outputs if output.output_type == "stream"]
        assert "stderr" not in streams, cell.id


def test_pictures_have_a_text_and_are_not_compared(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data, metadata = output.get("data", {}), output.get("metadata", {})
            for kind in (kind for kind in data if kind.startswith("image/")):
                assert metadata.get(kind, {}).get("alt", "").strip(), f"{cell.id}: no alt text"
                assert "nbval-ignore-output" in tags(cell), cell.id
            for attributes in re.findall(r"<img\b([^>]*)>", data.get("text/html", "")):
                assert re.search(r"""\balt=["'][^"']""", attributes), f"{cell.id}: no alt text"
                assert "nbval-ignore-output" in tags(cell), cell.id


def test_pictures_in_the_text_have_a_text_too(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for alt, attributes in IMAGE.findall(cell.source):
                assert alt.strip() or re.search(r"""\balt=["'][^"']""", attributes), cell.id


def test_outputs_tell_nothing_about_the_machine_that_made_them(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            texts = [output.get("text", ""), *map(str, output.get("data", {}).values())]
            pictures = [text for text in texts if len(text) > 100_000]
            for text in set(texts) - set(pictures):
                assert not PLACE.search(re.sub(r"base64,[^\"']*", "", text)), cell.id


@pytest.mark.parametrize("path", [*LESSONS, *SOLUTIONS], ids=name)
def test_links_lead_somewhere(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for target in LINK.findall(cell.source):
                assert (path.parent / target).resolve().exists(), f"{cell.id}: {target}"


@each_lesson
def test_a_lesson_opens_with_title_minutes_and_goals(lesson):
    first = " ".join(lesson_notebook(lesson).cells[0].source.split())
    assert first.startswith(f"# {lesson.stem[:2]} {lesson.title} ")
    assert f"About {lesson.minutes} minutes" in first
    if lesson.exercise:
        assert f"and {lesson.exercise.minutes} for the exercise" in first
    for goal in lesson.goals:
        assert goal[1:].rstrip(".") in re.sub("[`*]", "", first), f"goal not named: {goal}"


@each_lesson
def test_a_lesson_ends_with_three_questions_and_leads_to_its_exercise(lesson):
    text = "\n".join(
        cell.source for cell in lesson_notebook(lesson).cells if cell.cell_type == "markdown"
    )
    questions = re.search(r"\*\*Three questions.*?\*\*\s+1\. .*?\n2\. .*?\n3\. ", text, re.DOTALL)
    assert questions, "no recall questions"
    if lesson.exercise:
        assert f"(../exercises/{lesson.exercise.file_name})" in text


@pytest.mark.parametrize("exercise", course.load().exercises, ids=lambda e: e.stem)
def test_an_exercise_says_its_minutes_and_points_and_has_hints(exercise):
    task = read(ROOT / "solutions" / exercise.file_name).cells[0].source
    assert f"About {exercise.minutes} minutes, {exercise.points} points." in " ".join(task.split())
    for function in exercise.functions:
        assert function.name + function.signature in task
        assert all(len(hint) > 20 for hint in function.hints) and function.hints, function.name


def test_the_committed_exercise_is_a_fresh_build(solution):
    """Either as committed, so that a learner's edits do not count, or as it stands before that."""
    path = ROOT / "exercises" / solution.name
    stored = [build.committed(path), path.read_bytes() if path.exists() else None]
    assert build.built(solution) in stored, "run: make exercises"


def test_an_exercise_has_the_cells_of_its_solution(solution):
    exercise = exercise_of(solution)
    for ours, theirs in zip(read(solution).cells, exercise.cells, strict=True):
        assert (ours.id, ours.cell_type, ours.metadata) == (
            theirs.id,
            theirs.cell_type,
            theirs.metadata,
        )


def test_a_stub_has_its_docstring_and_nothing_to_copy(solution):
    cells = {cell.id: cell for cell in exercise_of(solution).cells}
    for function in course.load().exercise(solution.stem).functions:
        cell = cells[function.name]
        assert re.fullmatch(
            rf"def {function.name}\([^\n]*\):\n    \"\"\".+\"\"\"\n    raise NotImplementedError",
            cell.source,
            re.DOTALL,
        )
        assert cell.metadata.nbgrader.grade_id == cell.id and cell.metadata.nbgrader.solution
        assert cells[f"check_{cell.id}"].source == f"check({cell.id})"
        assert cells[f"example_{cell.id}"].metadata.ste.points > 0


def test_an_exercise_has_no_output(solution):
    for cell in code_cells(exercise_of(solution)):
        assert cell.outputs == [] and cell.execution_count is None


def test_nbgrader_accepts_the_solutions(tmp_path):
    source = tmp_path / "source" / "straight_through"
    source.mkdir(parents=True)
    for path in SOLUTIONS:
        (source / path.name).write_bytes(path.read_bytes())
    # nbgrader starts a program called alembic, which stands beside the interpreter.
    folders = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "straight_through"],
        cwd=tmp_path,
        env=os.environ | {"PATH": folders},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    for path in SOLUTIONS:
        released = read(tmp_path / "release" / "straight_through" / path.name)
        text = "\n".join(cell.source for cell in released.cells)
        assert "raise NotImplementedError" in text and "SOLUTION" not in text
