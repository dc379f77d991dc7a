"""Why the one-line STE breaks: three ways to write it, at every size of x."""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from straight_through.plots import style

DTYPES = ("float16", "bfloat16", "float32", "float64")
LOWEST = -10  # the strip starts at x = 2^-10
stop = jax.lax.stop_gradient


def one_line(x: jax.Array) -> jax.Array:
    return x + stop(jnp.sign(x) - x)


def left_to_right(x: jax.Array) -> jax.Array:
    return x + stop(jnp.sign(x)) - stop(x)


def zero_first(x: jax.Array) -> jax.Array:
    return (x - stop(x)) + stop(jnp.sign(x))


FORMS = {
    "x + sg(sign(x) - x)": one_line,
    "x + sg(sign(x)) - sg(x)": left_to_right,
    "(x - sg(x)) + sg(sign(x))": zero_first,
}


@dataclass(frozen=True)
class RoundingState:
    """x is ``significand`` times 2^``exponent``, rounded to ``dtype``."""

    dtype: str = "float32"
    exponent: int = 4
    significand: float = 1.65


@dataclass(frozen=True)
class RoundingCurves:
    """``values`` and ``errors`` have shape (3, n): one row a form, one column an exponent."""

    state: RoundingState
    bits: int
    exponents: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    x: float
    spacing: float
    stored: float
    here: np.ndarray
    slopes: np.ndarray

    @property
    def wrong_from(self) -> list[int | None]:
        """For each form the smallest exponent of the strip with a wrong value."""
        first = [np.flatnonzero(row) for row in self.errors]
        return [int(self.exponents[w[0]]) if w.size else None for w in first]

    @property
    def readout(self) -> list[tuple[str, str]]:
        rows = [("x", exact(self.x)), ("next float is away by", style.number(self.spacing))]
        rows += [(name, exact(v)) for name, v in zip(FORMS, self.here, strict=True)]
        rows.append(("derivative of each", ", ".join(style.number(s) for s in self.slopes)))
        rows.append(("room for x - 1", self.room))
        return rows

    @property
    def note(self) -> str:
        parts = []
        for name, first in zip(FORMS, self.wrong_from, strict=True):
            size = f"{style.number(self.state.significand)} · 2^{first}"
            parts.append(
                f"{name} is "
                + (f"first wrong at {size}" if first is not None else "right in every column")
            )
        return f"{self.state.dtype} has {self.bits} significant bits. " + "; ".join(parts) + "."

    @property
    def room(self) -> str:
        """Whether x - 1, which the one-liner has to store, is a float."""
        if self.spacing < 1 / 4.6:
            return f"x - 1 lies {style.number(1 / self.spacing)} ulp away: there is room for it."
        return f"x - 1 is {'a float' if self.spacing <= 1 else 'no float, so it is rounded'}."

    @property
    def alt(self) -> str:
        return (
            f"Three rows, one for each way to write the estimator; columns from 2^{LOWEST} to "
            f"2^{self.exponents[-1]}. {self.note} Below, the floats around x = {exact(self.x)}."
        )

    @property
    def columns(self) -> dict[str, np.ndarray]:
        return {"exponent": self.exponents} | dict(zip(FORMS, self.values, strict=True))


def exact(value: float) -> str:
    """Up to ten digits, so that 1.0000002 does not look like 1."""
    return f"{value:.10g}" if np.isfinite(value) else style.number(value)


