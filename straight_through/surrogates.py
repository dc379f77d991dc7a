"""Every surrogate gradient of the course, once.

A straight-through estimator has two halves that need not belong together: a *forward* function
(sign, round, ...) that gives the values, and a *backward* factor that stands in for its
derivative: the cotangent g comes out as g * backward(x). ``FORWARDS`` and ``SURROGATES`` list
the halves; ``estimator`` joins one of each into a JAX function. Plots, explorers and examples
all use it, so what they show is what runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Parameter:
    """A number that shapes a forward function or a surrogate, and where it may lie."""

    name: str
    title: str
    default: float
    low: float
    high: float
    step: float


@dataclass(frozen=True)
class Half:
    """One half of an estimator.

    ``function(x, **parameters)`` is elementwise and keeps the shape and dtype of x. For a forward
    function it is the value, for a surrogate the factor that the cotangent is multiplied with
    (None: use the derivative that JAX takes). ``formula`` is the published form, ``edge`` says
    what happens where two pieces meet, ``edges(**parameters)`` gives these x.
    """

    name: str
    title: str
    function: Callable | None
    formula: str
    edge: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    edges: Callable[..., tuple[float, ...]] = lambda **_: ()

    @property
    def defaults(self) -> dict[str, float]:
        return {p.name: p.default for p in self.parameters}


# Forward functions. All are built from operations whose derivative in JAX is zero.


def sign(x: jax.Array) -> jax.Array:
    return jnp.sign(x)


def two_valued_sign(x: jax.Array) -> jax.Array:
    return jnp.where(x >= 0, jnp.ones_like(x), -jnp.ones_like(x))


def ternary(x: jax.Array, threshold: float) -> jax.Array:
    return jnp.sign(x) * (jnp.abs(x) > threshold)


def heaviside(x: jax.Array) -> jax.Array:
    return jnp.where(x > 0, jnp.ones_like(x), jnp.zeros_like(x))


def fake_quantize(x: jax.Array, bits: float, scale: float) -> jax.Array:
    """Signed levels from -2^(bits-1) to 2^(bits-1) - 1, times ``scale``."""
    half = 2.0 ** (bits - 1)
    scale = jnp.asarray(scale, x.dtype)
    return jnp.clip(jnp.round(x / scale), -half, half - 1).astype(x.dtype) * scale


# Backward factors, written so that they stay finite for every finite x.


def identity(x: jax.Array) -> jax.Array:
    return jnp.ones_like(x)


def clipped(x: jax.Array, limit: float) -> jax.Array:
    return (jnp.abs(x) <= limit).astype(x.dtype)


def saturated(x: jax.Array, low: float, high: float) -> jax.Array:
    return ((x > low) & (x < high)).astype(x.dtype)


def approx_sign(x: jax.Array) -> jax.Array:
    return jnp.maximum(2 - 2 * jnp.abs(x), 0)


def swish_sign(x: jax.Array, beta: float) -> jax.Array:
    # At 80 the factor is below 1e-30 of its peak; beyond that inf/inf would be NaN.
    z = jnp.clip(beta * x, -80, 80)
    return beta * (2 - z * jnp.tanh(z / 2)) / (1 + jnp.cosh(z))


def tanh(x: jax.Array) -> jax.Array:
    return 1 - jnp.tanh(x) ** 2


def sloped(x: jax.Array, slope: float) -> jax.Array:
    return slope * (1 - jnp.tanh(slope * x) ** 2)


def fast_sigmoid(x: jax.Array, slope: float) -> jax.Array:
    return 1 / (1 + slope * jnp.abs(x)) ** 2


def arctan(x: jax.Array, alpha: float) -> jax.Array:
    return (alpha / 2) / (1 + (jnp.pi / 2 * alpha * x) ** 2)


def _table(*halves: Half) -> Mapping[str, Half]:
    return MappingProxyType({half.name: half for half in halves})


FORWARDS = _table(
    Half(
        "sign",
        "sign",
        sign,
        "-1, 0 or +1",
        "sign(0) = 0",
        "jax.numpy.sign",
        edges=lambda: (0.0,),
    ),
    Half(
        "two_valued",
        "two-valued sign",
        two_valued_sign,
        "+1 if x ≥ 0, else -1",
        "+1 at 0 and at -0",
        "BinaryConnect, arXiv:1511.00363",
        edges=lambda: (0.0,),
    ),
    Half(
        "ternary",
        "ternary",
        ternary,
        "sign(x) if |x| > Δ, else 0",
        "0 at |x| = Δ",
        "Ternary Weight Networks, arXiv:1605.04711",
        (Parameter("threshold", "threshold Δ", 0.5, 0.0, 2.0, 0.05),),
        lambda threshold: (-threshold, threshold),
    ),
    Half(
        "round",
        "round",
        jnp.round,
        "nearest integer",
        "halves go to the even integer",
        "jax.numpy.round",
    ),
    Half(
        "fake_quant",
        "k-bit fake quant",
        fake_quantize,
        "s · clip(round(x/s), -2^(k-1), 2^(k-1) - 1)",
        "halves go to the even level",
        "Integer-only inference, arXiv:1712.05877",
        (
            Parameter("bits", "bits k", 3, 2, 8, 1),
            Parameter("scale", "scale s", 0.5, 0.05, 1.0, 0.05),
        ),
    ),
    Half(
        "heaviside",
        "heaviside",
        heaviside,
        "1 if x > 0, else 0",
        "0 at 0",
        "Bengio et al. 2013, arXiv:1308.3432",
        edges=lambda: (0.0,),
    ),
)

SURROGATES = _table(
    Half(
        "true",
        "true derivative",
        None,
        "0 everywhere",
        "0 also at the jumps, JAX's convention",
        "jax.numpy.sign",
    ),
    Half(
        "identity",
        "identity",
        identity,
        "1 everywhere",
        "none, 1 also at 0 and for huge x",
        "Bengio et al. 2013, arXiv:1308.3432",
    ),
    Half(
        "clipped",
        "clipped",
        clipped,
        "1 if |x| ≤ c, else 0",
        "1 at |x| = c",
        "Binarized Neural Networks, arXiv:1602.02830",
        (Parameter("limit", "limit c", 1.0, 0.1, 3.0, 0.1),),
        lambda limit: (-limit, limit),
    ),
    Half(
        "saturated",
        "saturated",
        saturated,
        "1 if low < x < high, else 0",
        "0 at both limits",
        "this course; papers also say saturated for clipped",
        (
            Parameter("low", "low", -1.0, -3.0, -0.1, 0.1),
            Parameter("high", "high", 1.0, 0.1, 3.0, 0.1),
        ),
        lambda low, high: (low, high),
    ),
    Half(
        "approx_sign",
        "ApproxSign",
        approx_sign,
        "max(2 - 2|x|, 0)",
        "2 at 0, 0 at |x| = 1",
        "Bi-Real Net, arXiv:1808.00278",
        edges=lambda: (-1.0, 0.0, 1.0),
    ),
    Half(
        "swish_sign",
        "SwishSign",
        swish_sign,
        "β (2 - βx tanh(βx/2)) / (1 + cosh(βx))",
        "smooth; β at 0, negative for |βx| > 2.4",
        "BNN+, arXiv:1812.11800",
        (Parameter("beta", "beta β", 5.0, 0.5, 10.0, 0.1),),
    ),
    Half(
        "tanh",
        "tanh",
        tanh,
        "1 - tanh²(x)",
        "smooth; 1 at 0",
        "Differentiable Soft Quantization, arXiv:1908.05033",
    ),
    Half(
        "fast_sigmoid",
        "fast sigmoid",
        fast_sigmoid,
        "1 / (1 + k|x|)²",
        "a cusp at 0, value 1",
        "SuperSpike, arXiv:1705.11146",
        (Parameter("slope", "slope k", 5.0, 0.5, 50.0, 0.5),),
        lambda slope: (0.0,),
    ),
    Half(
        "arctan",
        "arctan",
        arctan,
        "(α/2) / (1 + (π α x/2)²)",
        "smooth; α/2 at 0",
        "Fang et al. 2021, arXiv:2007.05785",
        (Parameter("alpha", "alpha α", 2.0, 0.2, 10.0, 0.2),),
    ),
    Half(
        "sloped",
        "sloped tanh",
        sloped,
        "k (1 - tanh²(k x))",
        "smooth; k at 0",
        "lesson 08",
        (Parameter("slope", "slope k", 2.0, 0.1, 10.0, 0.1),),
    ),
)


def lookup(table: Mapping[str, Half], name: str, values: Mapping[str, float] | None = None):
    """The half called ``name`` and its parameters, ``values`` over the defaults.

    Raises ValueError with the names there are if ``name`` or a parameter is unknown.
    """
    if name not in table:
        raise ValueError(f"There is no {name!r}. Choose one of: {', '.join(table)}.")
    half = table[name]
    unknown = set(values or {}) - set(half.defaults)
    if unknown:
        known = ", ".join(half.defaults) or "none"
        raise ValueError(f"{name!r} has no parameter {min(unknown)!r}. It has: {known}.")
    return half, half.defaults | dict(values or {})


def estimator(
    forward: str = "sign",
    surrogate: str = "identity",
    forward_parameters: Mapping[str, float] | None = None,
    surrogate_parameters: Mapping[str, float] | None = None,
) -> Callable[[jax.Array], jax.Array]:
    """The function with the values of ``forward`` and the derivative ``surrogate``.

    x is a real floating array of any shape; the result has its shape and dtype. Works in forward
    and reverse mode, under ``jit`` and ``vmap``. Parameters are numbers or 0-d arrays of x's
    dtype and are not differentiated. Raises ValueError for an unknown name.

    >>> estimator("sign", "clipped")(jnp.array([-2.0, 0.5])).tolist()
    [-1.0, 1.0]
    """
    front, front_values = lookup(FORWARDS, forward, forward_parameters)
    back, back_values = lookup(SURROGATES, surrogate, surrogate_parameters)

    def value(x: jax.Array) -> jax.Array:
        return front.function(x, **front_values)

    if back.function is None:
        return value

    straight = jax.custom_jvp(value)

    @straight.defjvp
    def rule(primals, tangents):
        (x,), (tangent,) = primals, tangents
        return straight(x), back.function(x, **back_values).astype(x.dtype) * tangent

    return straight
