"""Hidden checks of 03_rounding: `one_line_error(x)` and `largest_safe(dtype)`.

Nine points here and half a point for each worked example in the notebook.
"""

from straight_through.checks import graded
from straight_through.checks.elementwise import Elementwise
from straight_through.checks.limits import LargestSafe
from straight_through.checks.problems import ONE_LINE_ERROR


def error(submission):
    return Elementwise(submission, ONE_LINE_ERROR)


def limit(submission):
    return LargestSafe(submission)


@graded("Shape and dtype are kept", points=1, function="one_line_error")
def test_shape_and_dtype(submission):
    error(submission).shape()
    error(submission).dtype()


@graded("Exact below the limit", points=1, function="one_line_error")
def test_values(submission):
    error(submission).values("values", "tiny", "zero")


@graded("The error at the limit and beyond", points=2, function="one_line_error")
def test_limit(submission):
    error(submission).values("limit", "large_inputs", "largest")


@graded("It works under jit and vmap, and inside vjp", points=1, function="one_line_error")
def test_jit_and_vmap(submission):
    error(submission).jit()
    error(submission).vmap()
    error(submission).inside_vjp()


@graded("A Python int", points=1, function="largest_safe")
def test_is_int(submission):
    limit(submission).is_int()


@graded("The limit of every dtype", points=2, function="largest_safe")
def test_limits(submission):
    limit(submission).limits()


@graded("Any spelling of a dtype", points=1, function="largest_safe")
def test_spellings(submission):
    limit(submission).spellings()
