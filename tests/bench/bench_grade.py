"""Seconds a submission: ``ste grade`` beside ``nbgrader autograde``, on the same notebooks.

Both grade the cases of tests/cases with equivalent tests in the same run. The peer runs without a
sandbox and one submission after the other, as it does; ours runs with full isolation and two jobs.
Wall and CPU seconds include every process that was started.
"""

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).parents[1] / "grading"))

from classroom import CASES, EXPECTED, ROOT, hand_in  # noqa: E402

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
TESTS = {  # the same facts as tests/hidden/test_04_ste.py, as nbgrader wants them
    "shape_and_dtype": "        assert ste_quantize(x).shape == x.shape\n"
    "        assert ste_quantize(x).dtype == x.dtype\n"
    "        assert jax.vjp(ste_quantize, x)[1](g)[0].dtype == x.dtype\n",
    "values": "        assert (ste_quantize(x) == jnp.sign(x)).all()\n",
    "large_inputs": "        assert (ste_quantize(big) == jnp.sign(big)).all()\n",
    "derivative": "        assert (jax.grad(lambda z: ste_quantize(z).sum())(x) == 1).all()\n",
    "cotangent": "        assert (jax.vjp(ste_quantize, x)[1](g)[0] == g).all()\n"
    "        assert (jax.vjp(ste_quantize, x)[1](2 * g)[0] == 2 * g).all()\n",
    "jacobian": "        assert (jax.jacrev(ste_quantize)(x) == jnp.eye(12)).all()\n",
    "inside_vjp": "        assert (jax.vjp(ste_quantize, big)[0] == jnp.sign(big)).all()\n",
    "jit": "        assert (jax.jit(ste_quantize)(big) == jnp.sign(big)).all()\n"
    "        assert (jax.jit(lambda z: jax.vjp(ste_quantize, z)[1](g)[0])(x) == g).all()\n",
    "vmap": "        rows = jnp.stack([x, big])\n"
    "        assert (jax.vmap(ste_quantize)(rows) == jnp.sign(rows)).all()\n",
}


# nbgrader calls the program alembic by its name.
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
ENVIRONMENT = {**os.environ, "JAX_PLATFORMS": "cpu", "PATH": PATH}


def cpu() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(item.ru_utime + item.ru_stime for item in usage)


def measure(action) -> tuple[float, float]:
    begin, used = time.perf_counter(), cpu()
    action()
    return time.perf_counter() - begin, cpu() - used


def with_tests(path: Path) -> nbformat.NotebookNode:
    """A notebook with equivalent tests as nbgrader's own autograder cells."""
    notebook = nbformat.read(path, as_version=4)
    for name, body in TESTS.items():
        cell = nbformat.v4.new_code_cell(HEAD + INPUTS + body, id=f"test-{name}")
        cell.metadata["nbgrader"] = {
            "schema_version": 3, "grade": True, "grade_id": f"test-{name}", "locked": True,
            "points": 1, "solution": False, "task": False,
        }  # fmt: skip
        notebook.cells.append(cell)
    return notebook


def nbgrader_course(folder: Path, names: list[str]) -> None:
    source = folder / "source" / "ste" / "04_ste.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(with_tests(ROOT / "solutions" / "04_ste.ipynb"), source)
    run = [sys.executable, "-m", "nbgrader", "generate_assignment", "ste"]
    subprocess.run(run, cwd=folder, check=True, capture_output=True, env=ENVIRONMENT)
    for name in names:
        path = folder / "submitted" / name / "ste" / "04_ste.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(with_tests(hand_in(folder / "tmp", name, answer_of(name))), path)


def answer_of(name: str) -> str:
    return (CASES / f"{name.split('.')[0]}.py").read_text()


def autograde(folder: Path) -> None:
    run = [sys.executable, "-m", "nbgrader", "autograde", "ste"]
    # Exit 1 only says that a notebook did not run; the scores are in the gradebook.
    subprocess.run(run, cwd=folder, capture_output=True, env=ENVIRONMENT)


def nbgrader_right(folder: Path, names: list[str]) -> int:
    """How many get full marks exactly if they should; the peer names no misconception."""
    scores = dict.fromkeys(names)
    with sqlite3.connect(folder / "gradebook.db") as database:
        rows = database.execute(
            "SELECT submitted_assignment.student_id, SUM(grade.auto_score) FROM grade "
            "JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id "
            "JOIN submitted_assignment ON submitted_notebook.assignment_id = "
            "submitted_assignment.id GROUP BY submitted_assignment.student_id"
        )
        scores.update(dict(rows.fetchall()))
    full = len(TESTS)
    return sum(
        (scores[name] == full) == EXPECTED[name.split(".")[0]]["full_marks"] for name in names
    )


def ste(folder: Path, out: Path, jobs: int) -> None:
    code = "from straight_through.grading.main import main\nif __name__ == '__main__':\n"
    code += f"    main([{str(folder)!r}, '--out', {str(out)!r}, '--jobs', '{jobs}'])\n"
    script = out.parent / "grade.py"
    script.write_text(code)
    subprocess.run([sys.executable, str(script)], check=True, capture_output=True)


def inside(out: Path) -> float:
    """CPU seconds inside the sandboxes: these are ended, not waited for, so rusage misses them."""
    with sqlite3.connect(out / "gradebook.sqlite") as database:
        results = [json.loads(row[0]) for row in database.execute("SELECT result FROM results")]
    return sum(result["cpu_seconds"] for result in results)


def ste_right(out: Path) -> int:
    rows = json.loads((out / "grades.json").read_text())["submissions"]
    right = 0
    for row in rows:
        case = EXPECTED[row["learner"].split(".")[0]]
        wanted = [case["misconception"]] if case["misconception"] else []
        full = row["score"] == row["max_score"]
        right += full == case["full_marks"] and row["misconceptions"][:1] == wanted
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=len(EXPECTED), help="submissions")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    every = sorted(EXPECTED)
    names = [f"{every[i % len(every)]}.{i // len(every)}" for i in range(arguments.count)]
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        for name in names:
            hand_in(folder / "class", name, answer_of(name))
        wall, used = measure(lambda: ste(folder / "class", folder / "out", arguments.jobs))
        ours = wall, used + inside(folder / "out")
        nbgrader_course(folder / "course", names)
        peer = measure(lambda: autograde(folder / "course"))
        count = len(names)
        print(f"{count} submissions      wall s each   CPU s each   right")
        for title, (wall, used), right in (
            (f"ste grade, {arguments.jobs} jobs", ours, ste_right(folder / "out")),
            ("nbgrader autograde", peer, nbgrader_right(folder / "course", names)),
        ):
            print(f"{title:20} {wall / count:11.2f} {used / count:12.2f}   {right}/{count}")
        print(f"throughput: {peer[0] / ours[0]:.2f} times that of nbgrader")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
