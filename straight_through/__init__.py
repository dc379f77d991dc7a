"""Straight Through: gradients for discrete values, taught and graded in JAX."""

__version__ = "0.1.0"


def __getattr__(name: str):
    # Imported on first use: `import straight_through` must not pay for JAX or matplotlib.
    if name == "check":
        from straight_through.home import check

        return check
    if name == "doctor":
        from straight_through.machine import doctor

        return doctor
    if name == "hint":
        from straight_through.progress import hint

        return hint
    if name in ("explore", "explore_rounding", "race", "three_views"):
        from straight_through import widgets

        return getattr(widgets, name)
    raise AttributeError(f"straight_through has no attribute {name!r}")
