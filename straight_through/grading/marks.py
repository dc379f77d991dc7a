"""One mark out of several exercises, by a small TOML file.

    total = 100           # the mark for full points everywhere
    missing = "zero"      # what counts for nothing handed in: "zero", or "blank" (no mark at all)
    decimals = 1

    [weights]             # an exercise that is not listed does not count
    03_rounding = 1
    04_ste = 2

What could not be read or graded never becomes a zero: it leaves the mark blank.
"""

import math
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

from straight_through import course
from straight_through.grading import layouts
from straight_through.grading.collect import UsageError
from straight_through.grading.engine import Grades

KEYS = {"total", "missing", "decimals", "weights"}


@dataclass(frozen=True)
class Scheme:
    """How scores become a mark between 0 and ``total``."""

    weights: dict[str, float]
    total: float
    missing: str = "blank"
    decimals: int = 2


@dataclass(frozen=True)
class Mark:
    """A learner's mark; None where there is none, and then ``reason`` says why."""

    learner: str
    name: str
    value: float | None
    total: float
    scores: dict[str, float | None] = field(default_factory=dict)
    reason: str = ""
    source: str = ""  # the LMS whose own id ``learner`` is: "Moodle", "Canvas", or unknown


def read(path: Path) -> Scheme:
    """The scheme in a TOML file; UsageError says which line of it makes no sense."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"The weights {path} cannot be read: {error}.") from None
    unknown = sorted(data.keys() - KEYS)
    if unknown:
        raise UsageError(f"{path}: {unknown[0]!r} means nothing here; use {', '.join(KEYS)}.")
    weights = data.get("weights")
    if not isinstance(weights, dict) or not weights:
        raise UsageError(f"{path}: a table [weights] with a line such as 04_ste = 1 is missing.")
    known = [exercise.stem for exercise in course.load().exercises]
    for stem, weight in weights.items():
        if stem not in known:
            raise UsageError(f"{path}: there is no exercise {stem!r}; the course has {known}.")
        if not _positive(weight):
            raise UsageError(f"{path}: the weight of {stem} is a number above 0, not {weight!r}.")
    total, decimals = data.get("total", 100), data.get("decimals", 2)
    if not _positive(total):
        raise UsageError(f"{path}: total is a number above 0, not {total!r}.")
    if type(decimals) is not int or decimals not in range(5):
        raise UsageError(f"{path}: decimals is 0 to 4, not {decimals!r}.")
    if data.get("missing", "blank") not in ("blank", "zero"):
        raise UsageError(f'{path}: missing is "blank" or "zero", not {data["missing"]!r}.')
    return Scheme(weights, total, data.get("missing", "blank"), decimals)


def _positive(value) -> bool:
    """True for a number that a mark can be made with: not nan, not infinite."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 < value < 1e9
    )


def points(grades: Grades, stems: list[str] | None = None) -> Scheme:
    """Without a file: the points of these exercises, or of all that were graded, added up."""
    stems = sorted(stems or {item.found.exercise for item in grades.graded})
    weights = {stem: course.load().exercise(stem).points for stem in stems}
    return Scheme(weights, sum(weights.values()))


def marks(grades: Grades, scheme: Scheme) -> list[Mark]:
    """Every learner's mark, in the order of the grades.

    Raises:
        UsageError: the scheme weighs an exercise that was never graded. Nobody handed it in
            as far as these grades know, so it would be a zero for the whole class.
    """
    graded = {item.found.exercise for item in grades.graded}
    never = [stem for stem in scheme.weights if stem not in graded]
    if never:
        raise UsageError(
            f"The weights count {', '.join(never)}, but these grades hold nothing for it from "
            "anybody: grade it into the same --out, or take it out of the weights file."
        )
    people: dict[str, dict[str, tuple[str, float | None]]] = {}
    names: dict[str, str] = {}
    sources: dict[str, str] = {}
    for item in grades.graded:
        found = item.found
        score = item.result.score if item.override is None else item.override
        status = "graded" if item.override is not None else item.result.status
        people.setdefault(found.learner, {})[found.exercise] = (status, score)
        names[found.learner] = names.get(found.learner) or found.name
        sources[found.learner] = sources.get(found.learner) or layouts.lms(
            found.file, found.learner
        )
    known = set(sources.values()) - {""}
    if len(known) == 1:  # who handed nothing in has no file, but a number of the same LMS
        sources = {p: s or (min(known) if p.isdigit() else "") for p, s in sources.items()}
    return [
        replace(_mark(learner, names[learner], mine, scheme), source=sources[learner])
        for learner, mine in people.items()
    ]


def _mark(learner: str, name: str, mine: dict, scheme: Scheme) -> Mark:
    scores, blank = {}, []
    for stem in scheme.weights:
        status, score = mine.get(stem, ("missing", None))
        if score is None and status == "missing" and scheme.missing == "zero":
            score = 0
        if score is None:
            blank.append(f"{stem} is {status}")
        scores[stem] = score
    if blank:
        return Mark(learner, name, None, scheme.total, scores, "; ".join(blank))
    contents = course.load()
    parts = [
        weight * min(1, scores[stem] / contents.exercise(stem).points)
        for stem, weight in scheme.weights.items()
    ]
    value = scheme.total * sum(parts) / sum(scheme.weights.values())
    return Mark(learner, name, round(value, scheme.decimals), scheme.total, scores)
