"""The four explorers: controls on the left, a pure function of their state on the right."""

import html
from collections.abc import Callable

import ipywidgets
import numpy as np

from straight_through.plots.descent import STEPS, RacePicture, RaceState, race_curves
from straight_through.plots.estimator import SurrogatePicture, SurrogateState, surrogate_curves
from straight_through.plots.floats import DTYPES, RoundingPicture, RoundingState, rounding_curves
from straight_through.plots.jacobian import TITLES, N, ViewsPicture, ViewsState, views_curves
from straight_through.plots.sampling import Own
from straight_through.surrogates import FORWARDS, SURROGATES
from straight_through.widgets.controls import Number, choice
from straight_through.widgets.explorer import Explorer
from straight_through.widgets.question import Question

_NOTHING = "nothing"  # a list shows None as an empty line
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


class _Half:
    """A drop-down list of halves and one number for each parameter of the chosen one."""

    def __init__(self, title: str, table, value, on_change, extra: list[tuple[str, object]] = ()):
        self._table, self._on_change, self._numbers = table, on_change, {}
        options = [*extra, *((half.title, name) for name, half in table.items())]
        self.control = choice(title, options, value, self._chosen)
        self._box, self._source = ipywidgets.VBox(), ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self.control, self._box, self._source])
        self._show()

    def _show(self) -> None:
        half = self._table.get(self.control.value)
        numbers = [self._number(half, p) for p in half.parameters] if half else []
        self._box.children = [number.widget for number in numbers]
        words = f"{half.formula}. Edge: {half.edge}. Source: {half.source}." if half else ""
        self._source.value = (
            "<div style='color:var(--jp-ui-font-color2,#616161);font-size:12px;line-height:1.4;"
            f"margin:0 0 6px'>{html.escape(words)}</div>"
        )

    def _number(self, half, p) -> Number:
        if (half.name, p.name) not in self._numbers:
            whole = p.name == "bits"
            self._numbers[half.name, p.name] = Number(
                p.title, p.default, p.low, p.high, p.step, self._on_change, whole
            )
        return self._numbers[half.name, p.name]

    def _chosen(self) -> None:
        self._show()
        self._on_change()

    @property
    def values(self) -> dict[str, float]:
        """The parameters. Raises ValueError with a sentence where one is out of its range."""
        half = self._table.get(self.control.value)
        values = {}
        for p in half.parameters if half else ():
            value = self._number(half, p).value
            if not p.low <= value <= p.high:
                raise ValueError(f"{p.title} must be from {p.low:g} to {p.high:g}.")
            values[p.name] = value
        return values


class SurrogateExplorer(Explorer):
    name = "surrogate"
    caption = (
        "Values do not change with the surrogate, derivatives do. The dashed curve is the integral "
        "of the derivative: the function that training behaves as if it had."
    )

    def __init__(self, own, forward, surrogate, compare, x, reach, question):
        self._own = own
        extra = [(f"{own.__name__} (yours)", "own")] if own else []
        self.forward = _Half("forward", FORWARDS, forward, self.refresh)
        self.surrogate = _Half(
            "surrogate", SURROGATES, "own" if own else surrogate, self.refresh, extra
        )
        self.other = _Half(
            "compare with", SURROGATES, compare or _NOTHING, self.refresh, [("nothing", _NOTHING)]
        )
        self.x = Number("probe x", x, -reach, reach, 0.05, self.refresh)
        self.reach = Number("axis reach", reach, 1.0, 10.0, 0.5, self.refresh)
        controls = [self.forward, self.surrogate, self.other, self.x, self.reach]
        super().__init__(SurrogatePicture(), [c.widget for c in controls], question)

    def compute(self):
        x, reach = self.x.value, self.reach.value
        if not abs(x) <= _LARGEST_FLOAT32:
            raise ValueError(f"{x:g} is beyond the largest float32, 3.4e38. Type a smaller x.")
        if not 1e-3 <= reach <= 1e6:
            raise ValueError("axis reach must be from 0.001 to 1000000.")
        forward, surrogate, other = (
            half.control.value for half in (self.forward, self.surrogate, self.other)
        )
        return surrogate_curves(
            SurrogateState(
                "identity" if surrogate == "own" else surrogate,
                forward,
                None if other == _NOTHING else other,
                x,
                reach,
                self.surrogate.values,
                self.forward.values,
                self.other.values,
                self._own if surrogate == "own" else None,
            )
        )


class RoundingExplorer(Explorer):
    name = "rounding"
    caption = (
        "sg is stop_gradient. All three forms have derivative 1 everywhere; only one has the "
        "values of sign everywhere."
    )

    def __init__(self, dtype, exponent, question):
        self._dtype = choice("dtype", [(d, d) for d in DTYPES], dtype, self.refresh)
        self.exponent = Number("exponent of x", exponent, -10, 63, 1, self.refresh, whole=True)
        self.significand = Number("significand", 1.65, 1.05, 1.95, 0.05, self.refresh)
        controls = [self._dtype, self.exponent.widget, self.significand.widget]
        super().__init__(RoundingPicture(), controls, question)

    def compute(self):
        return rounding_curves(
            RoundingState(self._dtype.value, self.exponent.value, self.significand.value)
        )


