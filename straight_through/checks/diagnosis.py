"""Which misconception an answer shows: decided by behaviour alone, in a fixed order.

The order is that of the table in docs/how-checks-work.md: structure first, then values, then the
derivative. The first label explains the failure best; at most two more may follow.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from straight_through.checks.draws import FLOATS, LENGTH, Draws
from straight_through.checks.elementwise import SCALES, tolerance
from straight_through.checks.problems import Problem
from straight_through.checks.rules import VALUE_RULES
from straight_through.submission import Submission, SubmissionRaised
from straight_through.wire import WireError


@dataclass
class Samples:
    """Corresponding numbers in float64: x, what came back, what was expected, and one ulp.

    ``ulp`` is the spacing of the dtype's numbers at max(1, abs(x)); ``step`` is the second argument
    where a function has one, NaN elsewhere.
    """

    x: np.ndarray
    y: np.ndarray
    expected: np.ndarray
    ulp: np.ndarray
    wrong: np.ndarray
    step: np.ndarray

    @classmethod
    def gather(cls, rows: list[tuple]) -> "Samples":
        """From (x, y, expected, ulp, wrong, step), one tuple for each call."""
        if not rows:
            return cls(*[np.zeros(0)] * 4, np.zeros(0, bool), np.zeros(0))
        return cls(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _step(args) -> np.ndarray:
    return np.full(args[0].shape, float(args[1]) if len(args) > 1 else np.nan)


class Unusable(Exception):
    """A reply that cannot be read as numbers of x's shape."""


def structure(submission: Submission, name: str) -> str | None:
    """The label of a function that is missing, untouched or whose cell failed; None otherwise."""
    if not submission.defined(name):
        return "raises" if submission.cell_failures else "not_defined"
    return "not_attempted" if name in submission.stubs else None


