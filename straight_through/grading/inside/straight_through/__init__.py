"""What a submission sees of the course while it is graded: the same names, doing nothing."""

import sys
import types


def _nothing(*args, **kwargs):
    return None


def _idle(name: str) -> types.ModuleType:
    """A module in which every name is a function that does nothing."""
    module = types.ModuleType(f"{__name__}.{name}")

    def find(attribute: str):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return _nothing

    module.__getattr__ = find
    sys.modules[module.__name__] = module
    return module


check = hint = doctor = explore = explore_rounding = race = three_views = _nothing
# Not so the surrogates: an answer made of them should say that they are missing.
plots, widgets = _idle("plots"), _idle("widgets")