class Race(Explorer):
    name = "race"
    caption = (
        "Each lane is the latent weight w of one runner; in the grey half q = sign(w) has the "
        "larger loss. Start, loss and learning rate are the same: only the derivative of sign "
        "differs."
    )

    def __init__(self, learning_rate, start, target, seed, question):
        self.rate = Number("learning rate", learning_rate, 0.0, 1.0, 0.01, self.refresh)
        self.start = Number("start w", start, -3.0, 3.0, 0.05, self.refresh)
        self.target = Number("target", target, -1.5, 1.5, 0.05, self.refresh)
        self.seed = Number("seed", seed, 0, 20, 1, self.refresh, whole=True)
        self.step = Number("step", STEPS, 0, STEPS, 1, self.refresh, whole=True)
        self._play = ipywidgets.Play(min=0, max=STEPS, value=0, interval=80, show_repeat=False)
        self._play.observe(lambda change: setattr(self.step, "value", change["new"]), "value")
        numbers = [self.rate, self.start, self.target, self.seed, self.step]
        super().__init__(RacePicture(), [*(n.widget for n in numbers), self._play], question)

    def compute(self):
        return race_curves(
            RaceState(
                self.rate.value,
                self.start.value,
                self.target.value,
                self.seed.value,
                self.step.value,
            )
        )


class ThreeViews(Explorer):
    name = "three_views"
    caption = (
        "Forward mode takes a direction of the input to a direction of the output; reverse mode "
        "takes a cotangent of the output back to the input. Both are the Jacobian at work."
    )

    def __init__(self, own, f, question):
        self._own = own
        options = [(title, name) for name, title in TITLES.items()]
        if own:
            options.insert(0, (f"{own.__name__} (yours)", "own"))
        self._f = choice("function", options, "own" if own else f, self.refresh)
        first = ViewsState()
        self.direction = self._vector("direction t", first.direction)
        self.cotangent = self._vector("cotangent g", first.cotangent)
        numbers = [n.widget for n in (*self.direction, *self.cotangent)]
        super().__init__(ViewsPicture(), [self._f, *numbers], question)

    def _vector(self, title: str, values: tuple[float, ...]) -> list[Number]:
        return [Number(f"{title}[{i}]", values[i], -3.0, 3.0, 0.25, self.refresh) for i in range(N)]

    def compute(self):
        f = self._own if self._f.value == "own" else self._f.value
        vectors = (tuple(n.value for n in v) for v in (self.direction, self.cotangent))
        return views_curves(ViewsState(f, *vectors))


def explore(
    f: Callable | str = "identity",
    *,
    forward: str = "sign",
    compare: str | None = None,
    x: float = 0.5,
    reach: float = 3.0,
    question: Question | None = None,
) -> SurrogateExplorer:
    """Explore a surrogate by name, or your own function of a one-dimensional float array.

    ``x`` is the probe point, [-reach, reach] the axis. With a ``question`` the picture is locked
    until it is answered. Raises ValueError for an unknown name; whatever goes wrong inside your
    function is said in the view.
    """
    own = Own(f) if callable(f) else None
    for name, table in (
        (forward, FORWARDS),
        (compare or "true", SURROGATES),
        ("identity" if own else f, SURROGATES),
    ):
        if name not in table:
            raise ValueError(f"There is no {name!r}. Choose one of: {', '.join(table)}.")
    return SurrogateExplorer(own, forward, f, compare, float(x), float(reach), question)


def explore_rounding(
    dtype: str = "float32", *, exponent: int = 4, question: Question | None = None
) -> RoundingExplorer:
    """Explore where three ways to write the estimator are right, for x near 2^exponent."""
    rounding_curves(RoundingState(dtype, exponent))  # says what is wrong, if anything
    return RoundingExplorer(dtype, exponent, question)


def race(
    *,
    learning_rate: float = 0.1,
    start: float = -1.5,
    target: float = 1.0,
    seed: int = 0,
    question: Question | None = None,
) -> Race:
    """Race five gradients of one latent weight; see ``plots.race`` for the loss."""
    race_curves(RaceState(learning_rate, start, target, seed))
    return Race(learning_rate, start, target, seed, question)


def three_views(f: Callable | str = "ste", *, question: Question | None = None) -> ThreeViews:
    """Explore the Jacobian of f, a name or your own function, with a direction and a cotangent."""
    own = Own(f) if callable(f) else None
    if own is None:
        views_curves(ViewsState(f))
    return ThreeViews(own, f, question)
