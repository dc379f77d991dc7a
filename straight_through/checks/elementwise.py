"""The checks of a function that works element by element, from primitives that tell the story.

Each check raises CheckFailed at the first thing that is wrong. Visible and hidden checks, at home
and in class, are these same functions; they differ in the seed and the dtypes.
"""

import ml_dtypes
import numpy as np

from straight_through.checks import CheckFailed
from straight_through.checks.draws import FLOATS, LENGTH, Draws
from straight_through.checks.problems import Problem, cases
from straight_through.submission import Submission, SubmissionRaised
from straight_through.wire import DTYPES

SCALES = (60, -60)  # powers of two by which a float32 cotangent is scaled
LENGTHS = (1, 7, LENGTH)  # beside the example's; JAX compiles every operation anew for each
ONE = FLOATS[:1]
OWN_ROW = {"zero", "edge", "large_inputs", "largest", "limit"}  # inputs with a row of their own


def show(array, limit: int = 6) -> str:
    """An array as a learner would read it: few digits, few elements, its dtype if unusual."""
    if not isinstance(array, np.ndarray | np.generic):
        return repr(array)[:120]
    flat = np.asarray(array).reshape(-1)
    if flat.dtype.kind in "biu":
        shown = [str(item) for item in flat[:limit].tolist()]
    else:
        shown = [f"{float(item):.8g}" for item in flat[:limit].astype(np.float64)]
    more = ", ..." if flat.size > limit else ""
    body = f"[{', '.join(shown)}{more}]" if np.ndim(array) else (shown or ["?"])[0]
    return body


def describe(array) -> str:
    """Values, and the shape and dtype: what `came back` means when these are the matter."""
    if not isinstance(array, np.ndarray):
        return "None" if array is None else f"{array!r} ({type(array).__name__})"[:160]
    return f"{show(array)}, shape {array.shape}, {array.dtype.name}"


def called(problem: Problem, args, how: str = "") -> str:
    text = ", ".join(show(value) for value in args)
    return f"{how}{problem.name}({text}) in {args[0].dtype.name}"


def numbers(array: np.ndarray) -> np.ndarray:
    """In float64; of complex numbers the real part (that they are complex is told elsewhere)."""
    return np.real(array).astype(np.float64)


def tolerance(problem: Problem, expected: np.ndarray, dtype: str) -> np.ndarray | float:
    """How far off a value may be: nothing, or 8 eps of the dtype times the largest of its row."""
    if problem.exact:
        return 0.0
    return 8 * _eps(dtype) * np.max(np.abs(expected), axis=-1, keepdims=True)


def pulled_tolerance(problem: Problem, expected: np.ndarray, dtype: str) -> np.ndarray:
    """The same for a pulled-back cotangent; of a constant slope each entry is held to 8 eps."""
    if problem.exact:
        return 8 * _eps(dtype) * np.abs(expected)
    return tolerance(problem, expected, dtype)


def _eps(dtype: str) -> float:
    return float(ml_dtypes.finfo(DTYPES[dtype]).eps)


def _result(result, problem: Problem, args, how: str = "") -> np.ndarray:
    """The result as an array of x's shape, or CheckFailed."""
    x = args[0]
    if not isinstance(result, np.ndarray):
        raise CheckFailed(
            "The result is no array.",
            called(problem, args, how),
            describe(result),
            f"an array of shape {x.shape}",
        )
    if result.shape != x.shape:
        raise CheckFailed(
            "The result has another shape than x.",
            called(problem, args, how),
            f"shape {result.shape}",
            f"shape {x.shape}",
        )
    return result


def ask(question, problem: Problem, args, how: str = ""):
    """Ask the submission; what its code raises becomes a failed check with the learner's line."""
    try:
        return question()
    except SubmissionRaised as raised:
        raise CheckFailed(
            "Your code raised an exception.",
            called(problem, args, how),
            raised.failure.sentence,
            "a result",
        ) from None


def call(submission: Submission, problem: Problem, args, mode: str = "plain", how: str = ""):
    result = ask(lambda: submission.call(problem.name, *args, mode=mode), problem, args, how)
    return _result(result, problem, args, how)


def pull(submission: Submission, problem: Problem, args, cotangents, mode="plain", how=""):
    """The value under jax.vjp and one pulled-back cotangent for x for each cotangent."""

    def question():
        return submission.vjp(problem.name, args, cotangents, mode=mode)

    value, pulled = ask(question, problem, args, how)
    return _result(value, problem, args, how), [
        _result(item[0] if item else None, problem, args, how) for item in pulled
    ]


