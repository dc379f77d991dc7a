"""Hidden checks of 01_sign: `sign_slope(x, h)`, the central difference of sign.

Nine points here and one for the worked example in the notebook.
"""

from straight_through.checks import graded
from straight_through.checks.elementwise import Elementwise
from straight_through.checks.problems import SIGN_SLOPE


def slope(submission):
    return Elementwise(submission, SIGN_SLOPE)


@graded("Shape and dtype are kept", points=1)
def test_shape_and_dtype(submission):
    slope(submission).shape()
    slope(submission).dtype()


@graded("Inside and outside the step", points=2)
def test_values(submission):
    slope(submission).values()


@graded("Where one of the two points lies on the jump", points=2)
def test_edge(submission):
    slope(submission).edge()


@graded("At x = 0", points=1)
def test_zero(submission):
    slope(submission).zero()


@graded("Large inputs", points=1)
def test_large_inputs(submission):
    slope(submission).large_inputs()


@graded("Reverse mode runs, and the slope is flat in x", points=1, about="derivative")
def test_derivative(submission):
    slope(submission).derivative()


@graded("It works under jit and vmap", points=1)
def test_jit_and_vmap(submission):
    slope(submission).jit()
    slope(submission).vmap()
