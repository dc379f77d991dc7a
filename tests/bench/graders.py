"""The graders that are compared: each prepares its own folder, runs, and says what it got right."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).parents[1] / "grading"))

from classroom import CASES, EXPECTED, ROOT, hand_in  # noqa: E402

# nbgrader calls the program alembic by its name.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
ENVIRONMENT = {**os.environ, "JAX_PLATFORMS": "cpu", "PATH": PATH}

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n"
INPUTS = """\
rng = np.random.default_rng(7)
for name in ("float32", "float16", "bfloat16", "float64"):
    with jax.enable_x64(name == "float64"):
        top = float(jnp.finfo(name).max)
        x = jnp.asarray(np.append(rng.normal(size=11) * 4, 0.0), name)
        big = jnp.asarray(rng.uniform(2.0 ** (jnp.finfo(name).nmant + 2), top / 8, 12), name)
        g = jnp.asarray(rng.normal(size=12) * 8, name)
"""
TESTS = {  # the same facts as tests/hidden/test_04_ste.py, in the peers' way: assertions
    "shape_and_dtype": "assert ste_quantize(x).shape == x.shape\n"
    "assert ste_quantize(x).dtype == x.dtype\n"
    "assert jax.vjp(ste_quantize, x)[1](g)[0].dtype == x.dtype\n",
    "values": "assert (ste_quantize(x) == jnp.sign(x)).all()\n",
    "large_inputs": "assert (ste_quantize(big) == jnp.sign(big)).all()\n",
    "derivative": "assert (jax.grad(lambda z: ste_quantize(z).sum())(x) == 1).all()\n",
    "cotangent": "assert (jax.vjp(ste_quantize, x)[1](g)[0] == g).all()\n"
    "assert (jax.vjp(ste_quantize, x)[1](2 * g)[0] == 2 * g).all()\n",
    "jacobian": "assert (jax.jacrev(ste_quantize)(x) == jnp.eye(12)).all()\n",
    "inside_vjp": "assert (jax.vjp(ste_quantize, big)[0] == jnp.sign(big)).all()\n",
    "jit": "assert (jax.jit(ste_quantize)(big) == jnp.sign(big)).all()\n"
    "assert (jax.jit(lambda z: jax.vjp(ste_quantize, z)[1](g)[0])(x) == g).all()\n",
    "vmap": "rows = jnp.stack([x, big])\n"
    "assert (jax.vmap(ste_quantize)(rows) == jnp.sign(rows)).all()\n",
}


def case_of(name: str) -> dict:
    return EXPECTED[name.split(".")[0]]


def answer_of(name: str) -> str:
    return (CASES / f"{name.split('.')[0]}.py").read_text()


def body(name: str, indent: str = "        ") -> str:
    lines = (indent + line + "\n" for line in TESTS[name].splitlines())
    return INPUTS + "".join(lines)


class Ours:
    """``ste grade`` with full isolation, nbval and the hidden checks."""

    def __init__(self, folder: Path, names: list[str], jobs: int):
        folder.mkdir(exist_ok=True)
        self.folder, self.out, self.names = folder / "class", folder / "out", names
        for name in names:
            hand_in(self.folder, name, answer_of(name))
        self.title = f"ste grade, {jobs} jobs"
        code = "from straight_through.grading.main import main\nif __name__ == '__main__':\n"
        code += (
            f"    main([{str(self.folder)!r}, '--out', {str(self.out)!r}, '--jobs', '{jobs}'])\n"
        )
        self.script = folder / "grade.py"
        self.script.write_text(code)

    def run(self) -> None:
        run = [sys.executable, str(self.script)]
        subprocess.run(run, check=True, capture_output=True, env=ENVIRONMENT)

    def unseen_cpu(self) -> float:
        """CPU seconds inside the sandboxes: these are ended, not waited for; rusage misses them."""
        with sqlite3.connect(self.out / "gradebook.sqlite") as database:
            results = [json.loads(row[0]) for row in database.execute("SELECT result FROM results")]
        return sum(result["cpu_seconds"] for result in results)

    def right(self) -> int:
        """Full marks exactly where they are due, and the misconception by its name."""
        rows = json.loads((self.out / "grades.json").read_text())["submissions"]
        count = 0
        for row in rows:
            case = case_of(row["learner"])
            wanted = [case["misconception"]] if case["misconception"] else []
            full = row["score"] == row["max_score"]
            count += full == case["full_marks"] and row["misconceptions"][:1] == wanted
        return count


class Nbgrader:
    """``nbgrader autograde``: no sandbox, one after the other; it names no misconception."""

    title = "nbgrader autograde"

    def __init__(self, folder: Path, names: list[str]):
        self.folder, self.names = folder / "nbgrader", names
        source = self.folder / "source" / "ste" / "04_ste.ipynb"
        source.parent.mkdir(parents=True)
        nbformat.write(self._with_tests(ROOT / "solutions" / "04_ste.ipynb"), source)
        run = [sys.executable, "-m", "nbgrader", "generate_assignment", "ste"]
        subprocess.run(run, cwd=self.folder, check=True, capture_output=True, env=ENVIRONMENT)
        for name in names:
            path = self.folder / "submitted" / name / "ste" / "04_ste.ipynb"
            path.parent.mkdir(parents=True)
            made = hand_in(self.folder / "plain", name, answer_of(name))
            nbformat.write(self._with_tests(made), path)
        shutil.rmtree(self.folder / "plain")

    def _with_tests(self, path: Path):
        notebook = nbformat.read(path, as_version=4)
        for name in TESTS:
            cell = nbformat.v4.new_code_cell(HEAD + body(name), id=f"test-{name}")
            cell.metadata["nbgrader"] = {
                "schema_version": 3, "grade": True, "grade_id": f"test-{name}", "locked": True,
                "points": 1, "solution": False, "task": False,
            }  # fmt: skip
            notebook.cells.append(cell)
        return notebook

    def run(self) -> None:
        # Exit 1 only says that a notebook did not run; the scores are in the gradebook.
        run = [sys.executable, "-m", "nbgrader", "autograde", "ste"]
        subprocess.run(run, cwd=self.folder, capture_output=True, env=ENVIRONMENT)

    def unseen_cpu(self) -> float:
        return 0.0

    def right(self) -> int:
        with sqlite3.connect(self.folder / "gradebook.db") as database:
            rows = database.execute(
                "SELECT submitted_assignment.student_id, SUM(grade.auto_score) FROM grade "
                "JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id "
                "JOIN submitted_assignment ON submitted_notebook.assignment_id = "
                "submitted_assignment.id GROUP BY submitted_assignment.student_id"
            )
            scores = dict(rows.fetchall())
        full = len(TESTS)
        return sum((scores.get(n) == full) == case_of(n)["full_marks"] for n in self.names)


class Otter:
    """``otter run``, once a submission, from an environment of its own."""

    title = "otter run"

    def __init__(self, folder: Path, names: list[str], python: str):
        self.folder, self.names = folder / "otter", names
        self.otter = str(Path(python).parent / "otter")
        tests = self.folder / "tests"
        tests.mkdir(parents=True)
        lines = ["OK_FORMAT = False", "from otter.test_files import test_case", HEAD]
        lines += ['name = "ste"', f"points = {len(TESTS)}"]
        for name in TESTS:
            lines += ["@test_case(points=1)", f"def test_{name}(ste_quantize):"]
            lines += ["    " + line for line in body(name).splitlines()]
        (tests / "ste.py").write_text("\n".join(lines) + "\n")
        self.environment = {**ENVIRONMENT, "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}
        command = [self.otter, "generate", "-t", str(tests), "-o", "grader.zip", "--no-environment"]
        subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, env=self.environment
        )
        for name in names:
            hand_in(self.folder, name, answer_of(name))

    def run(self) -> None:
        for name in self.names:
            command = [self.otter, "run", "-a", "grader.zip", "-o", name, f"{name}/04_ste.ipynb"]
            subprocess.run(command, cwd=self.folder, capture_output=True, env=self.environment)

    def unseen_cpu(self) -> float:
        return 0.0

    def right(self) -> int:
        count = 0
        for name in self.names:
            path = self.folder / name / "results.json"
            tests = json.loads(path.read_text())["tests"] if path.exists() else []
            score = sum(test.get("score") or 0 for test in tests)
            count += (score == len(TESTS)) == case_of(name)["full_marks"]
        return count