def compare(problem: Problem, args, result, how: str = "", what: str = "The values are not right."):
    """Values against the expected ones, with ``==`` where the problem is exact."""
    expected = problem.value(*args)
    got = numbers(result)
    limit = tolerance(problem, expected, args[0].dtype.name)
    wrong = ~(np.abs(got - expected) <= limit)
    if not wrong.any():
        return
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    first = tuple(a[at] if isinstance(a, np.ndarray) and a.shape else a for a in args)
    raise CheckFailed(
        f"{what} {int(wrong.sum())} of {wrong.size} are wrong; the first is at x = "
        f"{float(first[0]):.8g}.",
        called(problem, args, how),
        f"{_number(got[at])} at x = {float(first[0]):.8g}",
        _number(expected[at]),
        picture={
            "x": args[0].reshape(-1),
            "yours": got.reshape(-1),
            "expected": expected.reshape(-1),
        },
    )


def _number(value) -> str:
    return f"{float(value):.9g}"


def compare_pulled(problem: Problem, args, cotangent, pulled, how: str, what: str):
    """A pulled-back cotangent against slope times cotangent."""
    g = cotangent.astype(np.float64)
    expected = g * problem.slope(*args)
    got = numbers(pulled)
    limit = pulled_tolerance(problem, expected, args[0].dtype.name)
    wrong = ~(np.abs(got - expected) <= limit)
    if not wrong.any():
        return
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(g != 0, got / g, np.nan)
    raise CheckFailed(
        f"{what} {int(wrong.sum())} of {wrong.size} entries are wrong; the first is at x = "
        f"{float(args[0][at]):.8g}.",
        called(problem, args, how),
        f"{_number(got[at])} for the cotangent {_number(g[at])}",
        _number(expected[at]),
        picture={
            "x": args[0].reshape(-1),
            "slope": slopes.reshape(-1),
            "expected_slope": problem.slope(*args).reshape(-1),
        },
    )


VJP = "the vector-Jacobian product of "


