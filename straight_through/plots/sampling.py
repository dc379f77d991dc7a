"""Numbers behind the curves: what a function returns and what its derivative is, point by point.

Derivatives come from JAX, never from a formula. A learner's function is only ever called on
one-dimensional arrays, because that is all an exercise promises it.
"""

import contextlib
import functools
import io
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from straight_through.surrogates import estimator


class _Hush(io.TextIOBase):
    """Drops what this thread prints and lets other threads print: a cell may be running."""

    def __init__(self, stream):
        self.stream, self.owner = stream, threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self.owner else self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()


@contextlib.contextmanager
def hushed():
    """Without the prints of a function that is called hundreds of times."""
    with contextlib.redirect_stdout(_Hush(sys.stdout)):
        yield


class Own:
    """A learner's function under its name.

    Every explorer makes a new one: results are kept for each, and a function that was changed, or
    that reads a changed variable, must not show what it did before.
    """

    def __init__(self, function: Callable):
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, x):
        return self.function(x)


@dataclass(frozen=True)
class Sampled:
    """Values and derivatives at x, all float64 of shape (n,); NaN where there is none.

    ``note`` is a sentence if something about the function is worth saying, else empty.
    """

    x: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    note: str = ""


def grid(reach: float, edges: tuple[float, ...] = (), count: int = 401) -> np.ndarray:
    """``count`` points from -reach to reach, and each edge with its two float32 neighbours."""
    edges = np.array(edges, np.float32)
    near = [np.nextafter(edges, np.float32(side)) for side in (-np.inf, np.inf)]
    even = np.linspace(-reach, reach, count, dtype=np.float32)
    points = np.concatenate([even, edges, *near])
    return np.sort(points[np.abs(points) <= reach])


def diagonal(f: Callable, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Values and Jacobian diagonal of an elementwise f: pulling back ones gives the diagonal."""
    value, pull = jax.vjp(f, x)
    return value, pull(jnp.ones_like(value))[0]


@functools.cache
def _program(forward: str, surrogate: str):
    @jax.jit
    def run(x, forward_parameters, surrogate_parameters):
        f = estimator(forward, surrogate, forward_parameters, surrogate_parameters)
        value, slope = diagonal(f, x)
        true = diagonal(estimator(forward, "true", forward_parameters), x)[1]
        return value, slope, true

    return run


def registered(
    forward: str,
    surrogate: str,
    x: np.ndarray,
    forward_parameters: dict,
    surrogate_parameters: dict,
) -> tuple[Sampled, np.ndarray]:
    """The estimator at x, float32 of shape (n,), and the true derivative of its forward."""
    value, slope, true = _program(forward, surrogate)(x, forward_parameters, surrogate_parameters)
    as_float = functools.partial(np.asarray, dtype=np.float64)
    return Sampled(as_float(x), as_float(value), as_float(slope)), as_float(true)


def soft(x: np.ndarray, slope: np.ndarray, at_zero: float) -> np.ndarray:
    """The function whose derivative is ``slope``: its integral, ``at_zero`` at x = 0.

    An estimator trains as if this were the forward function. Trapezoids, so exact for the
    piecewise linear surrogates.
    """
    steps = np.diff(x) * (slope[1:] + slope[:-1]) / 2
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return total - np.interp(0.0, x, total) + at_zero


def _why(error: Exception) -> str:
    if isinstance(error, jax.errors.JAXTypeError):
        return "it leaves JAX on the way (NumPy, float() or int())"
    first = (str(error).strip().splitlines() or [""])[0][:100]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _one_by_one(f: Callable, x: np.ndarray) -> np.ndarray:
    return np.array([float(np.ravel(f(jnp.asarray(x[i : i + 1])))[0]) for i in range(x.size)])


def _slopes_one_by_one(f: Callable, x: np.ndarray) -> np.ndarray:
    slopes = np.empty(x.size)
    for i in range(x.size):
        value, pull = jax.vjp(f, jnp.asarray(x[i : i + 1]))
        slopes[i] = float(pull(jnp.ones_like(value))[0][0])
    return slopes


def _slopes(f: Callable, x: np.ndarray) -> tuple[np.ndarray, str]:
    try:
        jacobian = np.asarray(jax.jacrev(f)(jnp.asarray(x)), np.float64)
    except Exception:
        try:
            return _slopes_one_by_one(f, x), ""
        except Exception as error:
            return np.full(x.size, np.nan), f"JAX cannot differentiate it: {_why(error)}."
    slopes = np.diagonal(jacobian)
    others = np.argwhere((jacobian != 0) & ~np.eye(x.size, dtype=bool))
    if others.size:
        row, column = others[0]
        return slopes, (
            f"Its Jacobian is not diagonal: output {row} also depends on input {column}. "
            "The curve shows the diagonal."
        )
    return slopes, ""


def sample(f: Callable, x: np.ndarray) -> Sampled:
    """A learner's function at x, float32 of shape (n,): never raises, says what went wrong.

    The derivative is the diagonal of the whole Jacobian. Functions that cannot take the whole
    array (a Python ``if``, say) are called on one-element arrays instead.
    """
    x = np.asarray(x, np.float32)
    wide = x.astype(np.float64)
    nothing = np.full(x.size, np.nan)
    with hushed():
        try:
            result = f(jnp.asarray(x))
            if result is None:
                return Sampled(wide, nothing, nothing, "It returns None: is there a return?")
            value = np.asarray(result).astype(np.float64)
        except Exception as error:
            try:
                value = _one_by_one(f, x)
            except Exception:
                return Sampled(wide, nothing, nothing, f"It raises {_why(error)}.")
        if value.shape != x.shape:
            note = f"It returns shape {value.shape} for x of shape {x.shape}; both must agree."
            return Sampled(wide, nothing, nothing, note)
        slope, note = _slopes(f, x)
    return Sampled(wide, value, slope, note)


def probe(f: Callable, x: np.ndarray, at: float) -> Sampled:
    """A learner's function at one point, (1,) arrays, as the last element after the others.

    Among the others, because a function that mixes its elements answers differently alone.
    """
    points = jnp.asarray(np.append(x, at).astype(np.float32))
    with hushed():
        try:
            value, pull = jax.vjp(f, points)
            slope = pull(jnp.zeros_like(value).at[-1].set(1))[0][-1:]
            if value.shape == points.shape:
                wide = (np.asarray(a, np.float64) for a in (points[-1:], value[-1:], slope))
                return Sampled(*wide)
        except Exception:
            pass  # the whole curve has said why
    return sample(f, np.array([at]))
