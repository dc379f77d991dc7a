"""Verdicts on answers as learners write them, and proof that no check can be weakened unseen.

A right answer that is refused is worse than a wrong one that is let through; here neither happens.
"""

import contextlib
import io
import json

import pytest

from straight_through import course
from straight_through.checks import diagnosis, elementwise
from straight_through.checks.elementwise import Elementwise
from straight_through.checks.limits import LargestSafe
from straight_through.verify import FIELD, Wrong, prove_wrong, try_answer, workers

# The answers run in this process or a worker's, and some overflow: that is theirs to do.
pytestmark = pytest.mark.filterwarnings("default")

CASES = course.ROOT / "tests" / "cases" / "ste_quantize"
RIGHT = course.ROOT / "tests" / "right_answers"
BANK = course.ROOT / "tests" / "misconceptions"
EXPECTED = json.loads((CASES / "expected.json").read_text())
SEEDS = (0, 20260)

GIVEN = [("04_ste", CASES / f"{name}.py", SEEDS[:1]) for name in EXPECTED]
UNUSUAL = [(path.parent.name, path, SEEDS) for path in sorted(RIGHT.glob("*/*.py"))]


def verdicts_on(stem: str, path, seeds) -> list[tuple[bool, list[str], str]]:
    """For each seed whether the answer passes, its labels, and what went wrong first."""
    source = path.read_text(encoding="utf-8")
    function = dict(FIELD.findall(source)).get("function")
    function = function or course.load().exercise(stem).functions[0].name
    with contextlib.redirect_stdout(io.StringIO()):
        found = [try_answer(stem, function, source, seed) for seed in seeds]
    return [(one.passed, one.misconceptions, str(one.first_failed or "")) for one in found]


@pytest.fixture(scope="module")
def verdicts(request):
    """The verdicts on all answers that were chosen to be tested, two at a time."""
    items = [item for item in request.session.items if item.path == request.path]
    chosen = [item.callspec.params.get("answer") for item in items if hasattr(item, "callspec")]
    with workers() as pool:
        yield {answer: pool.submit(verdicts_on, *answer) for answer in chosen if answer}


def named(answer) -> str:
    return f"{answer[0]}-{answer[1].stem}"


@pytest.mark.parametrize("answer", GIVEN, ids=named)
def test_a_given_case_gets_its_verdict(verdicts, answer):
    ((passed, labels, said),) = verdicts[answer].result()
    expected = EXPECTED[answer[1].stem]
    assert passed == expected["full_marks"], said
    assert labels[:1] == ([expected["misconception"]] if expected["misconception"] else [])
    assert len(labels) <= 3


@pytest.mark.parametrize("answer", UNUSUAL, ids=named)
def test_an_unusual_right_answer_passes(verdicts, answer):
    for passed, labels, said in verdicts[answer].result():
        assert passed, said
        assert labels == []


@pytest.mark.parametrize("slope", ["-1.0", "jnp.nan", "jnp.inf"])
def test_a_wrong_diagonal_is_not_said_to_be_a_connection(slope):
    source = f"""
@jax.custom_vjp
def ste_quantize(x):
    return jnp.sign(x)
ste_quantize.defvjp(lambda x: (jnp.sign(x), None), lambda _, g: (jnp.where(g, {slope} * g, g),))
"""
    verdict = try_answer("04_ste", "ste_quantize", source, SEEDS[0])
    assert "mixed_jacobian" not in verdict.misconceptions
    (jacobian,) = [outcome for outcome in verdict.hidden if outcome.id == "jacobian"]
    assert jacobian.message.startswith("A row of the Jacobian is not right. 1 of ")


# ---- our own checks, broken one at a time


def wrong(name: str) -> Wrong:
    (path,) = BANK.glob(f"*/{name}.py")
    return Wrong.read(path, course.load().exercise(path.parent.name))


# For each check, a wrong answer that `ste verify` would no longer find as it should be.
SILENCED = {
    (Elementwise, "shape"): "the_last_one_alone_loses_its_axis",
    (Elementwise, "dtype"): "only_float16_is_widened",
    (Elementwise, "values"): "a_dead_band_of_a_millionth",
    (Elementwise, "zero"): "plus_one_at_zero",
    (Elementwise, "edge"): "the_edge_lost_in_float16",
    (Elementwise, "large_inputs"): "the_one_liner",
    (Elementwise, "derivative"): "doubled_in_float16",
    (Elementwise, "cotangent"): "small_cotangents_dropped",
    (Elementwise, "jacobian"): "cotangents_centred",
    (Elementwise, "inside_vjp"): "forward_returns_its_input",
    (Elementwise, "jit"): "places_of_the_nonzero_in_float16",
    (Elementwise, "vmap"): "a_callback_without_batching",
    (LargestSafe, "is_int"): "a_python_float_limit",
    (LargestSafe, "limits"): "float64_not_known",
    (LargestSafe, "spellings"): "dtype_objects_only",
}


@pytest.mark.parametrize("check", SILENCED, ids=lambda check: check[1])
def test_a_check_that_never_fails_is_noticed(monkeypatch, check):
    monkeypatch.setattr(*check, lambda self, *args: None)
    assert prove_wrong(wrong(SILENCED[check])) != []


def without(things, left_out):
    return type(things)(thing for thing in things if thing != left_out)


DTYPES = {
    "float16": ("only_float16_is_widened", "zero_gradient_in_float16"),
    "bfloat16": ("only_bfloat16_is_widened", "zero_gradient_in_bfloat16"),
    "float64": ("only_float64_is_narrowed", "zero_gradient_in_float64"),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_forgotten_dtype_is_noticed(monkeypatch, dtype):
    for module in (elementwise, diagnosis):
        monkeypatch.setattr(module, "FLOATS", without(elementwise.FLOATS, dtype))
    for name in DTYPES[dtype]:
        assert prove_wrong(wrong(name)) != []


KINDS = {
    "tiny": "a_dead_band_of_a_millionth",
    "middle": "lost_above_a_thousand",
    "zero": "plus_one_at_zero",
    "large_inputs": "lost_in_four_binades",
    "largest": "the_largest_float_is_lost",
}


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_left_out_are_noticed(monkeypatch, kind):
    every = Elementwise.kinds
    monkeypatch.setattr(Elementwise, "kinds", lambda self: without(every(self), kind))
    values = Elementwise.values
    monkeypatch.setattr(
        Elementwise, "values", lambda self, *kinds: kinds == (kind,) or values(self, *kinds)
    )
    assert prove_wrong(wrong(KINDS[kind])) != []


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (0, "a_small_constant_for_zero"),
        (1, "the_cotangent_clipped_at_a_million"),
        (2, "small_cotangents_dropped"),
    ],
)
def test_a_forgotten_scale_of_the_cotangent_is_noticed(monkeypatch, place, name):
    every = elementwise.scalings
    for module in (elementwise, diagnosis):
        monkeypatch.setattr(
            module, "scalings", lambda g: [s for i, s in enumerate(every(g)) if i != place]
        )
    assert prove_wrong(wrong(name)) != []


@pytest.mark.parametrize(
    ("way", "name"),
    [
        (("call", "jit"), "numpy_outside_of_the_rule"),
        (("vjp", "jit"), "places_of_the_nonzero_in_float16"),
        (("call", "vmap"), "a_batch_of_errors_is_refused"),
    ],
)
def test_a_way_to_ask_that_is_left_out_is_noticed(monkeypatch, way, name):
    every = Elementwise.ways
    monkeypatch.setattr(Elementwise, "ways", lambda self: {**every(self), **{way: ()}})
    assert prove_wrong(wrong(name)) != []