class Elementwise:
    """The checks of one problem on one submission."""

    def __init__(self, submission: Submission, problem: Problem):
        self.submission, self.problem = submission, problem
        self.draws = Draws(submission.seed)

    def args(self, dtype: str, kind: str = "values"):
        return cases(self.problem.name, dtype, self.draws.seed)[kind]

    def kinds(self):
        return list(cases(self.problem.name, "float32", self.draws.seed))

    def of_length(self, length: int):
        x = np.resize(self.draws.moderate("float32"), length)
        return self.problem.arguments(x, self.draws)

    def cotangents(self, dtype: str) -> list[np.ndarray]:
        """What is pulled back at every x: weights of mixed sign and size, and ones."""
        g = self.draws.cotangent(dtype)
        return [g, np.ones_like(g)]

    def ways(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """All ways to ask for a value, (operation, mode), each with its dtypes; the widest first.

        One dtype has to do where JAX compiles anew for little to be learned: for a batch, which
        has a shape of its own, and for a plain call under jit where jit of the vjp says the rest.
        """
        if self.problem.slope is None:
            calls = {("call", "plain"): FLOATS, ("call", "jit"): FLOATS, ("call", "vmap"): ONE}
            return {**calls, ("vjp", "plain"): FLOATS}
        return {
            **{("call", "plain"): FLOATS, ("vjp", "plain"): FLOATS, ("vjp", "jit"): FLOATS},
            **{("call", "jit"): ONE, ("call", "vmap"): ONE, ("vjp", "vmap"): ONE},
        }

    def batches(self, dtype: str, mode: str = "plain"):
        """All arguments of a dtype with a cotangent: one x at a time; under vmap all as rows."""
        g = self.draws.cotangent(dtype)
        every = [self.args(dtype, kind) for kind in self.kinds()]
        if mode != "vmap":
            return [(args, g) for args in every]
        rows = np.stack([args[0] for args in every])
        weights = np.stack([np.roll(g, place) for place in range(len(every))])
        return [((rows, *every[0][1:]), weights)]

    def _pull(self, dtype: str, kind: str = "values", how: str = ""):
        """Arguments, cotangents, the value under vjp and what is pulled back. Asked only once."""
        args, weights = self.args(dtype, kind), self.cotangents(dtype)
        return args, weights, *pull(self.submission, self.problem, args, weights, how=how)

    # ---- structure

    def shape(self):
        for length in (len(self.problem.example[0]), *LENGTHS):
            call(self.submission, self.problem, self.of_length(length))

    def dtype(self):
        for dtype in FLOATS:
            args = self.args(dtype)
            got = [("The result", call(self.submission, self.problem, args))]
            if self.problem.slope is not None:
                got.append(("The gradient", self._pull(dtype)[3][0]))
            for what, array in got:
                if array.dtype != args[0].dtype:
                    raise CheckFailed(
                        f"{what} has another dtype than x.",
                        called(self.problem, args),
                        array.dtype.name,
                        args[0].dtype.name,
                    )

    # ---- values

    def values(self, *kinds: str):
        for kind in kinds or [kind for kind in self.kinds() if kind not in OWN_ROW]:
            for dtype in FLOATS:
                args = self.args(dtype, kind)
                compare(self.problem, args, call(self.submission, self.problem, args))

    def zero(self):
        self.values("zero")

    def edge(self):
        self.values("edge")

    def large_inputs(self):
        self.values(
            *(kind for kind in self.kinds() if kind in ("large_inputs", "largest", "limit"))
        )

    # ---- derivative

    def derivative(self):
        """With a cotangent of ones, as `grad` of a sum sends it: everywhere, in every dtype."""
        how, what = "the gradient of the sum of ", "The derivative is not right."
        for kind in self.kinds():
            for dtype in FLOATS:
                args, (_, ones), _, (_, back) = self._pull(dtype, kind, how)
                compare_pulled(self.problem, args, ones, back, how, what)

    def cotangent(self):
        """Weights of mixed sign and size come back as they should, and scale as they should."""
        for dtype in FLOATS:
            for kind in self.kinds():
                args, (g, _), _, (back, _) = self._pull(dtype, kind, VJP)
                self._compare_weighted(args, g, back)
        args, g = self.args("float32"), self.draws.cotangent("float32")
        scaled = scalings(g)
        _, pulled = pull(self.submission, self.problem, args, scaled, how=VJP)
        for weights, back in zip(scaled, pulled, strict=True):
            self._compare_weighted(args, weights, back)

    def _compare_weighted(self, args, g, back):
        what = f"The cotangent {show(g, 4)} is not passed on as it should be."
        compare_pulled(self.problem, args, g, back, VJP, what)

    def jacobian(self):
        """One row for each output: nothing off the diagonal."""
        args = self.args("float32")
        rows = jacobian(self.submission, self.problem, args)
        off = np.argwhere(connected(rows))
        if len(off):
            row, column = off[0]
            raise CheckFailed(
                "Output and input of different places are connected.",
                called(self.problem, args, "the Jacobian of "),
                f"{_number(rows[row, column])} in row {row}, column {column}",
                "0",
                picture={"jacobian": rows},
            )
        for row, g in zip(rows, np.eye(len(rows)), strict=True):
            compare_pulled(
                self.problem,
                args,
                g.astype(np.float32),
                row,
                "the Jacobian of ",
                "A row of the Jacobian is not right.",
            )

    # ---- transformations

    def inside_vjp(self):
        """The value that jax.vjp returns is the value of a plain call."""
        how = "the value under jax.vjp of "
        for kind in self.kinds():
            for dtype in FLOATS:
                args, _, value, _ = self._pull(dtype, kind, how)
                compare(self.problem, args, value, how)

    def jit(self):
        self._under("jit")

    def vmap(self):
        self._under("vmap")

    def _under(self, mode: str):
        """Values and pulled-back cotangents, for all inputs, under jit or vmap."""
        how, what = f"under {mode}, ", "The derivative is not right."
        for dtype in self.ways()["call", mode]:
            for args, _ in self.batches(dtype, mode):
                value = call(self.submission, self.problem, args, mode, how)
                compare(self.problem, args, value, how)
        for dtype in self.ways().get(("vjp", mode), ()):
            for args, g in self.batches(dtype, mode):
                value, (back,) = pull(self.submission, self.problem, args, [g], mode, how)
                compare(self.problem, args, value, how)
                compare_pulled(self.problem, args, g, back, how, what)


def scalings(g: np.ndarray) -> list[np.ndarray]:
    """A float32 cotangent times 0 and times powers of two: a vjp is linear in all of these."""
    return [np.zeros_like(g), *(np.ldexp(g, power) for power in SCALES)]


def connected(rows: np.ndarray) -> np.ndarray:
    """Where a Jacobian (n, n) connects different places. On its diagonal, NaN connects nothing."""
    return (rows != 0) & ~np.eye(len(rows), dtype=bool)


def jacobian(submission: Submission, problem: Problem, args) -> np.ndarray:
    """The Jacobian (n, n) for x, row by row from unit cotangents, in float64."""
    unit = list(np.eye(args[0].size, dtype=args[0].dtype))
    _, rows = pull(submission, problem, args, unit, how="the Jacobian of ")
    return np.stack([numbers(row) for row in rows])
