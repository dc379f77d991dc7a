"""How wrong values are named: for each function, the labels in order and what each one means.

A rule gets Samples (x, y, expected, ulp, wrong, step) and says whether it explains *all* that is
wrong.
``nan_at_zero`` and ``not_finite`` also look at the derivative and are decided in diagnosis.py.
"""

import numpy as np

from straight_through.checks.problems import one_line_error


def _identity(s) -> bool:
    """y is x, up to a few ulps."""
    return bool((np.abs(s.y - s.x) <= 4 * s.ulp).all())


def _only_at_zero(s) -> bool:
    return bool((s.x[s.wrong] == 0).all())


def _few_ulps(s) -> bool:
    """Every error is within a few ulps of max(1, abs(x))."""
    return bool((np.abs(s.y - s.expected) <= 4 * s.ulp).all())


def _other_order(s) -> bool:
    """A few ulps off, at moderate x too, where the one-line form has no error."""
    return _few_ulps(s) and bool((s.expected[s.wrong] == 0).any())


def _any(s) -> bool:
    return True


def _zero_everywhere(s) -> bool:
    return bool((s.y == 0).all())


def _negative(s) -> bool:
    return bool((np.abs(s.y) == s.expected).all())


def _scaled(s) -> bool:
    """One constant factor for each step, on all values that should not be zero."""
    nonzero = s.expected != 0
    ratio, step = s.y[nonzero] / s.expected[nonzero], s.step[nonzero]
    ratios = [ratio[step == h] for h in np.unique(step)]
    flat = (s.y[~nonzero] == 0).all()
    return bool(flat and all(r[0] != 0 and np.ptp(r) <= 1e-2 * abs(r[0]) for r in ratios))


def _edge(s) -> bool:
    """Wrong only where abs(x) is the step."""
    return bool((np.abs(s.x[s.wrong]) == s.step[s.wrong]).all())


def _one_sided(s) -> bool:
    """A forward or a backward difference everywhere."""
    forward = (np.sign(s.x + s.step) - np.sign(s.x)) / s.step
    backward = (np.sign(s.x) - np.sign(s.x - s.step)) / s.step
    return bool((s.y == forward).all() or (s.y == backward).all())


def _other_precision(s) -> bool:
    """Every value is the error as float32 or float64 computes it."""
    with np.errstate(over="ignore", invalid="ignore"):
        single, double = (one_line_error(s.x.astype(t)) for t in (np.float32, np.float64))
    return bool(((s.y == single) | (s.y == double) | ~s.wrong).all())


STE_RULES = {
    "identity_values": _identity,
    "nan_at_zero": None,
    "not_finite": None,
    "two_valued": _only_at_zero,
    "rounding": _few_ulps,
    "soft_values": _any,
}

VALUE_RULES = {
    "ste_quantize": STE_RULES,
    "sign_slope": {
        "nan_at_zero": None,
        "not_finite": None,
        "flat_slope": _zero_everywhere,
        "edge_lost": _edge,
        "one_sided": _one_sided,
        "step_size": _scaled,
        "wrong_values": _any,
    },
    "frozen_square": {
        "identity_values": _identity,
        "nan_at_zero": None,
        "not_finite": None,
        "wrong_values": _any,
    },
    "one_line_error": {
        "nan_at_zero": None,
        "not_finite": None,
        "always_zero": _zero_everywhere,
        "signed_error": _negative,
        "extra_precision": _other_precision,
        "other_order": _other_order,
        "wrong_values": _any,
    },
}

# Which labels can be given for each function: ``ste verify`` wants a wrong answer for every one.
STRUCTURE = ("raises", "not_defined", "returns_none", "memorised", "shape_changed", "dtype_changed")
STRUCTURE = (*STRUCTURE, "not_traceable")
SLOPES = ("ignored_cotangent", "mixed_jacobian", "zero_gradient", "negated_gradient")
SLOPES = (*SLOPES, "scaled_gradient", "clipped_gradient", "soft_gradient")
LABELS = {
    "ste_quantize": (*STRUCTURE, *STE_RULES, *SLOPES),
    "sign_slope": (*STRUCTURE, *VALUE_RULES["sign_slope"], "mixed_jacobian", "soft_gradient"),
    "frozen_square": (*STRUCTURE, *VALUE_RULES["frozen_square"], *SLOPES, "true_derivative"),
    "one_line_error": (*STRUCTURE, *VALUE_RULES["one_line_error"]),
    "largest_safe": (
        *("raises", "not_defined", "returns_none", "memorised", "not_an_int", "one_dtype"),
        *("off_by_a_bit", "next_to_limit", "largest_float", "wrong_values", "dtype_like"),
    ),
}
