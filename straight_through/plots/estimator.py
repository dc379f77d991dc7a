"""One estimator in two panels: its values and its derivative, a second one laid over it."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from matplotlib.figure import Figure

from straight_through.plots import sampling, style
from straight_through.surrogates import FORWARDS, SURROGATES, lookup

_TINY = np.float32(1e-30)
OWN_POINTS = 241  # a learner's function gets a Jacobian of this size


@dataclass(frozen=True)
class SurrogateState:
    """What the picture shows. A function ``own`` replaces forward and surrogate.

    ``compare`` is the name of a second surrogate or None, x the probe point; the axis shows
    [-reach, reach].
    """

    surrogate: str = "identity"
    forward: str = "sign"
    compare: str | None = None
    x: float = 0.5
    reach: float = 3.0
    parameters: Mapping[str, float] = field(default_factory=dict)
    forward_parameters: Mapping[str, float] = field(default_factory=dict)
    compare_parameters: Mapping[str, float] = field(default_factory=dict)
    own: sampling.Own | None = None

    @property
    def shows_true(self) -> bool:
        """Whether the true derivative has a line of its own."""
        return self.own is None and "true" not in (self.surrogate, self.compare)

    @property
    def name(self) -> str:
        if self.own is not None:
            return self.own.__name__
        return SURROGATES[self.surrogate].title


@dataclass(frozen=True)
class Line:
    """One estimator: on the grid, and at the probe point alone (arrays of shape (1,))."""

    name: str
    curve: sampling.Sampled
    soft: np.ndarray
    probe: sampling.Sampled
    soft_at_probe: float


@dataclass(frozen=True)
class SurrogateCurves:
    """All numbers of the picture. ``true`` is NaN for a learner's own function."""

    state: SurrogateState
    main: Line
    other: Line | None
    true: np.ndarray
    true_at_probe: float

    @property
    def readout(self) -> list[tuple[str, str]]:
        """Names and numbers at the probe point, in reading order."""
        # All digits: a value of 1.0000002 is a finding.
        show = style.shortest
        rows = [("x", show(self.state.x)), ("value", show(self.main.probe.value[0]))]
        rows.append((f"derivative, {self.main.name}", show(self.main.probe.slope[0])))
        if self.other:
            rows.append((f"derivative, {self.other.name}", show(self.other.probe.slope[0])))
        if self.state.shows_true:
            rows.append(("true derivative", show(self.true_at_probe)))
        off = abs(self.state.x) > self.state.reach
        soft = "off the axis" if off else style.number(self.main.soft_at_probe)
        rows.append(("soft function", soft))
        return rows

    @property
    def note(self) -> str:
        return f"{self.main.name}: {self.main.curve.note}" if self.main.curve.note else ""

    @property
    def alt(self) -> str:
        shown = f"{self.main.name}" + (f" and {self.other.name}" if self.other else "")
        forward = "" if self.state.own else f" of {FORWARDS[self.state.forward].title}"
        slopes = self.main.curve.slope[np.isfinite(self.main.curve.slope)]
        low, high = (slopes.min(), slopes.max()) if slopes.size else (np.nan, np.nan)
        return (
            f"Values and derivative{forward} with {shown}, for x from {-self.state.reach:g} to "
            f"{self.state.reach:g}. The derivative of {self.main.name} runs from "
            f"{style.number(low)} to {style.number(high)}."
        )

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The curves as columns for a CSV file."""
        columns = {"x": self.main.curve.x, "value": self.main.curve.value}
        columns |= {f"derivative {self.main.name}": self.main.curve.slope, "soft": self.main.soft}
        if self.other:
            columns |= {f"derivative {self.other.name}": self.other.curve.slope}
            columns |= {f"soft {self.other.name}": self.other.soft}
        return columns | ({"true derivative": self.true} if self.state.shows_true else {})


def _between(low: float, high: float) -> float:
    """Halfway across the jump at 0, where the soft function starts."""
    middle = (low + high) / 2
    return middle if np.isfinite(middle) else 0.0


def _line(name: str, curve: sampling.Sampled, probe: sampling.Sampled, at_zero: float) -> Line:
    known = np.isfinite(curve.slope)
    soft = sampling.soft(curve.x, np.where(known, curve.slope, 0.0), at_zero)
    soft = soft if known.any() else np.full(soft.shape, np.nan)
    x = probe.x[0]
    inside = curve.x[0] <= x <= curve.x[-1] and np.isfinite(probe.slope[0])
    return Line(name, curve, soft, probe, float(np.interp(x, curve.x, soft)) if inside else np.nan)


def surrogate_curves(state: SurrogateState) -> SurrogateCurves:
    """Compute everything that the picture of ``state`` shows, with JAX.

    Raises ValueError for an unknown name or parameter.
    """
    front, front_values = lookup(FORWARDS, state.forward, state.forward_parameters)
    names = [(state.surrogate, state.parameters), (state.compare, state.compare_parameters)]
    chosen = [(name, lookup(SURROGATES, name, p)[1]) if name else None for name, p in names]
    if state.own is not None:
        chosen[0] = None
    edges = front.edges(**front_values)
    for entry in filter(None, chosen):
        edges += SURROGATES[entry[0]].edges(**entry[1])
    count = 401 if state.own is None else OWN_POINTS
    x = sampling.grid(state.reach, edges, count)
    extra = np.array([state.x, -_TINY, _TINY], np.float32)

    def registered(name: str, values: dict) -> tuple[Line, np.ndarray]:
        # The probe point and both sides of 0 ride along: one call, one compiled program.
        whole, true = sampling.registered(
            state.forward, name, np.concatenate([x, extra]), front_values, values
        )
        curve = sampling.Sampled(whole.x[:-3], whole.value[:-3], whole.slope[:-3])
        probe = sampling.Sampled(whole.x[-3:-2], whole.value[-3:-2], whole.slope[-3:-2])
        start = _between(*whole.value[-2:])
        return _line(SURROGATES[name].title, curve, probe, start), true[:-2]

    true = np.full(x.size + 1, np.nan)
    if state.own is None:
        main, true = registered(*chosen[0])
    else:
        curve = own_curve(state.own, x.tobytes())
        probe = sampling.probe(state.own, x, state.x)
        nearest = np.argsort(np.abs(curve.x), kind="stable")[1:3]
        main = _line(state.name, curve, probe, _between(*curve.value[nearest]))
    other = registered(*chosen[1])[0] if chosen[1] else None
    return SurrogateCurves(state, main, other, true[:-1], float(true[-1]))


@functools.lru_cache(maxsize=16)
def own_curve(own: sampling.Own, x: bytes) -> sampling.Sampled:
    """A learner's function at float32 x; kept, as a moved probe needs no new Jacobian."""
    return sampling.sample(own, np.frombuffer(x, np.float32))


