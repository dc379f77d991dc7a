"""Explorers for notebooks: pictures with controls, from ``straight_through.plots``."""

from straight_through.widgets.explorers import explore, explore_rounding, race, three_views
from straight_through.widgets.question import Question

__all__ = ["Question", "explore", "explore_rounding", "race", "three_views"]
