"""Which misconception an answer shows: decided by behaviour alone, in a fixed order.

Structure comes first, then values, then the derivative. The first label explains the failure best;
at most two more may follow.
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from straight_through.checks.draws import FLOATS
from straight_through.checks.elementwise import (
    LENGTHS,
    Elementwise,
    connected,
    numbers,
    pulled_tolerance,
    scalings,
    tolerance,
)
from straight_through.checks.problems import Problem
from straight_through.checks.rules import VALUE_RULES
from straight_through.submission import Submission, SubmissionRaised
from straight_through.wire import WireError

MOST = 3  # labels for one answer

CALL, VJP = ("call", "plain"), ("vjp", "plain")


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
        """From what ``of`` made of each call."""
        columns = [
            np.concatenate([np.ravel(a) for a in column]) for column in zip(*rows, strict=True)
        ]
        return cls(*columns)

    @classmethod
    def of(cls, args, y, expected, limit) -> tuple:
        x = args[0].astype(np.float64)
        binade = np.floor(np.log2(np.clip(np.abs(x), 1, 1e308)))
        ulp = float(ml_dtypes.finfo(args[0].dtype).eps) * np.exp2(binade)
        step = np.full(x.shape, float(args[1]) if len(args) > 1 else np.nan)
        return x, y, expected, ulp, ~(np.abs(y - expected) <= limit), step


def structure(submission: Submission, name: str) -> str | None:
    """The label of a function that is missing, untouched or whose cell failed; None otherwise."""
    if not submission.defined(name):
        return "raises" if submission.cell_failures else "not_defined"
    return "not_attempted" if name in submission.stubs else None


class Diagnosis:
    """The labels of one submission for one elementwise problem."""

    def __init__(self, submission: Submission, problem: Problem):
        self.submission, self.problem = submission, problem
        self.checks = Elementwise(submission, problem)
        self.hows = self.checks.ways()
        self._answers: dict = {}

    def labels(self) -> list[str]:
        """At most three labels, most telling first; empty for a right answer."""
        fatal = structure(self.submission, self.problem.name) or self._example()
        fatal = fatal or self._memorised() or self._shape()
        if fatal:
            return [fatal]
        found = [self._dtype(), self._traceable(), self._values(), self._derivative()]
        if found[1] and not self._right_on_concrete_arrays():
            # What is wrong with the values comes first, that it cannot be traced after it.
            found = [found[0], found[2], found[1], found[3]]
        labels = [label for label in found if label]
        return labels[:MOST] or (["raises"] if self._incomplete() else [])

    # ---- structure

    def _call(self, args):
        return self.submission.call(self.problem.name, *args)

    def _example(self) -> str | None:
        try:
            result = self._call(self.problem.example)
        except (SubmissionRaised, WireError):
            return "raises"
        if result is None:
            return "returns_none"
        return None if isinstance(result, np.ndarray) else "raises"

    def _memorised(self) -> str | None:
        """Right on the example, but constant on other x of its length, or no other lengths."""
        example = self.problem.example
        result, expected = self._call(example), self.problem.value(*example)
        limit = tolerance(self.problem, expected, "float32")
        if result.shape != expected.shape or not (np.abs(result - expected) <= limit).all():
            return None
        others = self._like_example()
        try:
            results = [self._call(args) for args in others]
            for length in LENGTHS:
                self._call(self.checks.of_length(length))
        except SubmissionRaised:
            return "memorised"
        except WireError:
            return None
        constant = _constant(results) and not _constant([self.problem.value(*a) for a in others])
        return "memorised" if constant else None

    def _like_example(self) -> list[tuple]:
        """Arguments of the example's length, with numbers of every kind but the example's own."""
        example = self.problem.example[0]
        every = []
        for kind in self.checks.kinds():
            x = self.checks.args("float32", kind)[0]
            x = np.sort(x[~np.isin(np.abs(x), np.abs(example))])
            x = x[np.linspace(0, x.size - 1, example.size).astype(int)]
            every += [x, -x]
        return [self.problem.arguments(x, self.checks.draws) for x in every]

    def _shape(self) -> str | None:
        lengths = [self.checks.of_length(length) for length in LENGTHS]
        kinds = [self.checks.args("float32", kind) for kind in self.checks.kinds()]
        for args in (self.problem.example, *lengths, *kinds):
            try:
                result = self._call(args)
            except (SubmissionRaised, WireError):
                continue
            if isinstance(result, np.ndarray) and result.shape != args[0].shape:
                return "shape_changed"
        return None

    # ---- every answer, asked for in every way

    def _ask(self, how, args, g) -> list[np.ndarray] | None:
        """The value and, of a vjp, what is pulled back: for g, and in a plain vjp for ones.

        None if these are not to be had.
        """
        (op, mode), name = how, self.problem.name
        try:
            if op == "call":
                arrays = [self.submission.call(name, *args, mode=mode)]
            else:
                # The same questions as the checks', so that they are not asked again.
                weights = [g, np.ones_like(g)] if mode == "plain" else [g]
                value, pulled = self.submission.vjp(name, args, weights, mode=mode)
                arrays = [value, *(item[0] for item in pulled)]
        except (SubmissionRaised, WireError, IndexError, TypeError):
            return None
        fits = all(isinstance(a, np.ndarray) and a.shape == args[0].shape for a in arrays)
        return arrays if fits else None

    def _every(self, how) -> list[tuple]:
        """(args, g, arrays or None) for every dtype and kind of input, asked in one way."""
        if how not in self._answers:
            self._answers[how] = [
                (args, g, self._ask(how, args, g))
                for dtype in self.hows[how]
                for args, g in self.checks.batches(dtype, how[1])
            ]
        return self._answers[how]

    def _incomplete(self) -> bool:
        """Something raised, or gave no array of x's shape, in any way it was asked for."""
        return any(arrays is None for how in self.hows for _, _, arrays in self._every(how))

    def _dtype(self) -> str | None:
        for how in self.hows:
            for args, _, arrays in self._every(how):
                if arrays and any(a.dtype != args[0].dtype for a in arrays):
                    return "dtype_changed"
        return None

    def _traceable(self) -> str | None:
        """What a plain call answers raises under jit, or inside vjp."""
        for how in self.hows:
            if how[1] != "vmap":
                for (_, _, plain), (_, _, traced) in zip(
                    self._every(CALL), self._every(how), strict=False
                ):
                    if plain is not None and traced is None:
                        return "not_traceable"
        return None

    def _right_on_concrete_arrays(self) -> bool:
        complete = all(arrays is not None for _, _, arrays in self._every(CALL))
        return complete and not self._samples(CALL).wrong.any()

    # ---- values

    def _samples(self, how) -> Samples | None:
        """All values that came back; None if there are none."""
        rows = []
        for args, _, arrays in self._every(how):
            if arrays is not None:
                expected = self.problem.value(*args)
                limit = tolerance(self.problem, expected, args[0].dtype.name)
                rows.append(Samples.of(args, numbers(arrays[0]), expected, limit))
        return Samples.gather(rows) if rows else None

    def _values(self) -> str | None:
        """The first label that explains the first way of asking in which values are wrong.

        NaN and infinity count in whichever way they come.
        """
        values = [s for s in map(self._samples, self.hows) if s is not None]
        wrong = next((s for s in values if s.wrong.any()), None)
        slopes = self._slopes(VJP, ones=True) if self.problem.slope is not None else None
        every = [*values, slopes] if slopes is not None else values
        for label, rule in VALUE_RULES[self.problem.name].items():
            if label == "nan_at_zero":
                hit = any((np.isnan(s.y) & (s.x == 0)).any() for s in every)
            elif label == "not_finite":
                hit = any((~np.isfinite(s.y)).any() for s in every)
            else:
                hit = wrong is not None and rule(wrong)
            if hit:
                return label
        return None

    # ---- derivative

    def _slopes(self, how, dtypes=FLOATS, ones=False) -> Samples | None:
        """The diagonal of the Jacobian: what is pulled back, divided by the cotangent."""
        rows = []
        for args, g, arrays in self._every(how) if how[0] == "vjp" else ():
            if arrays is not None and args[0].dtype.name in dtypes:
                weights = np.ones(g.shape) if ones else g.astype(np.float64)
                slope = self.problem.slope(*args)
                limit = pulled_tolerance(self.problem, slope * weights, args[0].dtype.name)
                with np.errstate(over="ignore"):
                    y = numbers(arrays[2 if ones else 1]) / weights
                rows.append(Samples.of(args, y, slope, limit / np.abs(weights)))
        return Samples.gather(rows) if rows else None

    def _derivative(self) -> str | None:
        """The first way of asking in which the derivative is wrong, and there the first dtype."""
        if self.problem.slope is None:
            return None
        structural = self._jacobian()
        if structural:
            return structural
        for how in self.hows:
            for dtype in FLOATS:
                slopes = self._slopes(how, [dtype])
                if slopes is not None and slopes.wrong.any():
                    return name_slopes(slopes)
        return None

    def _jacobian(self) -> str | None:
        """Not linear in the cotangent, or with entries off the diagonal; at one x in float32."""
        args, g = self.checks.args("float32"), self.checks.draws.cotangent("float32")
        unit, scaled = list(np.eye(g.size, dtype=g.dtype)), [g, *scalings(g)]
        try:
            name = self.problem.name
            _, pulled = self.submission.vjp(name, args, unit)
            rows = numbers(np.stack([item[0] for item in pulled]))
            _, pulled = self.submission.vjp(name, args, scaled)
            got = numbers(np.stack([item[0] for item in pulled]))
        except (SubmissionRaised, WireError, IndexError, TypeError, ValueError, AttributeError):
            return None  # that it raises is told elsewhere
        weights = np.stack(scaled).astype(np.float64)
        # A smooth slope is as exact as its largest value: 1 - t**2 cancels in its tails.
        size = np.abs(rows) + np.abs(rows).max() * np.eye(g.size)
        limit = 16 * float(np.finfo(np.float32).eps) * (np.abs(weights) @ size)
        if (np.abs(got - weights @ rows) > limit).any():
            return "ignored_cotangent"
        return "mixed_jacobian" if connected(rows).any() else None


def _constant(arrays: list[np.ndarray]) -> bool:
    return all(np.array_equal(array, arrays[0]) for array in arrays[1:])


def name_slopes(slopes: Samples) -> str:
    """The label of a diagonal that is not the expected one, from its ratio to it."""
    usable = slopes.expected != 0
    if not usable.any():
        return "soft_gradient"
    ratio, eps = (slopes.y / np.where(usable, slopes.expected, 1))[usable], slopes.ulp.min()
    away = slopes.x[usable] != 0

    def close(target) -> np.ndarray:
        return np.abs(ratio - target) <= 16 * eps * abs(target)

    if close(0).all():
        return "zero_gradient"
    if close(-1).all():
        return "negated_gradient"
    if close(np.median(ratio)).all() and not close(1).any():
        true_derivative = np.ptp(slopes.expected) > 0 and close(2).all()
        return "true_derivative" if true_derivative else "scaled_gradient"
    # At zero itself a mask may be of two minds: maximum(x, 0) passes half on.
    if close(0).any() and (close(0) | close(1))[away].all():
        return "clipped_gradient"
    return "soft_gradient"
