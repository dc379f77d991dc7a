"""Hidden checks of 02_stop_gradient: `frozen_square(x)`, a square with one factor frozen.

Nine points here and one for the worked example in the notebook.
"""

from straight_through.checks import graded
from straight_through.checks.elementwise import Elementwise
from straight_through.checks.problems import FROZEN_SQUARE


def square(submission):
    return Elementwise(submission, FROZEN_SQUARE)


@graded("Shape and dtype are kept", points=1)
def test_shape_and_dtype(submission):
    square(submission).shape()
    square(submission).dtype()


@graded("The values are those of the square", points=2)
def test_values(submission):
    square(submission).values()


@graded("The derivative is x, not 2x", points=2, about="derivative")
def test_derivative(submission):
    square(submission).derivative()


@graded("The cotangent is passed on", points=1, about="derivative")
def test_cotangent(submission):
    square(submission).cotangent()


@graded("Elements are not mixed", points=1, about="derivative")
def test_jacobian(submission):
    square(submission).jacobian()


@graded("The value inside jax.vjp is the same", points=1)
def test_inside_vjp(submission):
    square(submission).inside_vjp()


@graded("It works under jit and vmap", points=1, about="derivative")
def test_jit_and_vmap(submission):
    square(submission).jit()
    square(submission).vmap()
