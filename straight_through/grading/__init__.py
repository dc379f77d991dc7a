"""Grading a class: collect -> sandbox -> checks -> gradebook -> reports."""

import sys

# jsonschema, which nbformat imports, builds a grammar of internationalised web addresses on import.
# That takes longer than everything else here, and no notebook has such an address to be checked:
# without the module jsonschema leaves out this one check.
sys.modules.setdefault("rfc3987_syntax", None)


def __getattr__(name: str):
    if name == "grade":
        from straight_through.grading.engine import grade

        return grade
    raise AttributeError(f"straight_through.grading has no attribute {name!r}")
