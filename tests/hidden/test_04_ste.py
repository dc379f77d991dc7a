"""Hidden checks of 04_ste: `ste_quantize(x)`, the straight-through estimator of sign.

Nine points here and one for the worked example in the notebook.
"""

from straight_through.checks import graded
from straight_through.checks.elementwise import Elementwise
from straight_through.checks.problems import STE


def ste(submission):
    return Elementwise(submission, STE)


@graded("Shape and dtype are kept", points=1)
def test_shape_and_dtype(submission):
    ste(submission).shape()
    ste(submission).dtype()


@graded("The values are those of sign, in every dtype", points=1)
def test_values(submission):
    ste(submission).values()


@graded("Zero stays zero", points=1)
def test_zero(submission):
    ste(submission).zero()


@graded("Large inputs keep their sign", points=1)
def test_large_inputs(submission):
    ste(submission).large_inputs()


@graded("The derivative is one everywhere", points=1, about="derivative")
def test_derivative(submission):
    ste(submission).derivative()


@graded("The cotangent passes through unchanged", points=1, about="derivative")
def test_cotangent(submission):
    ste(submission).cotangent()


@graded("The Jacobian is the identity matrix", points=1, about="derivative")
def test_jacobian(submission):
    ste(submission).jacobian()


@graded("The value inside jax.vjp is the same", points=1)
def test_inside_vjp(submission):
    ste(submission).inside_vjp()


@graded("It works under jit and vmap", points=1, about="derivative")
def test_jit_and_vmap(submission):
    ste(submission).jit()
    ste(submission).vmap()
