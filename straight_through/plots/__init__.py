"""Figures as pure functions of a state: for scripts, papers, the explorers and the checks."""

from straight_through.plots.descent import race
from straight_through.plots.estimator import surrogate
from straight_through.plots.floats import rounding
from straight_through.plots.jacobian import three_views
from straight_through.plots.style import to_csv, to_png, to_svg
from straight_through.plots.verdict import comparison

__all__ = [
    "comparison",
    "race",
    "rounding",
    "surrogate",
    "three_views",
    "to_csv",
    "to_png",
    "to_svg",
]
