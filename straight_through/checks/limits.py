"""The checks of ``largest_safe(dtype)``, which takes a dtype and gives a Python int."""

import ml_dtypes
import numpy as np

from straight_through.checks import CheckFailed
from straight_through.checks.diagnosis import structure
from straight_through.checks.draws import FLOATS, significand_bits
from straight_through.submission import Submission, SubmissionRaised
from straight_through.wire import DTYPES, WireError

NAME = "largest_safe"
EXAMPLE = DTYPES["float16"]


def expected(dtype: str) -> int:
    return 2 ** significand_bits(dtype)


def _is_int(value) -> bool:
    return type(value) is int


def _is_right(value, dtype: str) -> bool:
    return _is_int(value) and value == expected(dtype)


class LargestSafe:
    """The checks on one submission."""

    def __init__(self, submission: Submission):
        self.submission = submission

    def _call(self, argument, shown: str):
        try:
            return self.submission.call(NAME, argument)
        except SubmissionRaised as raised:
            raise CheckFailed(
                "Your code raised an exception.",
                f"{NAME}({shown})",
                raised.failure.sentence,
                "a Python int",
            ) from None

    def _compare(self, argument, shown: str, dtype: str):
        got = self._call(argument, shown)
        if not _is_int(got):
            kind = "a NumPy or JAX number" if isinstance(got, np.ndarray) else type(got).__name__
            raise CheckFailed(
                "The answer is no Python int.", f"{NAME}({shown})", f"{got!r} ({kind})", "an int"
            )
        if got != expected(dtype):
            raise CheckFailed(
                "The limit is not right.", f"{NAME}({shown})", str(got), str(expected(dtype))
            )

    def is_int(self):
        got = self._call(EXAMPLE, "float16")
        if not _is_int(got):
            raise CheckFailed(
                "The answer is no Python int.", f"{NAME}(float16)", repr(got)[:80], "an int"
            )

    def limits(self):
        for dtype in FLOATS:
            self._compare(DTYPES[dtype], dtype, dtype)

    def spellings(self):
        """A dtype may come as a string or as a scalar type as well."""
        for dtype in FLOATS:
            self._compare(dtype, repr(dtype), dtype)


RAISED = object()  # in place of an answer


class LimitDiagnosis:
    """The labels of one submission."""

    def __init__(self, submission: Submission):
        self.submission = submission

    def _ask(self, argument):
        try:
            return self.submission.call(NAME, argument)
        except (SubmissionRaised, WireError):
            return RAISED

    def labels(self) -> list[str]:
        label = structure(self.submission, NAME) or self._example() or self._values()
        return [label] if label else self._spellings()

    def _example(self) -> str | None:
        first = self._ask(EXAMPLE)
        if first is RAISED:
            return "dtype_like" if _is_right(self._ask("float16"), "float16") else "raises"
        if first is None:
            return "returns_none"
        return None if _is_int(first) else "not_an_int"

    def _values(self) -> str | None:
        got = {dtype: self._ask(DTYPES[dtype]) for dtype in FLOATS}
        if all(_is_right(value, dtype) for dtype, value in got.items()):
            return None
        whole = {value for value in got.values() if _is_int(value)}
        if whole == {expected("float16")}:  # for the others the same, or nothing
            return "memorised"
        if any(value is RAISED for value in got.values()):
            return "raises"
        if not all(_is_int(value) for value in got.values()):
            return "not_an_int"
        if len(whole) == 1:
            return "one_dtype"
        pairs = [(value, expected(dtype)) for dtype, value in got.items()]
        if all(value == 2 * right for value, right in pairs) or all(
            2 * value == right for value, right in pairs
        ):
            return "off_by_a_bit"
        if all(-1 <= value - right <= 2 for value, right in pairs):
            return "next_to_limit"
        if all(value == int(ml_dtypes.finfo(DTYPES[dtype]).max) for dtype, value in got.items()):
            return "largest_float"
        return "wrong_values"

    def _spellings(self) -> list[str]:
        every = all(_is_right(self._ask(dtype), dtype) for dtype in FLOATS)
        return [] if every else ["dtype_like"]