class Diagnosis:
    """The labels of one submission for one elementwise problem."""

    def __init__(self, submission: Submission, problem: Problem):
        self.submission, self.problem = submission, problem
        self.draws = Draws(submission.seed)
        self.raised = False  # something raised that no label has explained yet

    def labels(self) -> list[str]:
        """At most three labels, most telling first; empty for a right answer."""
        fatal = structure(self.submission, self.problem.name) or self._example()
        fatal = fatal or self._memorised() or self._shape()
        if fatal:
            return [fatal]
        found = [self._dtype(), self._traceable(), *self._values(), self._derivative()]
        untraceable = "not_traceable" in found
        if untraceable and not self._right_on_concrete_arrays():
            # What is wrong with the values comes first, that it cannot be traced after it.
            found.remove("not_traceable")
            found.append("not_traceable")
        labels = [label for label in dict.fromkeys(found) if label]
        if not labels and self.raised:
            labels = ["raises"]
        return labels[:3]

    # ---- structure

    def _call(self, args) -> np.ndarray:
        result = self.submission.call(self.problem.name, *args)
        if not isinstance(result, np.ndarray):
            raise Unusable
        return result

    def _example(self) -> str | None:
        try:
            result = self.submission.call(self.problem.name, *self.problem.example)
        except (SubmissionRaised, WireError):
            return "raises"
        if result is None:
            return "returns_none"
        return None if isinstance(result, np.ndarray) else "raises"

    def _memorised(self) -> str | None:
        """Right on the example, but constant on other x of its length, or no other lengths."""
        example = self.problem.example
        result = self._call(example)
        expected = self.problem.value(*example)
        if result.shape != expected.shape:
            return None
        limit = tolerance(expected, "float32", self.problem.exact)
        if not (np.abs(result.astype(np.float64) - expected) <= limit).all():
            return None
        try:
            others = [self._call(args) for args in self._like_example()]
        except SubmissionRaised:
            return "memorised"
        except Unusable:
            return None
        if all(np.array_equal(other, others[0]) for other in others[1:]):
            if not np.array_equal(*self._expected_like_example()):
                return "memorised"
        try:
            for length in (1, 2, 7, LENGTH):
                self._call(self._of_length(length))
        except SubmissionRaised:
            return "memorised"
        except Unusable:
            pass
        return None

    def _like_example(self):
        """Arguments of the example's length with other numbers and other signs."""
        first = self.problem.inputs("float32", self.draws)["values"]
        second = -np.roll(first, 1)
        length = len(self.problem.example[0])
        # One of each sign and size, then another pattern of signs.
        return [
            self.problem.arguments(x[:length], self.draws)
            for x in (
                np.sort(first)[:: LENGTH // length],
                np.sort(second)[::-1][:: LENGTH // length],
            )
        ]

    def _expected_like_example(self):
        return [self.problem.value(*args) for args in self._like_example()]

    def _of_length(self, length: int):
        return self.problem.arguments(np.resize(self.draws.moderate("float32"), length), self.draws)

    def _shape(self) -> str | None:
        for length in (len(self.problem.example[0]), 1, 2, 7, LENGTH):
            args = self._of_length(length)
            try:
                result = self._call(args)
            except (SubmissionRaised, WireError, Unusable):
                self.raised = True
                continue
            if result.shape != args[0].shape:
                return "shape_changed"
        return None

    def _every_args(self, dtypes=FLOATS):
        for dtype in dtypes:
            for kind, x in self.problem.inputs(dtype, self.draws).items():
                yield dtype, kind, self.problem.arguments(x, self.draws)

    def _dtype(self) -> str | None:
        for dtype, kind, args in self._every_args():
            if kind != "values":
                continue
            arrays = [self._value(args)]
            if self.problem.slope is not None:
                arrays += self._pull(args, [self.draws.cotangent(dtype)])
            if any(a is not None and a.dtype != args[0].dtype for a in arrays):
                return "dtype_changed"
        return None

    def _value(self, args, mode: str = "plain") -> np.ndarray | None:
        try:
            result = self.submission.call(self.problem.name, *args, mode=mode)
        except (SubmissionRaised, WireError):
            self.raised = True
            return None
        fits = isinstance(result, np.ndarray) and result.shape == args[0].shape
        return result if fits else None

    def _pull(self, args, cotangents, mode: str = "plain") -> list[np.ndarray | None]:
        """The value, then the pulled-back cotangents; empty if there are none to be had."""
        try:
            value, pulled = self.submission.vjp(self.problem.name, args, cotangents, mode=mode)
            arrays = [value] + [item[0] for item in pulled]
        except (SubmissionRaised, WireError, IndexError, TypeError):
            self.raised = True
            return []
        fits = all(isinstance(a, np.ndarray) and a.shape == args[0].shape for a in arrays)
        return arrays if fits else []

    def _traceable(self) -> str | None:
        args = self.problem.arguments(self.draws.moderate("float32"), self.draws)
        failed = self._value(args, "jit") is None
        if self.problem.slope is not None and not failed:
            g = [self.draws.cotangent("float32")]
            failed = not self._pull(args, g) or not self._pull(args, g, "jit")
        return "not_traceable" if failed else None

    def _right_on_concrete_arrays(self) -> bool:
        for dtype, _, args in self._every_args():
            value = self._value(args)
            expected = self.problem.value(*args)
            limit = tolerance(expected, dtype, self.problem.exact)
            if value is None or not (np.abs(value.astype(np.float64) - expected) <= limit).all():
                return False
        return True

    # ---- values

    def _samples(self, how) -> Samples:
        """All values that ``how(args)`` gives, over every dtype and kind of input."""
        rows = []
        for dtype, _, args in self._every_args():
            value = how(args)
            if value is None:
                continue
            x, y = args[0].astype(np.float64), value.astype(np.float64)
            expected = self.problem.value(*args)
            eps = float(ml_dtypes.finfo(args[0].dtype).eps)
            limit = tolerance(expected, dtype, self.problem.exact)
            wrong = ~(np.abs(y - expected) <= limit)
            spacing = eps * np.exp2(np.floor(np.log2(np.clip(np.abs(x), 1, 1e308))))
            rows.append((x, y, expected, spacing, wrong, _step(args)))
        return Samples.gather(rows)

    def _value_under_vjp(self, args):
        arrays = self._pull(args, [self.draws.cotangent(args[0].dtype.name)])
        return arrays[0] if arrays else None

    def _values(self) -> list[str | None]:
        hows = [self._value]
        if self.problem.slope is not None:
            hows.append(self._value_under_vjp)
        hows.append(lambda args: self._value(args, "jit"))
        slopes = self._slopes()
        for how in hows:
            samples = self._samples(how)
            bad = ~np.isfinite(samples.y)
            for rule in VALUE_RULES[self.problem.name]:
                if rule == "nan_at_zero":
                    derivative = np.isnan(slopes.y) & (slopes.x == 0)
                    hit = (np.isnan(samples.y) & (samples.x == 0)).any() or derivative.any()
                elif rule == "not_finite":
                    hit = bad.any() or (~np.isfinite(slopes.y)).any()
                else:
                    hit = samples.wrong.any() and VALUE_RULES[self.problem.name][rule](samples)
                if hit:
                    return [rule]
        return []

    # ---- derivative

    def _slopes(self) -> Samples:
        """The diagonal of the Jacobian over every dtype and kind of input, as pulled / g."""
        if self.problem.slope is None:
            return Samples.gather([])
        rows = []
        for dtype, _, args in self._every_args():
            g = self.draws.cotangent(dtype)
            arrays = self._pull(args, [g])
            if not arrays:
                continue
            eps = float(ml_dtypes.finfo(args[0].dtype).eps)
            x = args[0].astype(np.float64)
            y = arrays[1].astype(np.float64) / g.astype(np.float64)
            expected = self.problem.slope(*args)
            wrong = ~(np.abs(y - expected) <= 8 * eps * np.abs(expected))
            rows.append((x, y, expected, np.full(x.shape, eps), wrong, _step(args)))
        return Samples.gather(rows)

    def _derivative(self) -> str | None:
        if self.problem.slope is None:
            return None
        x = self.problem.inputs("float32", self.draws)["values"]
        args = self.problem.arguments(x, self.draws)
        if not self._linear(args):
            return "ignored_cotangent"
        rows = self._pull(args, list(np.eye(x.size, dtype=x.dtype)))[1:]
        if rows and (np.stack(rows) * (1 - np.eye(x.size)) != 0).any():
            return "mixed_jacobian"
        slopes = self._slopes()
        return name_slopes(slopes) if slopes.wrong.any() else None

    def _linear(self, args) -> bool:
        """vjp(0) is 0 and vjp(c g) is c vjp(g), for small, large and negative c."""
        g = self.draws.cotangent("float32")
        factors = [1.0, 0.0, -1.0] + [2.0**power for power in SCALES]
        arrays = self._pull(args, [(g * factor).astype(np.float32) for factor in factors])[1:]
        if not arrays:
            return True  # that it raises is told elsewhere
        base = arrays[0].astype(np.float64)
        eps = float(np.finfo(np.float32).eps)
        return all(
            not (
                np.abs(back.astype(np.float64) - factor * base)
                > 16 * eps * abs(factor) * np.abs(base)
            ).any()
            for factor, back in zip(factors, arrays, strict=True)
        )


def name_slopes(slopes: Samples) -> str:
    """The label of a diagonal that is not the expected one, from its ratio to it."""
    flat = slopes.expected == 0
    if flat.all():
        return "soft_gradient"
    usable = ~flat & (slopes.expected != 0)
    ratio = slopes.y[usable] / slopes.expected[usable]
    near = 16 * slopes.ulp[usable]
    x = slopes.x[usable]

    def close(target) -> np.ndarray:
        return np.abs(ratio - target) <= near * np.maximum(1, np.abs(target))

    if close(0).all():
        return "zero_gradient"
    if close(-1).all():
        return "negated_gradient"
    middle = float(np.median(ratio))
    if close(middle).all() and not close(1).any():
        return (
            "true_derivative"
            if slopes.expected.std() > 0 and abs(middle - 2) < 0.1
            else "scaled_gradient"
        )
    away = x != 0
    if (close(0) | close(1))[away].all():
        return "clipped_gradient"
    return "soft_gradient"
