"""The checks of ``largest_safe(dtype)``, which takes a dtype and gives a Python int."""

import jax.numpy as jnp
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


class LimitDiagnosis:
    """The labels of one submission."""

    def __init__(self, submission: Submission):
        self.submission = submission

    def _ask(self, argument):
        try:
            return self.submission.call(NAME, argument)
        except (SubmissionRaised, WireError):
            return "raised"

    def labels(self) -> list[str]:
        fatal = structure(self.submission, NAME)
        if fatal:
            return [fatal]
        first = self._ask(EXAMPLE)
        if first is None or first == "raised":
            return ["returns_none" if first is None else "raises"]
        if not _is_int(first):
            return ["not_an_int"]
        got = [self._ask(DTYPES[dtype]) for dtype in FLOATS]
        return [label] if (label := self._values(got)) else self._spellings()

    def _values(self, got: list) -> str | None:
        want = [expected(dtype) for dtype in FLOATS]
        if got == want:
            return None
        if not all(_is_int(value) for value in got):
            # The shown example may be all that was answered.
            return "memorised" if got[FLOATS.index("float16")] == 2048 else "not_an_int"
        if len(set(got)) == 1:
            return "memorised" if got[0] == expected("float16") else "one_dtype"
        ratios = {value / right for value, right in zip(got, want, strict=True)}
        if ratios in ({2.0}, {0.5}):
            return "off_by_a_bit"
        if {value - right for value, right in zip(got, want, strict=True)} <= {-1, 0, 1, 2}:
            return "next_to_limit"
        if got == [int(jnp.finfo(DTYPES[dtype]).max) for dtype in FLOATS]:
            return "largest_float"
        return "wrong_values"

    def _spellings(self) -> list[str]:
        got = [self._ask(dtype) for dtype in FLOATS]
        return ["dtype_like"] if got != [expected(dtype) for dtype in FLOATS] else []
