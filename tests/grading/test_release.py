"""A class gets all it needs and nothing that gives answers away; nbgrader grades as we do."""

import json
import os
import re
import subprocess
import sys

import nbformat
import pytest
from classroom import CASES, EXPECTED, RIGHT

from straight_through import build, cli, course
from straight_through.checks.visible import hidden_tests
from straight_through.grading import nbgrader_course
from straight_through.submission import stub_names

ROOT = course.ROOT
ENVIRONMENT = {**os.environ, "JAX_PLATFORMS": "cpu"}
SECRET = (
    "solutions",
    "hidden",
    "misconceptions",
    "right_answers",
    "cases",
    "tests",
    "gradebook.sqlite",
    ".git",
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    out = tmp_path_factory.mktemp("release") / "class"
    assert cli.main(["release", "--out", str(out)]) == 0
    return out


def readable(path) -> str:
    """What somebody who opens a file can read: of a notebook, its sources and outputs."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    if path.suffix == ".ipynb":
        notebook = nbformat.reads(text, as_version=4)
        text += "\n".join(cell.source for cell in notebook.cells)
    return text


def squeezed(text: str) -> str:
    return "".join(text.split())


# ---- what is not in it


def solution_bodies() -> list[str]:
    """The code between the solution markers, as it stands and without comments."""
    found = []
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for body in re.findall(r"### BEGIN SOLUTION\n(.*?)### END", cell.source, re.DOTALL):
                lines = [line for line in body.splitlines() if not line.strip().startswith("#")]
                found += [body, "\n".join(lines)]
    return found


def test_the_bundle_holds_no_solution_hidden_check_or_wrong_answer(bundle):
    secrets = solution_bodies()
    for folder in ("misconceptions", "right_answers"):
        secrets += [path.read_text() for path in ROOT.glob(f"tests/{folder}/*/*.py")]
    secrets += [p.read_text() for p in CASES.glob("*.py") if EXPECTED[p.stem]["full_marks"]]
    for path in (ROOT / "tests" / "hidden").glob("test_*.py"):
        parts = re.split(r"^(?=@graded)", path.read_text(), flags=re.MULTILINE)
        assert len(parts) > 1
        secrets += parts[1:]
    assert len(secrets) > 40
    files = [path for path in bundle.rglob("*") if path.is_file()]
    texts = {path: squeezed(readable(path)) for path in files}
    for secret in secrets:
        for path, text in texts.items():
            assert squeezed(secret) not in text, (path, secret)


def test_no_folder_of_the_bundle_is_a_secret_one(bundle):
    names = {part for path in bundle.rglob("*") for part in path.relative_to(bundle).parts}
    assert not names & set(SECRET)
    assert not [name for name in names if name.endswith((".pyc", ".backup-1.ipynb"))]


def test_every_exercise_is_a_stub_without_outputs(bundle):
    for exercise in course.load().exercises:
        notebook = nbformat.read(bundle / "exercises" / exercise.file_name, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        stubs = set().union(*(stub_names(cell.source) for cell in code))
        assert stubs == {function.name for function in exercise.functions}
        assert all(cell.outputs == [] for cell in code)


# ---- what is in it


def run(bundle, code) -> str:
    environment = {**ENVIRONMENT, "PYTHONPATH": str(bundle)}
    environment["STE_PROGRESS"] = str(bundle.parent / "progress.json")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=bundle, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_check_works_in_the_bundle_and_says_how_many_checks_run_at_grading(bundle):
    said = run(
        bundle,
        "import jax, jax.numpy as jnp\nfrom straight_through import check, course\n"
        f"print(course.ROOT)\n{RIGHT}\nprint(check(ste_quantize))\n"
        "def sign_slope(x, h):\n    raise NotImplementedError\n"
        "def largest_safe(dtype):\n    return 3\nprint(check(largest_safe))\n"
        "from straight_through import cli\n"
        "assert cli.main(['check', '01_sign']) == 1\n"
        "assert cli.main(['release', '--out', 'x']) == 2\n",
    )
    assert str(bundle) in said.splitlines()[0]
    hidden = len(hidden_tests("04_ste"))
    assert f"11 of 11 visible checks passed; {hidden} more run at grading." in said
    hidden = len(hidden_tests("03_rounding", "largest_safe"))
    assert f"{hidden} more run at grading." in said and "All checks passed" in said
    assert "sign_slope: Not attempted yet." in said


def test_its_readme_lists_what_to_hand_in_and_leads_somewhere(bundle):
    text = (bundle / "README.md").read_text()
    for exercise in course.load().exercises:
        assert f"`exercises/{exercise.file_name}`: {exercise.title}, {exercise.points}" in text
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (bundle / target).exists(), target
    for lesson in course.load().lessons:
        assert (bundle / "notebooks" / f"{lesson.stem}.ipynb").exists()


def test_one_exercise_can_be_given_out_alone(tmp_path):
    assert cli.main(["release", "--out", str(tmp_path / "x"), "--exercise", "04_ste"]) == 0
    assert [p.name for p in (tmp_path / "x" / "exercises").iterdir()] == ["04_ste.ipynb"]
    counts = json.loads((tmp_path / "x" / "straight_through" / "hidden_checks.json").read_text())
    assert counts == {"04_ste": {"ste_quantize": len(hidden_tests("04_ste"))}}


def test_a_folder_with_something_in_it_is_refused(tmp_path, capsys):
    (tmp_path / "solutions").mkdir()
    assert cli.main(["release", "--out", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert cli.main(["release", "--out", str(tmp_path / "x"), "--exercise", "99_no"]) == 2


# ---- nbgrader


def answered(notebook, answer):
    """The notebook with an answer in the cell of ``ste_quantize``."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "ste_quantize":
            cell.source = answer
    return notebook


def points_in_process(notebook) -> float:
    """What the cells of an assignment give, run as nbgrader runs them: one that raises gives
    nothing."""
    namespace, score = {"__name__": "__main__"}, 0
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or mark.get("grade_id", "").startswith("check_"):
            continue
        try:
            exec(compile(cell.source, "<cell>", "exec"), namespace)
        except (Exception, SystemExit):
            continue
        score += mark.get("points", 0)
    return score


def points_of(answer) -> float:
    notebook = nbgrader_course.notebook(course.load().exercise("04_ste"), seed=11)
    return points_in_process(answered(notebook, answer))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_cells_for_nbgrader_agree_on_every_case(name):
    score = points_of((CASES / f"{name}.py").read_text())
    assert (score == 10) == EXPECTED[name]["full_marks"]


def test_names_of_the_learner_are_neither_used_nor_overwritten():
    helpers = "def ste(x):\n    return x\n\n\nElementwise = submission = graded = io = None\n"
    answer = helpers + RIGHT.replace("return zero", "return ste(zero)")
    assert "ste(zero)" in answer
    assert points_of(answer + "\njnp = None\nimport jax.numpy as jnp\n") == 10


@pytest.mark.parametrize("exercise", course.load().exercises, ids=lambda e: e.stem)
def test_each_assignment_gives_our_points_to_its_solution_and_none_to_its_stub(exercise):
    notebook = nbgrader_course.notebook(exercise, seed=1)
    cells = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert sum(cell.metadata.nbgrader.points for cell in cells) == exercise.points
    assert points_in_process(notebook) == exercise.points
    assert points_in_process(build.build(notebook)) == 0  # the stubs
    # nbgrader takes a last value that is no float for full marks; a statement has no value.
    assert all(cell.source.endswith("_hidden_check()\n### END HIDDEN TESTS") for cell in cells)


SOME = ["right_zero_first", "wrong_one_line", "wrong_name", "wrong_stub"]


def nbgrader(folder, *arguments):
    run = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(run, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


def test_nbgrader_generates_and_grades_the_assignment(tmp_path):
    folder = tmp_path / "course"
    command = ["release", "--nbgrader", "--out", str(folder), "--exercise", "04_ste"]
    assert cli.main([*command, "--seed", "5"]) == 0
    done = nbgrader(folder, "generate_assignment", "04_ste")
    assert done.returncode == 0, done.stderr
    released = folder / "release" / "04_ste" / "04_ste.ipynb"
    assert not re.search("Elementwise|HIDDEN|SOLUTION|stop_gradient\\(x\\)", released.read_text())
    for name in SOME:
        path = folder / "submitted" / name / "04_ste" / "04_ste.ipynb"
        path.parent.mkdir(parents=True)
        answer = (CASES / f"{name}.py").read_text()
        nbformat.write(answered(nbformat.read(released, as_version=4), answer), path)
    nbgrader(folder, "autograde", "04_ste")
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        for name in SOME:
            graded = book.find_submission("04_ste", name)
            assert graded.max_score == 10
            assert (graded.score == 10) == EXPECTED[name]["full_marks"], name
            assert graded.score == points_of((CASES / f"{name}.py").read_text()), name
