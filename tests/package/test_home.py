"""``check(f)``: it knows what it was given, and says what it found."""

import functools
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from straight_through import build, check, course, progress
from straight_through.home import check_notebook

CASES = course.ROOT / "tests" / "cases" / "ste_quantize"


def right(x):
    return (x - jax.lax.stop_gradient(x)) + jax.lax.stop_gradient(jnp.sign(x))


class Callable:
    def __call__(self, x):
        return right(x)


@pytest.mark.parametrize(
    "answer",
    [
        right,
        jax.jit(right),
        lambda x: right(x),
        Callable(),
        functools.partial(right),
        jax.vmap(right),
    ],
    ids=["function", "jitted", "lambda", "instance", "partial", "vmapped"],
)
def test_whatever_is_bound_to_the_name_is_checked(answer):
    ste_quantize = answer
    verdict = check(ste_quantize)
    assert verdict.function == "ste_quantize" and verdict.passed
    assert "11 of 11 visible checks passed" in str(verdict)


def test_a_name_can_be_given():
    assert check(right, "ste_quantize").passed


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: check(right), "which exercise 'right' belongs to"),
        (lambda: check(right, "ste_quantise"), "No exercise asks for 'ste_quantise'"),
        (lambda: check(3, "ste_quantize"), "the function itself"),
        (lambda: check(right(jnp.ones(3)), "ste_quantize"), "the function itself"),
    ],
    ids=["unknown function", "unknown name", "a number", "a result"],
)
def test_what_check_cannot_use_gets_a_sentence(call, part):
    verdict = call()
    assert part in str(verdict) and part.split("'")[0] in verdict._repr_html_()
    assert not verdict.passed


def test_a_stub_is_not_attempted():
    def ste_quantize(x):
        """Not written yet."""
        raise NotImplementedError

    verdict = check(ste_quantize)
    assert verdict.misconceptions == ["not_attempted"] and "Not attempted yet" in str(verdict)


def test_a_stub_line_left_below_an_answer_raises():
    def ste_quantize(x):
        zero = x - jax.lax.stop_gradient(x)
        raise NotImplementedError
        return zero

    assert check(ste_quantize).misconceptions == ["raises"]


def test_a_stub_without_readable_source_is_not_attempted():
    space: dict = {}
    exec("def ste_quantize(x):\n    raise NotImplementedError", space)
    assert check(space["ste_quantize"]).misconceptions == ["not_attempted"]


def test_the_first_failure_is_told_in_full():
    def ste_quantize(x):
        return jnp.sign(x)

    said = str(check(ste_quantize))
    for part in ("✗ Derivative", "called", "came back  0", "expected   1", "The gradient is zero"):
        assert part in said
    assert "stop_gradient" not in said  # values, never the formula


def test_the_exception_is_the_learners_own():
    def ste_quantize(x):
        return x.no_such_thing

    said = str(check(ste_quantize))
    assert "AttributeError" in said and "Traceback" not in said


def test_the_picture_has_a_text_and_the_page_has_no_script():
    def ste_quantize(x):
        return jnp.tanh(x)

    page = check(ste_quantize)._repr_html_()
    assert "<img" in page and "alt='ste_quantize: your values" in page
    assert "<script" not in page


def test_progress_is_kept_and_a_later_try_takes_nothing_away():
    def ste_quantize(x):
        return x

    check(right, "ste_quantize")
    check(ste_quantize)
    kept = progress.load().check("04_ste", "ste_quantize")
    assert kept["passed"] and kept["labels"] == ["identity_values"]


@pytest.mark.parametrize("stem", [exercise.stem for exercise in course.load().exercises])
def test_a_notebook_can_be_checked_from_the_terminal(stem, tmp_path):
    solution = course.ROOT / "solutions" / f"{stem}.ipynb"
    assert all(verdict.passed for verdict in check_notebook(solution))
    exercise = tmp_path / f"{stem}.ipynb"
    exercise.write_bytes(build.built(solution))
    stubs = check_notebook(exercise)
    assert [verdict.misconceptions for verdict in stubs] == [["not_attempted"]] * len(stubs)


def test_importing_the_package_does_not_import_jax():
    code = "import sys, straight_through; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