@jax.jit
def _forms(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    pairs = [jax.vjp(form, x) for form in FORMS.values()]
    slopes = [pull(jnp.ones_like(x))[0] for _, pull in pairs]
    return jnp.stack([y for y, _ in pairs]), jnp.stack(slopes)


@functools.cache
def _limits(dtype: str) -> tuple[int, int, int]:
    info = jnp.finfo(dtype)
    bits = int(info.nmant) + 1
    return bits, min(bits + 10, int(info.maxexp) - 1), int(info.maxexp) - 1


def rounding_curves(state: RoundingState) -> RoundingCurves:
    """The three forms in ``state.dtype``, computed by JAX in that dtype.

    Raises ValueError if the dtype is unknown or x is no finite, normal float of it.
    """
    if state.dtype not in DTYPES:
        known = ", ".join(DTYPES)
        raise ValueError(f"There is no dtype {state.dtype!r} here. Choose one of: {known}.")
    bits, last, top = _limits(state.dtype)
    lowest = int(jnp.finfo(state.dtype).minexp)
    if not 1 < state.significand < 2:
        # A power of two has floats half as far apart below it; the number line shows one spacing.
        raise ValueError("The significand must be above 1 and below 2.")
    if not lowest <= state.exponent <= top:
        raise ValueError(f"{state.dtype} has exponents from {lowest} to {top}.")
    exponents = np.arange(LOWEST, last + 1)
    with jax.enable_x64(True):
        # One ulp of headroom: 1.99999 * 2^top must not round up to infinity.
        significand = np.clip(state.significand, 1 + 2.0 ** (1 - bits), 2 - 2.0 ** (1 - bits))
        points = np.ldexp(significand, np.append(exponents, state.exponent))
        x = jnp.asarray(points).astype(state.dtype)
        values, slopes = (np.asarray(a, np.float64) for a in _forms(x))
        stored = np.float64(x[-1] - 1)
        x = np.asarray(x, np.float64)
    spacing = 2.0 ** (np.frexp(x[-1])[1] - bits)
    return RoundingCurves(
        state,
        bits,
        exponents,
        values[:, :-1],
        values[:, :-1] - np.sign(x[:-1]),
        float(x[-1]),
        spacing,
        float((stored - x[-1]) / spacing),
        values[:, -1],
        slopes[:, -1],
    )


# Face, ink and name of: no error, an error of some ulps, an error of 1 or more.
_KINDS = (
    ("#DCEBF5", style.BLACK, "right"),
    (style.YELLOW, style.BLACK, "≈ off by ulps"),
    (style.VERMILLION, "white", "× lost"),
)


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class RoundingPicture(style.Picture):
    """Above: right, off or lost, for each form and size. Below: the floats around x.

    No text moves: drawing one line of it takes as long as all the rest.
    """

    def __init__(self):
        super().__init__(7.2, 4.2)
        self.strip = self.figure.add_axes((0.28, 0.5, 0.705, 0.38))
        self.line = self.figure.add_axes((0.02, 0.08, 0.965, 0.22))
        self.key = None
        for axes in (self.strip, self.line):
            style.frame(axes, "")
            axes.grid(False)
            axes.spines[["left", "bottom"]].set_visible(False)
            axes.tick_params(length=0)
        self.strip.set_ylim(2.5, -0.5)
        self.strip.set_yticks(range(3), list(FORMS), fontsize=style.SMALL, color=style.BLACK)
        self.column = self.moving(
            Rectangle((0, -0.5), 1, 3, fill=False, linewidth=2.6, zorder=5, edgecolor=style.PURPLE)
        )
        self.strip.add_patch(self.column)
        self._number_line()

    def _number_line(self) -> None:
        axes = self.line
        axes.set(xlim=(-4.7, 4.7), ylim=(-0.6, 1.1), yticks=[])
        axes.set_xticks(range(-4, 5), ["x" if k == 0 else f"{k:+d} ulp" for k in range(-4, 5)])
        axes.hlines(0, -4.7, 4.7, color="#8C8C8C", linewidth=1)
        axes.vlines(range(-4, 5), -0.3, 0.3, color=style.BLACK, linewidth=1.6)
        axes.set_title(
            "the floats around x (○); x - 1 as it should be (◆), as it is stored (▼)",
            loc="left",
            fontsize=style.TEXT,
        )
        axes.plot(
            [0],
            [0],
            "o",
            markersize=17,
            markerfacecolor="none",
            markeredgewidth=2.2,
            color=style.PURPLE,
        )
        look = dict(linestyle="none", markeredgecolor="white", markersize=11)
        self.wanted = self.moving(axes.plot([], [], marker="D", color=style.BLUE, **look)[0])
        self.stored = self.moving(axes.plot([], [], marker="v", color=style.VERMILLION, **look)[0])

    def _frame(self, curves: RoundingCurves) -> None:
        key = (curves.state.dtype, curves.errors.tobytes())
        if key == self.key:
            return
        self.key = key
        for artist in [*self.strip.patches, *self.strip.texts]:
            if artist is not self.column:
                artist.remove()
        kinds = np.where(curves.errors == 0, 0, np.where(np.abs(curves.errors) < 0.5, 1, 2))
        for row, kind in enumerate(kinds):
            for run in np.split(np.arange(kind.size), np.flatnonzero(np.diff(kind)) + 1):
                self._run(row, curves.exponents[run[0]] - 0.5, run.size, _KINDS[kind[run[0]]])
        first, last = int(curves.exponents[0]), int(curves.exponents[-1])
        self.strip.set_xlim(first - 0.5, last + 0.5)
        apart = 0.1 * (last - first)
        marks = [m for m in range(first, last + 1, 10) if abs(m - curves.bits) > apart]
        marks = sorted({*marks, curves.bits})
        self.strip.set_xticks(marks, ["2" + str(m).translate(_RAISED) for m in marks])
        title = f"{curves.state.dtype}: value of each form, by the size of x"
        self.strip.set_title(title, loc="left", fontsize=style.TEXT, x=-0.375)
        self.stale()

    def _run(self, row: int, left: float, width: int, kind: tuple[str, str, str]) -> None:
        """Neighbouring exponents of one kind, with its name if there is room."""
        face, ink, name = kind
        box = Rectangle((left, row - 0.44), width, 0.88, facecolor=face, linewidth=0)
        self.strip.add_patch(box)
        words = name if width > 5 else name[0].strip("r")
        self.strip.text(
            left + width / 2, row, words, ha="center", va="center", fontsize=style.SMALL, color=ink
        )

    def show(self, curves: RoundingCurves) -> None:
        self._frame(curves)
        first, last = curves.exponents[0], curves.exponents[-1]
        self.column.set_x(min(max(curves.state.exponent, first), last) - 0.5)
        away = -1 / curves.spacing
        near = abs(away) <= 4.6
        self.wanted.set_data([away] if near else [], [0] if near else [])
        self.stored.set_data([curves.stored] if near else [], [0.72] if near else [])


def rounding(dtype: str = "float32", exponent: int = 4, *, significand: float = 1.65) -> Figure:
    """The three forms at every size of x, and the floats around significand * 2^exponent.

    ``dtype`` is float16, bfloat16, float32 or float64; raises ValueError otherwise.
    """
    curves = rounding_curves(RoundingState(dtype, int(exponent), float(significand)))
    return style.still(RoundingPicture(), curves)
