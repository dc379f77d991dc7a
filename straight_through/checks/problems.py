"""What each graded function of one array must return: values, derivative, tolerance.

Expected values are computed with NumPy in double precision (or the dtype's own arithmetic where
the rounding is the subject), so that they share nothing with the code that is graded.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from straight_through.checks.draws import Draws, significand_bits
from straight_through.wire import DTYPES

Args = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Problem:
    """A graded function ``name(x, ...)`` that works element by element on x.

    ``example``: the arguments shown in the exercise. ``arguments(x, draws)``: all arguments for an
    x. ``inputs(dtype, draws)``: named arrays x to try. ``value`` and ``slope`` (the diagonal of the
    Jacobian for x; None: not graded) take all arguments. ``exact``: values are compared with
    ``==``, otherwise within 8 eps of the largest.
    """

    name: str
    example: Args
    inputs: Callable[[str, Draws], dict[str, np.ndarray]]
    value: Callable[..., np.ndarray]
    slope: Callable[..., np.ndarray] | None
    arguments: Callable[[np.ndarray, Draws], Args] = field(default=lambda x, draws: (x,))
    exact: bool = True


def _float64(array) -> np.ndarray:
    return np.asarray(array).astype(np.float64)


def _usual_inputs(dtype: str, draws: Draws) -> dict[str, np.ndarray]:
    return {
        "values": draws.moderate(dtype),
        "tiny": draws.tiny(dtype),
        "middle": draws.middle(dtype),
        "zero": draws.zeros(dtype),
        "large_inputs": draws.large(dtype),
        "largest": draws.largest(dtype),
    }


STE = Problem(
    name="ste_quantize",
    example=(np.array([-1.5, 0.0, 0.5, 2.0], np.float32),),
    inputs=_usual_inputs,
    value=lambda x: np.sign(_float64(x)),
    slope=lambda x: np.ones(x.shape),
)


# ---- 01_sign


def _step(x: np.ndarray, draws: Draws) -> np.ndarray:
    """A step h for x: a power of two between 2^-8 and 2, of x's dtype."""
    exponent = draws.generator("step", x.dtype.name, x.shape).integers(-8, 2)
    return np.asarray(np.ldexp(1.0, int(exponent))).astype(x.dtype)


def _slope_arguments(x: np.ndarray, draws: Draws) -> Args:
    return x, _step(x, draws)


def _slope_inputs(dtype: str, draws: Draws) -> dict[str, np.ndarray]:
    usual = _usual_inputs(dtype, draws)
    h = float(_step(usual["values"], draws))
    rng = draws.generator("around the step", dtype)
    inside = h * np.array([0.11, -0.37, 0.52, -0.83]) * rng.uniform(0.9, 1.1)
    outside = h * np.array([-1.3, 1.7, -2.9, 5.5])
    edges = np.array([h, -h, 0.0, h])
    values = np.concatenate([inside, outside, edges])
    return {
        "values": rng.permutation(np.concatenate([inside, outside, outside / 1.1])),
        "edge": rng.permutation(values),
        **{kind: x for kind, x in usual.items() if kind != "values"},
    }


def _cast(inputs: Callable) -> Callable:
    def cast(dtype: str, draws: Draws) -> dict[str, np.ndarray]:
        return {key: x.astype(DTYPES[dtype]) for key, x in inputs(dtype, draws).items()}

    return cast


def _slope_value(x: np.ndarray, h: np.ndarray) -> np.ndarray:
    size, step = np.abs(_float64(x)), float(h)
    return np.where(size < step, 1 / step, np.where(size == step, 0.5 / step, 0.0))


SIGN_SLOPE = Problem(
    name="sign_slope",
    example=(np.array([-1.0, -0.25, 0.0, 0.125, 0.25, 3.0], np.float32), np.float32(0.25)),
    inputs=_cast(_slope_inputs),
    arguments=_slope_arguments,
    value=_slope_value,
    slope=lambda x, h: np.zeros(x.shape),
)


# ---- 02_stop_gradient


def _square_inputs(dtype: str, draws: Draws) -> dict[str, np.ndarray]:
    # Squares must stay finite and normal: half the exponent range on either side.
    top = {"float16": 6, "bfloat16": 60, "float32": 60, "float64": 500}[dtype]
    return {
        "values": draws.moderate(dtype),
        "zero": draws.zeros(dtype),
        "large_inputs": draws.between("square", top - 4, top, dtype),
        "tiny": draws.between("small square", -5 if dtype == "float16" else -40, -4, dtype),
    }


FROZEN_SQUARE = Problem(
    name="frozen_square",
    example=(np.array([-1.5, 0.0, 0.5, 2.0], np.float32),),
    inputs=_square_inputs,
    value=lambda x: _float64(x) ** 2,
    slope=_float64,
    exact=False,
)


# ---- 03_rounding


def one_line_error(x: np.ndarray) -> np.ndarray:
    """abs((x + (sign(x) - x)) - sign(x)), every step rounded to the dtype of x."""
    sign = np.sign(_float64(x)).astype(x.dtype)
    return np.abs((x + (sign - x)) - sign)


def _error_inputs(dtype: str, draws: Draws) -> dict[str, np.ndarray]:
    p = significand_bits(dtype)
    rng = draws.generator("around the limit", dtype)
    # Whole numbers just below 2^p, where there is no error, and just above, where it is 1.
    limit = 2.0**p
    near = limit + rng.permutation(np.array([-7, -3, -2, -1, 0, 2, 4, 6, 8, 10, 14, 18.0]))
    signs = np.where(rng.permutation(12) % 2 == 0, 1.0, -1.0)
    return _usual_inputs(dtype, draws) | {"limit": (near * signs).astype(DTYPES[dtype])}


ONE_LINE_ERROR = Problem(
    name="one_line_error",
    example=(np.array([-1.5, 0.0, 3.3, 16777218.0, 3e7], np.float32),),
    inputs=_error_inputs,
    value=lambda x: _float64(one_line_error(x)),
    slope=None,
)

PROBLEMS = {p.name: p for p in (STE, SIGN_SLOPE, FROZEN_SQUARE, ONE_LINE_ERROR)}


@lru_cache(maxsize=64)
def cases(name: str, dtype: str, seed: int) -> dict[str, Args]:
    """All arguments of a problem in a dtype, by kind. The arrays are shared and read-only."""
    problem, draws = PROBLEMS[name], Draws(seed)
    found = {kind: problem.arguments(x, draws) for kind, x in problem.inputs(dtype, draws).items()}
    for args in found.values():
        for array in args:
            array.flags.writeable = False
    return found
