"""Figures: truthful numbers, the same pixels whether redrawn or drawn anew, nothing that raises."""

import csv
import io
import subprocess
import sys
import xml.etree.ElementTree
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from PIL import Image

from straight_through import plots
from straight_through.plots import descent, estimator, floats, jacobian, sampling, style

stop = jax.lax.stop_gradient
X = np.linspace(-3, 3, 41)


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


PICTURES = {
    "surrogate": (
        estimator.SurrogatePicture,
        estimator.surrogate_curves,
        [
            estimator.SurrogateState("clipped", x=0.3),
            estimator.SurrogateState("swish_sign", "round", "tanh", x=-2.0, reach=5.0),
            estimator.SurrogateState("tanh", x=1.7),
        ],
    ),
    "rounding": (
        floats.RoundingPicture,
        floats.rounding_curves,
        [
            floats.RoundingState(),
            floats.RoundingState("bfloat16", 9),
            floats.RoundingState("float64", 60, 1.1),
            floats.RoundingState("float32", 24),
        ],
    ),
    "race": (
        descent.RacePicture,
        descent.race_curves,
        [
            descent.RaceState(),
            descent.RaceState(start=2.5, target=-0.3, step=20),
            descent.RaceState(learning_rate=0.5, seed=3),
        ],
    ),
    "three views": (
        jacobian.ViewsPicture,
        jacobian.views_curves,
        [
            jacobian.ViewsState(),
            jacobian.ViewsState("mean", (0, 1e20, -2)),
            jacobian.ViewsState("mean", (0, 1, -2), (3, 3, 3)),
            jacobian.ViewsState("ones"),
        ],
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_redrawn_picture_has_the_pixels_of_a_new_one(name):
    make, compute, states = PICTURES[name]
    reused = make()
    for state in [*states, *states[::-1]]:
        fresh = make()
        fresh.show(compute(state))
        reused.show(compute(state))
        assert np.array_equal(pixels(reused.png()), pixels(fresh.png()))


@pytest.mark.parametrize("name", PICTURES)
def test_every_state_has_its_own_words_and_numbers(name):
    _, compute, states = PICTURES[name]
    curves = [compute(state) for state in states]
    assert len({c.alt for c in curves}) > 1
    for a, b in combinations(curves, 2):
        assert a.readout != b.readout
    for c in curves:
        rows = list(csv.reader(io.StringIO(plots.to_csv(c.columns))))
        assert len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows)
        assert all(float(v) == float(v) for v in rows[1])


@pytest.mark.parametrize("make", [plots.surrogate, plots.rounding, plots.race, plots.three_views])
def test_figures_can_be_saved_shown_and_made_twice(make):
    figure, again = make(), make()
    xml.etree.ElementTree.fromstring(plots.to_svg(figure))
    assert plots.to_svg(figure) == plots.to_svg(again)
    assert pixels(plots.to_png(figure, dpi=200)).shape[1] == 1440
    data, metadata = figure._repr_mimebundle_()
    assert data["image/png"] and metadata["image/png"]["alt"] and data["text/plain"]


def test_a_png_holds_exactly_the_pixels_of_the_canvas():
    figure = plots.surrogate("tanh")
    png = plots.to_png(figure)
    assert np.array_equal(pixels(png), np.asarray(figure.canvas.buffer_rgba())[..., :3])


def test_pyplot_and_its_global_state_are_never_touched():
    code = (
        "import sys, straight_through.widgets as w, straight_through.plots as p;"
        "w.explore(); w.race(); p.surrogate(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The soft function


@pytest.mark.parametrize(
    "name, expected",
    [
        ("identity", lambda x: x),
        ("clipped", lambda x: np.clip(x, -1, 1)),
        ("approx_sign", lambda x: np.where(np.abs(x) < 1, 2 * x - x * np.abs(x), np.sign(x))),
        ("tanh", np.tanh),
        ("sloped", lambda x: np.tanh(2 * x)),
        ("arctan", lambda x: np.arctan(np.pi * x) / np.pi),
        ("fast_sigmoid", lambda x: x / (1 + 5 * np.abs(x))),
    ],
)
def test_the_soft_function_is_the_integral_of_the_surrogate(name, expected):
    curves = estimator.surrogate_curves(estimator.SurrogateState(name))
    x = curves.main.curve.x
    np.testing.assert_allclose(curves.main.soft, expected(x), atol=2e-4)


def test_the_soft_function_starts_halfway_up_the_jump():
    curves = estimator.surrogate_curves(estimator.SurrogateState("clipped", "heaviside", x=0.0))
    assert abs(curves.main.soft_at_probe - 0.5) < 1e-6


def test_the_surrogate_never_changes_the_values():
    curves = [
        estimator.surrogate_curves(estimator.SurrogateState(name, "ternary", x=0.5))
        for name in ("identity", "swish_sign")
    ]
    assert curves[0].main.probe.value == curves[1].main.probe.value == 0


# A learner's own function


def ste(x):
    assert x.ndim == 1
    print("called")
    return (x - stop(x)) + stop(jnp.sign(x))


def with_python_if(x):
    return x if x > 0 else 0 * x


def averaged(x):
    return jnp.mean(x) - stop(jnp.mean(x)) + jnp.sign(x)


def test_a_function_that_prints_and_takes_one_dimension_only(capsys):
    curves = estimator.surrogate_curves(estimator.SurrogateState(own=sampling.Own(ste), x=1e20))
    assert np.all(curves.main.curve.slope == 1) and not curves.note
    assert dict(curves.readout) == {
        "x": "1e20",
        "value": "1",
        "derivative, ste": "1",
        "soft function": "off the axis",
    }
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "x, words",
    [
        (3.3, "1.0000002"),
        (16777218.0, "2"),
        (1e20, "0"),
        (float(np.finfo(np.float32).max), "0"),
    ],
)
def test_the_read_out_shows_an_error_of_one_ulp(x, words):
    own = sampling.Own(floats.left_to_right)
    assert (
        dict(estimator.surrogate_curves(estimator.SurrogateState(own=own, x=x)).readout)["value"]
        == words
    )


def test_a_function_that_cannot_take_the_whole_array_is_called_point_by_point():
    sampled = sampling.sample(with_python_if, np.array([-1.0, 0.0, 2.0]))
    assert sampled.value.tolist() == [0, 0, 2] and sampled.slope.tolist() == [0, 0, 1]
    assert not sampled.note


@pytest.mark.parametrize(
    "f, words",
    [
        (
            np.sign,
            "JAX cannot differentiate it: it leaves JAX on the way (NumPy, float() or int()).",
        ),
        (lambda x: None, "It returns None: is there a return?"),
        (lambda x: x[:1], "It returns shape (1,) for x of shape (3,); both must agree."),
        (lambda x: 1 / 0, "It raises ZeroDivisionError: division by zero."),
        (
            averaged,
            "Its Jacobian is not diagonal: output 0 also depends on input 1. "
            "The curve shows the diagonal.",
        ),
    ],
)
def test_what_is_wrong_with_a_function_is_said_in_a_sentence(f, words):
    assert sampling.sample(f, np.array([-1.0, 0.5, 2.0])).note == words
    plots.surrogate(f)


def test_the_probe_of_a_mixing_function_agrees_with_its_curve():
    curves = estimator.surrogate_curves(estimator.SurrogateState(own=sampling.Own(averaged), x=0.5))
    assert curves.main.probe.slope[0] == pytest.approx(curves.main.curve.slope[0], rel=0.02)


# Rounding, race, views


@pytest.mark.parametrize(
    "dtype, bits", [("float16", 11), ("bfloat16", 8), ("float32", 24), ("float64", 53)]
)
@pytest.mark.parametrize("significand", [1.05, 1.3, 1.65, 1.95])
def test_the_one_liner_is_lost_from_two_to_the_number_of_significant_bits(dtype, bits, significand):
    state = floats.RoundingState(dtype, bits, significand)
    curves = floats.rounding_curves(state)
    one_line, _, zero_first = curves.wrong_from
    assert curves.bits == bits and zero_first is None
    # Just above 2^p some x are even multiples and survive; half a binade later none does.
    assert one_line in (bits, bits + 1)
    assert curves.spacing == 2 and np.all(curves.slopes == 1)


@pytest.mark.parametrize(
    "state, words",
    [
        (floats.RoundingState("int8"), "no dtype 'int8'"),
        (floats.RoundingState("float16", 16), "float16 has exponents from -14 to 15"),
        (floats.RoundingState("float32", 4, 2.0), "significand must be above 1 and below 2"),
        (
            floats.RoundingState("float32", 4, float("nan")),
            "significand must be above 1 and below 2",
        ),
    ],
)
def test_a_number_that_does_not_exist_is_refused_in_a_sentence(state, words):
    with pytest.raises(ValueError, match=words):
        floats.rounding_curves(state)


def test_who_arrives_who_stalls_and_who_oscillates():
    far = dict(zip(descent.RUNNERS, descent.race_curves(descent.RaceState()).verdicts, strict=True))
    assert far["true derivative"] == far["clipped"] == "stalls"
    assert far["identity"].startswith("arrives") and far["tanh"].startswith("arrives")
    between = descent.race_curves(descent.RaceState(start=-0.8, target=0.3)).verdicts
    assert between[1:4] == ["oscillates"] * 3


def test_every_runner_starts_at_the_start_and_follows_its_seed():
    paths = [descent.race_curves(descent.RaceState(seed=s)).w for s in (0, 0, 1)]
    assert np.all(paths[0][:, 0] == -1.5) and np.array_equal(paths[0], paths[1])
    assert np.array_equal(paths[0][:4], paths[2][:4])
    assert not np.array_equal(paths[0][4], paths[2][4])


def test_the_views_of_the_impostors():
    identity, ones = np.eye(3), np.ones((3, 3))
    for name, expected in {
        "ste": identity,
        "sign": 0 * ones,
        "ones": ones,
        "mean": ones / 3,
        "clipped": np.diag([0, 1, 0]),
    }.items():
        state = jacobian.ViewsState(name, (1, 2, 3), (1, 2, -1))
        curves = jacobian.views_curves(state)
        np.testing.assert_allclose(curves.jacobian, expected, rtol=1e-6)
        np.testing.assert_allclose(curves.pushed, expected @ [1, 2, 3], rtol=1e-6)
        np.testing.assert_allclose(curves.pulled, [1, 2, -1] @ expected, rtol=1e-6)


# The picture of a verdict


@pytest.mark.parametrize(
    "yours",
    [
        np.full(41, np.nan),
        np.where(X == 0, np.inf, np.sign(X)),
        X * 5e307,
        X,
        np.sign(X),
    ],
)
def test_a_comparison_can_show_whatever_a_wrong_answer_returns(yours):
    with np.errstate(all="ignore"):
        figure = plots.comparison(X, yours, np.sign(X), slope=yours, expected_slope=np.ones(41))
    assert len(figure.axes) == 2 and len(plots.to_png(figure)) > 1000


def test_a_comparison_shades_the_difference_and_says_that_there_is_one():
    wrong = plots.comparison(X, np.tanh(X), np.sign(X), title="Soft values")
    right = plots.comparison(X, np.sign(X), np.sign(X))
    assert len(wrong.axes[0].collections) == 1 and not right.axes[0].collections
    assert wrong.alt.startswith("Soft values. ") and wrong.alt.endswith("they differ.")
    assert right.alt.endswith("they agree.")


def test_a_comparison_of_huge_inputs_has_a_logarithmic_axis_and_any_dtype():
    x = jnp.array([-1e20, -1.0, 0.0, 2.0, 1e20], "bfloat16")
    figure = plots.comparison(x, jnp.zeros_like(x), jnp.sign(x))
    assert figure.axes[0].get_xscale() == "symlog"
    for n in (0, 1):
        plots.to_png(plots.comparison(x[:n], x[:n], x[:n]))


# Colours

# Machado, Oliveira and Fernandes 2009: how the three kinds of dichromats see linear RGB.
SEEN_BY = {
    "protanope": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranope": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanope": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(colour: str, seen_by: str) -> np.ndarray:
    """CIELAB of a colour as somebody with a colour vision deficiency sees it."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(SEEN_BY[seen_by]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen_by", SEEN_BY)
@pytest.mark.parametrize(
    "together",
    [
        (style.BLACK, style.BLUE, style.VERMILLION, style.PURPLE),  # the surrogate explorer
        (style.SKY, style.VERMILLION, style.BLACK),  # the verdict
        ("#DCEBF5", style.YELLOW, style.VERMILLION),  # the rounding strip
    ],
)
def test_colours_that_meet_in_a_panel_stay_apart_for_everybody(seen_by, together):
    for a, b in combinations(together, 2):
        assert np.linalg.norm(lab(a, seen_by) - lab(b, seen_by)) > 20, (a, b)


def test_no_two_curves_share_a_line_style():
    picture = estimator.SurrogatePicture()
    for lines in (
        [picture.value, picture.soft, picture.other_soft],
        [picture.main, picture.other, picture.true],
    ):
        assert len({str(line._dash_pattern) for line in lines}) == len(lines)
