"""The misconceptions by name: one plain sentence each, and what kind of mistake it is."""

import dataclasses
from dataclasses import dataclass

from straight_through.checks import Outcome


@dataclass(frozen=True)
class Misconception:
    """``kind`` is "structure", "values" or "derivative"; ``sentence`` is shown to the learner."""

    label: str
    kind: str
    title: str
    sentence: str


_ALL = [
    ("raises", "structure", "It raises", "The code stops with an error before it gives an answer."),
    (
        "not_defined",
        "structure",
        "The function is not there",
        "The cell ran, but nothing of this name was defined: compare the spelling with the "
        "exercise.",
    ),
    (
        "not_attempted",
        "structure",
        "Not attempted yet",
        "The function has no body yet; replace the line that raises NotImplementedError.",
    ),
    (
        "returns_none",
        "structure",
        "No return value",
        "The function computes something but hands nothing back: a return is missing.",
    ),
    (
        "memorised",
        "structure",
        "Only the example is answered",
        "The answer fits inputs like the example only: it must be computed from the input, for "
        "every length.",
    ),
    (
        "shape_changed",
        "structure",
        "The shape changed",
        "The result must have the shape of the input, for every length.",
    ),
    (
        "dtype_changed",
        "structure",
        "The dtype changed",
        "The result and its gradient must keep the dtype of the input; a cast or a NumPy "
        "scalar of another dtype changes it.",
    ),
    (
        "not_traceable",
        "structure",
        "JAX cannot trace it",
        "It works on concrete numbers, but jit or grad hands the function a tracer instead: "
        "NumPy calls, float() and Python's if cannot read one.",
    ),
    (
        "identity_values",
        "values",
        "The input comes back",
        "The function returns its input: the forward value was never made discrete.",
    ),
    (
        "nan_at_zero",
        "values",
        "NaN at zero",
        "At x = 0 a value or a derivative is NaN, as happens when zero is divided by zero.",
    ),
    (
        "not_finite",
        "values",
        "Not finite",
        "A finite input gives NaN or infinity, as happens when an intermediate result overflows.",
    ),
    (
        "two_valued",
        "values",
        "Wrong only at zero",
        "Everywhere else the value is right, but zero has to give zero: this sign has three "
        "values, not two.",
    ),
    (
        "rounding",
        "values",
        "Lost to rounding",
        "On paper the terms cancel; in floating point a small number was added to a large one "
        "first, and its digits were lost.",
    ),
    (
        "soft_values",
        "values",
        "Another function than sign",
        "The forward value is not that of sign; a smooth or other function belongs in the "
        "backward pass at most.",
    ),
    (
        "wrong_values",
        "values",
        "Other values",
        "The function returns other values than the exercise asks for.",
    ),
    (
        "ignored_cotangent",
        "derivative",
        "The incoming cotangent is not passed on",
        "A backward pass must be linear in the cotangent it receives; this one replaces, clips "
        "or bends it.",
    ),
    (
        "mixed_jacobian",
        "derivative",
        "The elements are mixed",
        "Each output may depend on its own input alone; here the Jacobian has entries off its "
        "diagonal, as a sum, a mean or a reordering gives.",
    ),
    (
        "zero_gradient",
        "derivative",
        "The gradient is zero",
        "Nothing flows back: every path from the input to the output is flat or stopped.",
    ),
    (
        "negated_gradient",
        "derivative",
        "The gradient points the wrong way",
        "The derivative has the wrong sign, so training would climb, as happens when the wrong "
        "copy of x is stopped.",
    ),
    (
        "scaled_gradient",
        "derivative",
        "The gradient has the wrong size",
        "The derivative is the right one times a constant; nothing may scale it.",
    ),
    (
        "clipped_gradient",
        "derivative",
        "The gradient is cut off",
        "The derivative is right on a part of the line and zero on the rest; this exercise wants "
        "it everywhere.",
    ),
    (
        "soft_gradient",
        "derivative",
        "Another surrogate",
        "The derivative is another function of x than the one asked for, for example that of a "
        "smooth curve.",
    ),
    # sign_slope
    (
        "flat_slope",
        "values",
        "The slope is zero everywhere",
        "This is the derivative JAX reports; a difference over a finite step sees the jump.",
    ),
    (
        "one_sided",
        "values",
        "A one-sided difference",
        "A central difference looks the same distance to both sides of x.",
    ),
    (
        "edge_lost",
        "values",
        "Wrong where the step just reaches zero",
        "At abs(x) = h one of the two points lies exactly on the jump, where sign is 0.",
    ),
    (
        "step_size",
        "values",
        "Off by a factor",
        "The curve is off by a factor: check which point is subtracted, and that you divide by "
        "the whole distance between the two points.",
    ),
    # frozen_square
    (
        "true_derivative",
        "derivative",
        "Both factors still carry a gradient",
        "This is the ordinary derivative of the square: no factor is frozen.",
    ),
    # one_line_error
    (
        "always_zero",
        "values",
        "No error is seen",
        "The error must be that of the one-line form as floating point computes it, not of its "
        "algebra.",
    ),
    (
        "signed_error",
        "values",
        "The error has a sign",
        "An absolute difference is never negative.",
    ),
    (
        "extra_precision",
        "values",
        "Computed in another precision",
        "Every step of the one-line form must run in the dtype of x.",
    ),
    (
        "other_order",
        "values",
        "Added in another order",
        "The one-line form has parentheses: sign(x) - x is computed first, and x is added last.",
    ),
    # largest_safe
    (
        "not_an_int",
        "structure",
        "Not a Python int",
        "The answer has to be a plain Python int.",
    ),
    (
        "one_dtype",
        "values",
        "One dtype's answer for all",
        "The limit depends on how many significand bits the dtype has.",
    ),
    (
        "off_by_a_bit",
        "values",
        "One bit off",
        "The answer is off by a factor of two: count the implicit leading bit of the significand "
        "exactly once.",
    ),
    (
        "next_to_limit",
        "values",
        "Next to the limit",
        "The answer is next to the limit: at the limit itself the form is still exact, and "
        "beyond it no longer.",
    ),
    (
        "largest_float",
        "values",
        "The largest float instead",
        "The largest finite number says how far the exponent goes, not how many integers are "
        "exact.",
    ),
    (
        "dtype_like",
        "values",
        "Some spellings of a dtype are not accepted",
        "A dtype may come as jnp.float16, as the string 'float16' or as np.dtype('float16').",
    ),
]

MISCONCEPTIONS = {row[0]: Misconception(*row) for row in _ALL}


def explain(label: str) -> str:
    return MISCONCEPTIONS[label].sentence


def label_for(labels: list[str], about: str) -> str | None:
    """The misconception that explains a failed check which is ``about`` values or derivative."""
    for label in labels:
        if MISCONCEPTIONS[label].kind in ("structure", about):
            return label
    return labels[0] if labels else None


def attach_labels(rows: list[tuple[Outcome, str]], labels: list[str]) -> list[Outcome]:
    """Give each failed outcome the misconception that explains it."""
    return [
        dataclasses.replace(outcome, misconception=label_for(labels, about))
        if outcome.outcome == "failed"
        else outcome
        for outcome, about in rows
    ]
