"""Each surrogate is what its paper says, in the implementation and in the picture of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from straight_through.plots.estimator import SurrogatePicture, SurrogateState, surrogate_curves
from straight_through.surrogates import FORWARDS, SURROGATES, estimator, lookup

# The published formulas, written a second time, in NumPy and float64, for nothing but this test.
PUBLISHED = {
    "true": lambda x: 0 * x,
    "identity": lambda x: 1 + 0 * x,
    "clipped": lambda x, limit: np.where(np.abs(x) <= limit, 1.0, 0.0),
    "saturated": lambda x, low, high: np.where((x > low) & (x < high), 1.0, 0.0),
    "approx_sign": lambda x: np.where(x < 0, 2 + 2 * x, 2 - 2 * x) * (np.abs(x) < 1),
    "swish_sign": lambda x, beta: (
        beta * (2 - beta * x * np.tanh(beta * x / 2)) / (1 + np.cosh(beta * x))
    ),
    "tanh": lambda x: 1 / np.cosh(x) ** 2,
    "fast_sigmoid": lambda x, slope: 1 / (1 + slope * np.abs(x)) ** 2,
    "arctan": lambda x, alpha: alpha / 2 / (1 + (np.pi * alpha * x / 2) ** 2),
    "sloped": lambda x, slope: slope / np.cosh(slope * x) ** 2,
}
# Values at -2, -1, -.5, 0, .25, .5, 1, 1.25, 2 that were worked out by hand and by other libraries.
POINTS = np.array([-2, -1, -0.5, 0, 0.25, 0.5, 1, 1.25, 2], np.float32)
TABLE = {
    "clipped": [0, 1, 1, 1, 1, 1, 1, 0, 0],
    "saturated": [0, 0, 1, 1, 1, 1, 0, 0, 0],
    "approx_sign": [0, 0, 1, 2, 1.5, 1, 0, 0, 0],
    "swish_sign": [-0.003631, -0.1950, -0.08462, 5, 2.262, -0.08462, -0.1950, -0.08127, -0.003631],
    "tanh": [0.07065, 0.4200, 0.7864, 1, 0.9400, 0.7864, 0.4200, 0.2804, 0.07065],
    "arctan": [0.02470, 0.09200, 0.2884, 1, 0.6185, 0.2884, 0.09200, 0.06090, 0.02470],
    "sloped": [0.002682, 0.1413, 0.8399, 2, 1.573, 0.8399, 0.1413, 0.05318, 0.002682],
}
ALL = pytest.mark.parametrize("name", SURROGATES)


def diagonal(f, x):
    jacobian = np.asarray(jax.jacrev(f)(jnp.asarray(x)), np.float64)
    assert not np.any(jacobian[~np.eye(len(x), dtype=bool)])
    return np.diagonal(jacobian)


def with_edges(half, x):
    edges = np.array(half.edges(**half.defaults), np.float32)
    below, above = np.nextafter(edges, np.float32(-9)), np.nextafter(edges, np.float32(9))
    return np.concatenate([x, edges, below, above])


@ALL
def test_the_derivative_is_the_published_formula_at_a_thousand_points_and_the_edges(name):
    half = SURROGATES[name]
    x = with_edges(half, np.linspace(-4, 4, 1000, dtype=np.float32))
    expected = PUBLISHED[name](x.astype(np.float64), **half.defaults)
    # Relative to the largest value: 1 - tanh(x)^2 has no relative accuracy in its tails.
    np.testing.assert_allclose(
        diagonal(estimator("sign", name), x), expected, rtol=0, atol=1e-6 * expected.max(initial=1)
    )


@ALL
@pytest.mark.parametrize("forward", FORWARDS)
def test_the_plotted_derivative_is_the_diagonal_of_the_jacobian(forward, name):
    picture = SurrogatePicture()
    picture.show(surrogate_curves(SurrogateState(name, forward, reach=2.5)))
    x, plotted = picture.main.get_data()
    np.testing.assert_allclose(
        plotted, diagonal(estimator(forward, name), x.astype(np.float32)), rtol=1e-6, atol=1e-7
    )
    for edge in SURROGATES[name].edges(**SURROGATES[name].defaults):
        assert edge in x


@pytest.mark.parametrize("name", TABLE)
def test_known_values(name):
    np.testing.assert_allclose(diagonal(estimator("sign", name), POINTS), TABLE[name], rtol=3e-4)


@ALL
@pytest.mark.parametrize("forward", FORWARDS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_values_are_the_forward_function_and_stay_finite_in_every_dtype(forward, name, dtype):
    largest = float(jnp.finfo(dtype).max)
    x = jnp.array([-largest, -1e4, -1.0, -0.3, 0.0, 0.5, 1.0, 1e4, largest], dtype)
    value, pull = jax.vjp(jax.jit(estimator(forward, name)), x)
    slope = pull(jnp.ones_like(value))[0]
    half, values = lookup(FORWARDS, forward)
    assert value.dtype == slope.dtype == x.dtype
    assert jnp.array_equal(value, half.function(x, **values))
    assert jnp.isfinite(value).all() and jnp.isfinite(slope).all()


@ALL
def test_forward_mode_vmap_and_weights_agree_with_reverse_mode(name):
    f, x = estimator("two_valued", name), jnp.asarray(POINTS)
    weights = jnp.array([-3, 0.25, 1e3, 0, 2, -1, 1, 5, 7], jnp.float32)
    pulled = jax.vjp(f, x)[1](weights)[0]
    assert jnp.allclose(jax.jvp(f, (x,), (weights,))[1], pulled)
    assert jnp.allclose(weights * jax.vmap(jax.grad(f))(x), pulled)


def test_parameters_reach_the_surrogate():
    x = jnp.array([1.5])
    narrow, wide = (estimator("sign", "clipped", None, {"limit": c}) for c in (1.0, 2.0))
    assert jax.grad(lambda x: narrow(x).sum())(x) == 0
    assert jax.grad(lambda x: wide(x).sum())(x) == 1


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("nosuch", "identity"), "There is no 'nosuch'. Choose one of: sign, two_valued"),
        (("sign", "nosuch"), "There is no 'nosuch'. Choose one of: true, identity"),
        (
            ("sign", "clipped", None, {"slope": 1}),
            "'clipped' has no parameter 'slope'. It has: limit.",
        ),
        (("sign", "tanh", None, {"slope": 1}), "'tanh' has no parameter 'slope'. It has: none."),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(arguments, words):
    with pytest.raises(ValueError, match="^" + words.replace(".", r"\.")):
        estimator(*arguments)


@pytest.mark.parametrize("table", [FORWARDS, SURROGATES])
def test_every_entry_says_where_it_comes_from_and_what_its_edge_does(table):
    for name, half in table.items():
        assert half.name == name and half.formula and half.edge and half.source
        for p in half.parameters:
            assert p.low <= p.default <= p.high
