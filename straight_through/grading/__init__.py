"""Grading a class: collect -> sandbox -> checks -> gradebook -> reports."""


def __getattr__(name: str):
    if name == "grade":
        from straight_through.grading.engine import grade

        return grade
    raise AttributeError(f"straight_through.grading has no attribute {name!r}")
