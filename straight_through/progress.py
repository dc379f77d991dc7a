"""What a learner has done: ``.ste/progress.json`` beside the exercises, and the hints given so far.

``STE_PROGRESS`` names another file. Nothing leaves this machine.
"""

import html
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from straight_through import course
from straight_through.checks.misconceptions import MISCONCEPTIONS

SECTIONS = ("checks", "predictions", "hints")


def progress_path() -> Path:
    """Where the progress file is, whether or not it exists yet."""
    return Path(os.environ.get("STE_PROGRESS") or course.ROOT / ".ste" / "progress.json")


def _empty() -> dict[str, dict]:
    return {section: {} for section in SECTIONS}


def _read(path: Path) -> dict[str, dict]:
    """The stored sections. A file that makes no sense is kept as a copy, not overwritten."""
    try:
        data = json.loads(path.read_bytes())
        sections = {section: data.get(section, {}) for section in SECTIONS}
        if not all(isinstance(entries, dict) for entries in sections.values()):
            raise ValueError("a section is not a table")
    except OSError:  # not there yet, or not ours to read: saving says what is wrong
        return _empty()
    except (ValueError, AttributeError):
        broken = path.with_name(path.name + ".broken")
        os.replace(path, broken)
        print(
            f"Your progress file could not be read. It is kept as {broken}; a new one starts now.",
            file=sys.stderr,
        )
        return _empty()
    return sections


@dataclass
class Progress:
    """Checks, predictions and hints of one learner; nothing is stored before ``save()``."""

    path: Path
    data: dict[str, dict] = field(default_factory=_empty)
    # What changed since the file was read. Only this is written: two open notebooks each have
    # their own Progress, and the later save must not undo the earlier one.
    changed: dict[str, dict] = field(default_factory=_empty)

    def _set(self, section: str, key: str, value: object) -> None:
        self.data[section][key] = value
        self.changed[section][key] = value

    def record_check(self, stem: str, function: str, passed: bool, labels: list[str]) -> None:
        """The outcome of a ``check``; ``labels`` are the misconceptions it named.

        What passed once stays passed: trying a wrong answer afterwards takes nothing away.
        """
        key = f"{stem}.{function}"
        before = self.data["checks"].get(key, {})
        passed = passed or before.get("passed", False)
        tries = before.get("tries", 0) + 1
        self._set("checks", key, {"passed": passed, "labels": list(labels), "tries": tries})

    def check(self, stem: str, function: str) -> dict | None:
        """``{"passed", "labels", "tries"}`` of the checks so far, or None if there was none."""
        return self.data["checks"].get(f"{stem}.{function}")

    def record_prediction(self, question_id: str, answer: object) -> None:
        """What the learner predicted (a JSON value) before the answer was shown."""
        self._set("predictions", question_id, answer)

    def prediction(self, question_id: str) -> object | None:
        return self.data["predictions"].get(question_id)

    def record_hint(self, function: str, number: int | None = None) -> int:
        """Note that hint ``number``, or the next one, was given; returns how many have been."""
        given = self.data["hints"].get(function, 0)
        given = given + 1 if number is None else max(given, number)
        self._set("hints", function, given)
        return given

    def hints_given(self, function: str) -> int:
        return self.data["hints"].get(function, 0)

    def save(self) -> bool:
        """Write what changed, in one step. Where that fails it says so, and the lesson goes on."""
        try:
            self._write()
        except OSError as error:
            reason = error.strerror or error
            print(f"Your progress was not saved in {self.path}: {reason}.", file=sys.stderr)
            return False
        return True

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.data = _read(self.path)
        for section, entries in self.changed.items():
            self.data[section].update(entries)
        handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".progress-")
        try:
            with open(handle, "w", encoding="utf-8") as file:
                json.dump({"schema": 1, **self.data}, file, indent=1, sort_keys=True)
            os.replace(temporary, self.path)
        except BaseException:
            os.unlink(temporary)
            raise
        self.changed = _empty()


def load() -> Progress:
    """The learner's progress, empty at first."""
    path = progress_path()
    return Progress(path, _read(path))


@dataclass(frozen=True)
class Note:
    """A short text that shows well in a terminal and as the result of a cell."""

    text: str
    title: str = ""

    def __str__(self) -> str:
        return f"{self.title}: {self.text}" if self.title else self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = f"<strong>{html.escape(self.title)}.</strong> " if self.title else ""
        return f"<p>{title}{html.escape(self.text)}</p>"


def hint(function: Callable | str, number: int | None = None) -> Note:
    """The next hint for a graded function, or hint ``number``.

    Args:
        function: the function, or its name.
        number: 1 for the first hint; without it, the one after the last that was given.
    """
    contents = course.load()
    name = function
    if not isinstance(function, str):
        name = contents.name_of(function, inspect.currentframe().f_back.f_globals)
    if name not in contents.functions:
        known = ", ".join(contents.functions)
        return Note(f"Say which function the hint is for, in quotes. Graded functions: {known}.")
    exercise = contents.exercise_of(name)
    hints = next(graded.hints for graded in exercise.functions if graded.name == name)
    progress = load()
    if number is None:
        number = min(progress.hints_given(name) + 1, len(hints))
    if not 1 <= number <= len(hints):
        return Note(f"There is no hint {number} for {name}: they go from 1 to {len(hints)}.")
    progress.record_hint(name, number)
    progress.save()
    after = "" if number < len(hints) else " That was the last hint."
    return Note(hints[number - 1] + after, f"Hint {number} of {len(hints)} for {name}")


def table(progress: Progress | None = None) -> str:
    """One line an exercise: how many of its functions pass, and which are still open."""
    progress = progress or load()
    exercises = course.load().exercises
    width = max(len(exercise.stem) for exercise in exercises)
    lines, done = [], 0
    for exercise in exercises:
        results = {f.name: progress.check(exercise.stem, f.name) for f in exercise.functions}
        passed = [name for name, result in results.items() if result and result["passed"]]
        done += len(passed) == len(results)
        lines.append(
            f"{exercise.stem:{width}}  {_state(results, passed):9}  "
            f"{len(passed)}/{len(results)}  {_open(results)}".rstrip()
        )
    return "\n".join([*lines, "", _closing(done, exercises)])


def _state(results: dict[str, dict | None], passed: list[str]) -> str:
    if len(passed) == len(results):
        return "done"
    return "started" if any(results.values()) else "not begun"


def _open(results: dict[str, dict | None]) -> str:
    """The functions that were tried and do not pass yet, each with what the check named."""
    notes = []
    for name, result in results.items():
        if result and not result["passed"]:
            titles = [MISCONCEPTIONS[x].title for x in result["labels"] if x in MISCONCEPTIONS]
            notes.append(f"{name} ({titles[0].lower()})" if titles else name)
    return "; ".join(notes)


def _closing(done: int, exercises: tuple[course.Exercise, ...]) -> str:
    if done == len(exercises):
        return (
            f"All {done} exercises are done. You can now build a quantizer whose values are exact "
            "and whose gradient is the one you chose, and test both."
        )
    return f"{done} of {len(exercises)} exercises done."