def _ceiling(top: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... so that the axis stays while a slider moves a little."""
    top = max(float(top), 1.0)
    unit = 10.0 ** np.floor(np.log10(top))
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= top * 0.999)


class SurrogatePicture(style.Picture):
    """Two panels over one x axis; ``show`` may be called again and again."""

    def __init__(self):
        super().__init__(7.2, 4.7)
        self.values = self.figure.add_subplot(2, 1, 1)
        self.slopes = self.figure.add_subplot(2, 1, 2)
        self.figure.subplots_adjust(left=0.075, right=0.985, top=0.87, bottom=0.1, hspace=0.42)
        style.frame(self.values, "value, and the soft function behind each surrogate (dashed)")
        style.frame(self.slopes, "derivative", "x")
        self.limits = None
        self.legend = None
        self._lines()

    def _lines(self) -> None:
        def line(axes, **look):
            return self.moving(axes.plot([], [], **look)[0])

        main = dict(color=style.BLUE, linewidth=2.4)
        other = dict(color=style.VERMILLION, linewidth=2.2, linestyle=(0, (7, 2, 1.5, 2)))
        self.value = line(self.values, color=style.BLACK, linewidth=1.6, label="value")
        self.soft = line(self.values, **(main | dict(linestyle=(0, (4, 2)))))
        self.main = line(self.slopes, **main)
        self.other_soft, self.other = line(self.values, **other), line(self.slopes, **other)
        self.true = line(self.slopes, color=style.BLACK, linewidth=1.8, linestyle=":")
        at = dict(color=style.PURPLE, linewidth=1.3)
        self.probes = [self.moving(a.axvline(0.0, **at)) for a in (self.values, self.slopes)]
        dot = dict(
            linestyle="none",
            marker="o",
            markersize=6.5,
            markeredgecolor="white",
            color=style.PURPLE,
        )
        self.dots = [line(a, **dot) for a in (self.values, self.slopes)]

    def _frame(self, curves: SurrogateCurves) -> None:
        """Limits and legend: the part that is drawn anew only when it changes."""
        value = curves.main.curve.value[np.isfinite(curves.main.curve.value)]
        height = np.max(np.abs(value), initial=0.0)
        # Room for a soft function that is a little taller; the identity's may leave the frame.
        lines = [line for line in (curves.main, curves.other) if line]
        tallest = max(np.nanmax(np.abs(line.soft), initial=0.0) for line in lines)
        height = max(height, min(tallest, 1.9 * height))
        tops, bottoms = [], [0.0]
        for each in lines:
            slope = each.curve.slope[np.isfinite(each.curve.slope)]
            tops.append(np.max(slope, initial=0.0))
            bottoms.append(np.min(slope, initial=0.0))
        height, top = _ceiling(height), _ceiling(max(tops))
        bottom = _ceiling(-min(bottoms)) if min(bottoms) < -0.15 * top else 0.15 * top
        limits = (curves.state.reach, height, top, bottom)
        names = (curves.main.name, curves.other and curves.other.name, curves.state.shows_true)
        if (limits, names) == self.limits:
            return
        self.limits = (limits, names)
        for axes in (self.values, self.slopes):
            style.span(axes, "x", -curves.state.reach, curves.state.reach)
        style.span(self.values, "y", -1.3 * height, 1.3 * height)
        style.span(self.slopes, "y", -bottom, 1.15 * top)
        entries = [(self.value, "value"), (self.main, curves.main.name)]
        if curves.other:
            entries.append((self.other, curves.other.name))
        if curves.state.shows_true:
            entries.append((self.true, "true derivative"))
        if self.legend:
            self.legend.remove()
        handles, labels = zip(*entries, strict=True)
        self.legend = self.figure.legend(
            handles,
            labels,
            loc="upper left",
            frameon=False,
            ncols=4,
            fontsize=style.TEXT,
            handlelength=2.8,
            borderaxespad=0.3,
        )
        self.stale()

    def show(self, curves: SurrogateCurves) -> None:
        self._frame(curves)
        x, main, other = curves.main.curve.x, curves.main, curves.other
        self.value.set_data(x, main.curve.value)
        self.soft.set_data(x, main.soft)
        self.main.set_data(x, main.curve.slope)
        self.true.set_data(*((x, curves.true) if curves.state.shows_true else ([], [])))
        self.other.set_data(*((other.curve.x, other.curve.slope) if other else ([], [])))
        self.other_soft.set_data(*((other.curve.x, other.soft) if other else ([], [])))
        for probe in self.probes:
            probe.set_xdata([curves.state.x, curves.state.x])
        at = main.probe.x[0]
        self.dots[0].set_data([at, at], [main.probe.value[0], main.soft_at_probe])
        slopes = [line.probe.slope[0] for line in (main, other) if line]
        self.dots[1].set_data([at] * len(slopes), slopes)


def surrogate(
    f: Callable | str = "identity",
    *,
    forward: str = "sign",
    compare: str | None = None,
    x: float = 0.5,
    reach: float = 3.0,
    parameters: Mapping[str, float] | None = None,
    forward_parameters: Mapping[str, float] | None = None,
    compare_parameters: Mapping[str, float] | None = None,
) -> Figure:
    """Values and derivative of an estimator, and of a second one to compare, as a Figure.

    ``f`` is the name of a surrogate or a function of a one-dimensional float array, which then
    replaces ``forward`` too. ``x`` is marked; the axis shows [-reach, reach]. Raises ValueError
    for an unknown name or parameter; what goes wrong inside a function f is left blank.
    """
    own = sampling.Own(f) if callable(f) else None
    state = SurrogateState(
        "identity" if own else f,
        forward,
        compare,
        float(x),
        float(reach),
        parameters or {},
        forward_parameters or {},
        compare_parameters or {},
        own,
    )
    return style.still(SurrogatePicture(), surrogate_curves(state))
