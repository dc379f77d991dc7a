"""Three views of one derivative: the Jacobian, what it does to a direction and to a cotangent."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from straight_through.plots import sampling, style
from straight_through.surrogates import estimator

POINT = (-1.5, 0.5, 2.0)
N = len(POINT)


def ones_impostor(x: jax.Array) -> jax.Array:
    """Values of sign; every output depends on every input with slope 1."""
    zero = jnp.sum(x) - jax.lax.stop_gradient(jnp.sum(x))
    return jnp.sign(x) + zero


def mean_impostor(x: jax.Array) -> jax.Array:
    """Values of sign; the mean of the cotangent comes back, so that grad of the sum is right."""
    zero = jnp.mean(x) - jax.lax.stop_gradient(jnp.mean(x))
    return jnp.sign(x) + zero


VIEWED: dict[str, Callable] = {
    "ste": estimator("sign", "identity"),
    "clipped": estimator("sign", "clipped"),
    "sign": estimator("sign", "true"),
    "ones": ones_impostor,
    "mean": mean_impostor,
}
TITLES = {
    "ste": "straight-through sign",
    "clipped": "clipped STE",
    "sign": "plain sign",
    "ones": "ones-matrix impostor",
    "mean": "mean impostor",
}


@dataclass(frozen=True)
class ViewsState:
    """``f`` is a name of ``VIEWED`` or a learner's function; the vectors have three numbers."""

    f: str | sampling.Own = "ste"
    direction: tuple[float, ...] = (1.0, 0.0, 0.0)
    cotangent: tuple[float, ...] = (1.0, 2.0, -1.0)

    @property
    def name(self) -> str:
        if isinstance(self.f, str):
            return TITLES[self.f]
        return self.f.__name__


@dataclass(frozen=True)
class ViewsCurves:
    """``jacobian`` (3, 3) at x = POINT, ``pushed`` = J t and ``pulled`` = g J, both (3,)."""

    state: ViewsState
    jacobian: np.ndarray
    pushed: np.ndarray
    pulled: np.ndarray
    note: str = ""

    @property
    def readout(self) -> list[tuple[str, str]]:
        rows = [("x", _vector(POINT)), ("direction t", _vector(self.state.direction))]
        rows += [("pushed forward, J t", _vector(self.pushed))]
        rows += [("cotangent g", _vector(self.state.cotangent))]
        rows += [("pulled back, g J", _vector(self.pulled))]
        kind = "the identity" if np.array_equal(self.jacobian, np.eye(N)) else "not the identity"
        return [*rows, ("Jacobian", kind)]

    @property
    def alt(self) -> str:
        rows = "; ".join(_vector(row) for row in self.jacobian)
        return (
            f"Jacobian of {self.state.name} as a 3 by 3 heat map with rows {rows}. Right of it the "
            f"direction and J t = {_vector(self.pushed)}; below it the cotangent and "
            f"g J = {_vector(self.pulled)}."
        )

    @property
    def columns(self) -> dict[str, np.ndarray]:
        columns = {f"J column {i}": self.jacobian[:, i] for i in range(N)}
        return columns | {
            "t": np.array(self.state.direction),
            "J t": self.pushed,
            "g": np.array(self.state.cotangent),
            "g J": self.pulled,
        }


def _vector(values) -> str:
    return "(" + ", ".join(style.number(v) for v in values) + ")"


@functools.lru_cache(maxsize=16)
def _jacobian(f: str | sampling.Own) -> tuple[np.ndarray, str]:
    function = VIEWED[f] if isinstance(f, str) else f
    x = jnp.array(POINT)
    with sampling.hushed():
        try:
            jacobian = np.asarray(jax.jacrev(function)(x), np.float64)
        except Exception:
            sampled = sampling.sample(function, np.array(POINT))
            return np.diag(sampled.slope), sampled.note
    if jacobian.shape != (N, N):
        return np.full((N, N), np.nan), f"Its Jacobian has shape {jacobian.shape}, not (3, 3)."
    return jacobian, ""


def views_curves(state: ViewsState) -> ViewsCurves:
    """The Jacobian once by JAX in reverse mode (a custom_vjp has no forward mode), then products.

    Raises ValueError for an unknown name or for vectors that are not three finite numbers.
    """
    if isinstance(state.f, str) and state.f not in VIEWED:
        raise ValueError(f"There is no {state.f!r}. Choose one of: {', '.join(VIEWED)}.")
    for name in ("direction", "cotangent"):
        vector = np.asarray(getattr(state, name), np.float64)
        if vector.shape != (N,) or not np.all(np.abs(vector) <= 1e30):
            raise ValueError(f"The {name} must be three finite numbers, at most 1e30.")
    jacobian, note = _jacobian(state.f)
    pushed = jacobian @ np.array(state.direction)
    pulled = np.array(state.cotangent) @ jacobian
    note = f"{state.name}: {note}" if note else ""
    return ViewsCurves(state, jacobian, pushed, pulled, note)


