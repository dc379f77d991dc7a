"""The checks: primitives, messages, and the recognition of misconceptions by behaviour."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Weight:
    """What stands beside a graded check: its title, its points, and what it is about.

    ``about`` ("values" or "derivative") picks which of several misconceptions explains a failure;
    ``function`` names the graded function where an exercise has several.
    """

    title: str
    points: float
    about: str
    function: str


def graded(title: str, points: float, about: str = "values", function: str = ""):
    """Declare a hidden check's weight. The check's id is its name without ``test_``."""

    def mark(test):
        test.graded = Weight(title, points, about, function)
        return test

    return mark


@dataclass
class CheckFailed(Exception):
    """A learner's answer is wrong: what was called, what came back, what was expected.

    ``expected`` is a value, never the formula that gives it. ``picture`` holds the arrays to draw.
    """

    message: str
    called: str = ""
    returned: str = ""
    expected: str = ""
    picture: dict = field(default_factory=dict)

    def __post_init__(self):
        super().__init__(self.message)

    def __str__(self):
        parts = [self.message]
        if self.called:
            parts.append(f"Called: {self.called}")
        if self.returned:
            parts.append(f"Came back: {self.returned}")
        if self.expected:
            parts.append(f"Expected: {self.expected}")
        return "\n".join(parts)


@dataclass(frozen=True)
class Outcome:
    """One check's result. ``outcome`` is passed, failed, error (ours) or not_run."""

    id: str
    title: str
    outcome: str
    hidden: bool = False
    points: float = 0
    message: str = ""
    called: str = ""
    returned: str = ""
    expected: str = ""
    misconception: str | None = None
    picture: dict = field(default_factory=dict)

    @property
    def score(self) -> float:
        return self.points if self.outcome == "passed" else 0
