"""Yours over expected: the picture in the verdict of ``check()`` and in a class report.

The checks call ``comparison`` for every verdict with a failed value or derivative, so it must be
fast, must never raise on what a wrong answer returns, and must stay readable at x = 1e20.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from straight_through.plots import style

# matplotlib adds margins to the data; beyond this they would overflow a float64.
_LARGEST = 1e300


def _array(values) -> np.ndarray:
    return np.ravel(np.asarray(values).astype(np.float64))


def _reach(axes: Axes, which: str, values: np.ndarray, usual: float) -> None:
    """Limits around ``values``, logarithmic if they reach far beyond ``usual``."""
    low, high = np.min(values, initial=0.0), np.max(values, initial=0.0)
    linear = style.wide(values, usual)
    if linear is None:
        room = 0.12 * (high - low) or 0.5
        style.span(axes, which, low - room, high + room)
    else:
        style.span(axes, which, min(-linear, low * 4), max(linear, high * 4), linear)


def _panel(axes: Axes, x: np.ndarray, yours: np.ndarray, expected: np.ndarray) -> None:
    finite = np.isfinite(yours)
    broken = ~finite & np.isfinite(expected)
    marker = dict(marker="o", markersize=4) if x.size <= 60 else {}
    axes.plot(
        x,
        expected,
        color=style.SKY,
        linewidth=5,
        alpha=0.75,
        label="expected",
        solid_capstyle="round",
        **(marker | {"markersize": 8} if marker else {}),
    )
    axes.plot(
        x[finite],
        yours[finite],
        color=style.VERMILLION,
        linewidth=1.6,
        linestyle="--",
        label="yours",
        **marker,
    )
    if np.any(finite & (yours != expected)):
        gap = dict(color=style.VERMILLION, alpha=0.18, linewidth=0)
        axes.fill_between(x, np.where(finite, yours, expected), expected, label="difference", **gap)
    if broken.any():
        axes.plot(
            x[broken],
            expected[broken],
            linestyle="none",
            marker="X",
            markersize=9,
            color=style.BLACK,
            label="yours is NaN or infinite",
        )
    seen = np.concatenate([expected[np.isfinite(expected)], yours[finite]])
    usual = max(1.0, np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0))
    _reach(axes, "y", seen, usual)


def _legend(picture: Figure, panels: list[Axes]) -> None:
    """One legend for all panels, each entry once."""
    entries = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    picture.legend(
        entries.values(),
        entries.keys(),
        loc="upper right",
        ncols=len(entries),
        fontsize=style.SMALL,
        frameon=False,
        borderaxespad=0.4,
        handlelength=2.4,
    )


def comparison(x, yours, expected, *, slope=None, expected_slope=None, title: str = "") -> Figure:
    """The learner's values over the expected ones; a second panel for the derivatives.

    All arrays are one-dimensional and as long as x, of any real dtype, in any order; ``yours``
    and ``slope`` may hold NaN and infinity. The second panel needs both slopes. An axis turns
    logarithmic where its numbers need it.
    """
    x = np.clip(_array(x), -_LARGEST, _LARGEST)
    order = np.argsort(x, kind="stable")
    curves = [("value", yours, expected)]
    if slope is not None and expected_slope is not None:
        curves.append(("derivative", slope, expected_slope))

    picture = style.figure(7.2, 1.0 + 1.75 * len(curves))
    panels = []
    for row, (name, mine, right) in enumerate(curves):
        axes = picture.add_subplot(len(curves), 1, row + 1)
        last = row == len(curves) - 1
        style.frame(axes, name, "x" if last else "")
        with np.errstate(invalid="ignore", over="ignore"):
            mine, right = (
                np.where(np.isfinite(a), np.clip(a, -_LARGEST, _LARGEST), a)
                for a in (_array(mine)[order], _array(right)[order])
            )
        _panel(axes, x[order], mine, right)
        _reach(axes, "x", x, max(1.0, float(np.median(np.abs(x))) if x.size else 1.0))
        axes.tick_params(labelbottom=last)
        panels.append(axes)
    differ = sum(not np.array_equal(mine, right, equal_nan=True) for _, mine, right in curves)
    picture.alt = f"{title}. " * bool(title) + (
        f"{' and '.join(name for name, *_ in curves)}, yours over expected, at {x.size} points: "
        f"{'they agree' if not differ else 'they differ'}."
    )
    if title:
        picture.text(0.012, 0.985, title, fontsize=style.TITLE, va="top", weight="bold")
    _legend(picture, panels)
    bottom = 0.52 / picture.get_figheight()
    picture.subplots_adjust(
        left=0.09, right=0.98, top=1 - 0.72 / picture.get_figheight(), bottom=bottom, hspace=0.34
    )
    return picture