# From blue through white to vermillion: told apart without red and green; the numbers say it too.
_COLOURS = LinearSegmentedColormap.from_list("signed", [style.BLUE, "white", style.VERMILLION])


class _Cells:
    """A small matrix of coloured squares with numbers, left upper corner at (x, y)."""

    def __init__(self, moving: Callable, axes, x: float, y: float, rows: int, columns: int):
        self.squares, self.texts = [], []
        for row in range(rows):
            for column in range(columns):
                square = Rectangle((x + column, y + row), 0.94, 0.94, linewidth=0)
                axes.add_patch(moving(square))
                self.squares.append(square)
                self.texts.append(
                    moving(
                        axes.text(
                            x + column + 0.47,
                            y + row + 0.49,
                            "",
                            ha="center",
                            va="center",
                            fontsize=style.TITLE,
                        )
                    )
                )

    def show(self, values: np.ndarray) -> None:
        for square, text, value in zip(self.squares, self.texts, np.ravel(values), strict=True):
            words = f"{value:.3g}"
            if text.get_text() == words:
                continue  # an untouched cell is not drawn again
            finite = np.isfinite(value)
            strength = 0.5 + 0.5 * np.tanh(value / 2) if finite else 0.5
            square.set_facecolor(_COLOURS(strength) if value else "#F1F1F1")
            text.set_text(words)
            text.set_color("white" if finite and abs(value) > 2.2 else style.BLACK)


class ViewsPicture(style.Picture):
    """J in the middle, J t to the right of it, g J below: laid out as they are multiplied."""

    def __init__(self):
        super().__init__(7.2, 4.7, opaque=True)
        axes = self.figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 10.6), ylim=(6.92, 0))
        axes.axis("off")
        # The matrix is background: it changes with the function only, and text is slow to draw.
        self.matrix = _Cells(lambda artist: artist, axes, 2.2, 0.9, N, N)
        self.direction = _Cells(self.moving, axes, 6.2, 0.9, N, 1)
        self.pushed = _Cells(self.moving, axes, 8.2, 0.9, N, 1)
        self.cotangent = _Cells(self.moving, axes, 2.2, 4.55, 1, N)
        self.pulled = _Cells(self.moving, axes, 2.2, 5.75, 1, N)

        def word(x, y, text, size=style.TEXT, **look):
            axes.text(x, y, text, fontsize=size, va="center", **look)

        centre = dict(ha="center")
        word(6.67, 0.6, "direction t", **centre)
        word(8.67, 0.6, "J t", **centre)
        word(5.67, 2.39, "×", 15, **centre)
        word(7.67, 2.39, "=", 15, **centre)
        word(2.0, 5.02, "cotangent g", ha="right")
        word(2.0, 6.22, "g J", ha="right")
        word(5.35, 5.02, "the reverse pass starts here", color=style.GREY, size=style.SMALL)
        word(5.35, 6.22, "what the optimiser gets", color=style.GREY, size=style.SMALL)
        for row, value in enumerate(POINT):
            word(
                2.0,
                1.39 + row,
                f"output {row} (x = {value:g})",
                ha="right",
                color=style.GREY,
                size=style.SMALL,
            )
        self.title = axes.text(
            3.67, 0.6, "", fontsize=style.TEXT, ha="center", va="center", weight="bold"
        )
        self.name = None

    def show(self, curves: ViewsCurves) -> None:
        if curves.state.name != self.name:
            self.name = curves.state.name
            self.title.set_text(f"J of {self.name}")
            self.matrix.show(curves.jacobian)
            self.stale()
        self.direction.show(np.array(curves.state.direction))
        self.pushed.show(curves.pushed)
        self.cotangent.show(np.array(curves.state.cotangent))
        self.pulled.show(curves.pulled)


def three_views(
    f: Callable | str = "ste",
    direction: tuple[float, ...] = (1.0, 0.0, 0.0),
    cotangent: tuple[float, ...] = (1.0, 2.0, -1.0),
) -> Figure:
    """The Jacobian of f at (-1.5, 0.5, 2), J t and g J, as a Figure.

    ``f`` is ste, clipped, sign, ones, mean, or a function of a one-dimensional array. Raises
    ValueError for an unknown name or for vectors that are not three finite numbers.
    """
    f = sampling.Own(f) if callable(f) else f
    curves = views_curves(ViewsState(f, tuple(direction), tuple(cotangent)))
    return style.still(ViewsPicture(), curves)
