"""What can be asked of a function, and what comes back when its code misbehaves."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from straight_through import wire
from straight_through.local import LocalSubmission
from straight_through.operations import failure
from straight_through.submission import SubmissionRaised

X = np.array([-1.5, 0.0, 2.0], np.float32)


def asked(function, op="call", *args, **options):
    submission = LocalSubmission({"f": function})
    return getattr(submission, op)("f", *args, **options)


@pytest.mark.parametrize("mode", ["plain", "jit", "vmap"])
def test_each_operation_gives_what_jax_gives(mode):
    x, g = X, np.ones_like(X)
    np.testing.assert_allclose(asked(jnp.sin, "call", x, mode=mode), np.sin(x), rtol=1e-6)
    value, pulled = asked(jnp.sin, "vjp", (x,), [g, 2 * g], mode=mode)
    np.testing.assert_allclose(value, np.sin(x), rtol=1e-6)
    for factor, (cotangent,) in zip((1, 2), pulled, strict=True):
        np.testing.assert_allclose(cotangent, factor * np.cos(x), rtol=1e-6)
    value, tangent = asked(jnp.sin, "jvp", (x,), [g], mode=mode)
    np.testing.assert_allclose(tangent, np.cos(x), rtol=1e-6)


def test_python_arguments_stay_static():
    def clip(x, low, high, kind):
        assert type(low) is float and kind == "hard"
        return jnp.clip(x, low, high)

    value, pulled = asked(clip, "vjp", (X, -1.0, 1.0, "hard"), [np.ones_like(X)], mode="jit")
    assert value.tolist() == [-1.0, 0.0, 1.0] and len(pulled[0]) == 1


def test_float64_is_on_for_float64_inputs_only():
    assert asked(lambda x: x * 1, "call", X.astype(np.float64)).dtype == np.float64
    assert asked(lambda x: x * 1, "call", X).dtype == np.float32
    assert jnp.zeros(1).dtype == jnp.float32


@pytest.mark.parametrize(
    ("function", "part"),
    [
        (lambda x: jnp.asarray(x, jnp.int32), "int32, which has no derivative"),
        (lambda x: None, "NoneType"),
        (lambda x: x.sum(), "shape ()"),
    ],
)
def test_what_has_no_derivative_says_so(function, part):
    with pytest.raises(SubmissionRaised, match="NotDifferentiable") as caught:
        asked(function, "vjp", (X,), [np.ones_like(X)])
    assert part in caught.value.failure.message


@pytest.mark.parametrize("result", [object(), {1, 2}, iter([]), jax.random.key(0), "x" * 10**6])
def test_a_result_that_is_no_array_is_named_by_its_type(result):
    assert isinstance(asked(lambda x: result, "call", X), wire.Opaque)


class Liar:
    """Claims to be an array, and fails when it is looked at."""

    __class__ = property(lambda self: np.ndarray)

    def __array__(self, *args, **options):
        raise SystemExit("no")


class Unspeakable(BaseException):
    def __str__(self):
        raise SystemExit("no")


def raises_unspeakable(x):
    raise Unspeakable


def leaves(x):
    raise SystemExit(3)


@pytest.mark.parametrize("function", [lambda x: Liar(), raises_unspeakable, leaves])
def test_whatever_is_raised_is_an_answer(function):
    with pytest.raises(SubmissionRaised):
        asked(function, "call", X)


def test_a_subclass_of_ndarray_is_taken_by_its_bytes():
    class Sly(np.ndarray):
        shape = property(lambda self: (9,))

        def __eq__(self, other):
            return True

        def tobytes(self, *args):
            return b"?"

    back = asked(lambda x: np.array([1.0, 2.0], np.float32).view(Sly), "call", X)
    assert type(back) is np.ndarray and back.tolist() == [1.0, 2.0]


def test_a_failure_can_always_be_sent():
    class Odd(SyntaxError):
        lineno, text = "seven", 7

    for error in (Odd("\ud800"), ValueError("\ud800" * 5000), Unspeakable(), Odd()):
        said = failure(error)
        text = json.dumps(said, ensure_ascii=False).encode()
        assert len(text) < 4000 and said["line"] is None


def test_the_learners_own_line_is_named():
    source = "def f(x):\n    y = x\n    return y.nothing\n"
    names: dict = {}
    exec(compile(source, "<learner>", "exec"), names)
    with pytest.raises(SubmissionRaised) as caught:
        asked(names["f"], "call", X)
    assert caught.value.failure.line == 3 and caught.value.failure.type == "AttributeError"


def test_a_function_that_is_not_there_is_undefined():
    submission = LocalSubmission({"f": jnp.sin, "g": 3})
    assert submission.defined("f") and not submission.defined("g")
    assert not submission.defined("h")
    with pytest.raises(SubmissionRaised, match="NameError: h is not defined"):
        submission.call("h", X)
