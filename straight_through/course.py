"""The table of contents: reads ``course.toml`` into frozen dataclasses."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent


class UsageError(ValueError):
    """Somebody asked for what is not there; the message is a sentence that says what is."""


@dataclass(frozen=True)
class Function:
    """A graded function: its name, the signature that learners rely on, its hints in order."""

    name: str
    signature: str
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Exercise:
    """What a learner hands in for one lesson; ``points`` is the maximum score."""

    stem: str
    title: str
    minutes: int
    points: int
    functions: tuple[Function, ...]

    @property
    def file_name(self) -> str:
        return f"{self.stem}.ipynb"


@dataclass(frozen=True)
class Lesson:
    """One notebook of the course; ``exercise`` is None where there is nothing to hand in."""

    stem: str
    title: str
    minutes: int
    goals: tuple[str, ...]
    needs: tuple[str, ...]
    exercise: Exercise | None


@dataclass(frozen=True)
class Course:
    title: str
    version: str
    lessons: tuple[Lesson, ...]

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        return tuple(lesson.exercise for lesson in self.lessons if lesson.exercise)

    def exercise(self, stem: str) -> Exercise:
        """The exercise called ``stem``; UsageError names the ones there are."""
        for exercise in self.exercises:
            if exercise.stem == stem:
                return exercise
        known = ", ".join(exercise.stem for exercise in self.exercises)
        raise UsageError(f"There is no exercise {stem!r}. The course has: {known}.")

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of all graded functions."""
        return tuple(graded.name for e in self.exercises for graded in e.functions)

    def name_of(self, function: object, bound: Mapping[str, object]) -> str | None:
        """The graded name that ``function`` is bound to in a namespace, or else carries itself.

        The binding comes first: a lambda or a jitted function need not carry its name.
        """
        for name in self.functions:
            if name in bound and bound[name] is function:
                return name
        own = getattr(function, "__name__", None)
        return own if own in self.functions else None

    def exercise_of(self, function: str) -> Exercise:
        """The exercise that asks for the function called ``function``."""
        for exercise in self.exercises:
            if any(graded.name == function for graded in exercise.functions):
                return exercise
        known = ", ".join(self.functions)
        raise UsageError(f"No exercise asks for {function!r}. Graded functions: {known}.")


def _exercise(lesson: dict) -> Exercise | None:
    entry = lesson.get("exercise")
    if entry is None:
        return None
    functions = tuple(
        Function(f["name"], f["signature"], tuple(f["hints"])) for f in entry["functions"]
    )
    return Exercise(lesson["stem"], lesson["title"], entry["minutes"], entry["points"], functions)


@functools.cache
def load(path: Path = PACKAGE / "course.toml") -> Course:
    """Read the table of contents. Raises KeyError or TOMLDecodeError if the file is broken."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    lessons = tuple(
        Lesson(
            stem=entry["stem"],
            title=entry["title"],
            minutes=entry["minutes"],
            goals=tuple(entry["goals"]),
            needs=tuple(entry["needs"]),
            exercise=_exercise(entry),
        )
        for entry in data["lesson"]
    )
    return Course(data["title"], data["version"], lessons)
