"""From outcomes to text, HTML and picture: one renderer for notebook, terminal and class report."""

import base64
import html
from dataclasses import dataclass, field
from functools import cached_property

from straight_through.checks import Outcome
from straight_through.checks.misconceptions import MISCONCEPTIONS
from straight_through.checks.portrait import portrait
from straight_through.submission import Failure, Submission

MARKS = {"passed": "✓", "failed": "✗", "error": "!", "not_run": "–"}
WORDS = {"passed": "passed", "failed": "failed", "error": "our error", "not_run": "not run"}
INKS = {"passed": "#00684A", "failed": "#B34700", "error": "#6A3D9A", "not_run": "#595959"}


@dataclass
class Verdict:
    """What ``check(f)`` found. Shows itself as HTML in Jupyter and as text in a terminal."""

    stem: str = ""
    function: str = ""
    outcomes: list[Outcome] = field(default_factory=list)
    hidden: list[Outcome] = field(default_factory=list)
    hidden_at_hand: bool = False
    hidden_count: int | None = None  # how many hidden checks grading adds, if that is known
    misconceptions: list[str] = field(default_factory=list)
    message: str = ""
    submission: Submission | None = None

    @classmethod
    def refused(cls, message: str) -> "Verdict":
        """check() was called in a way that it cannot work with."""
        return cls(message=message)

    @classmethod
    def without_checks(cls, stem, function, label, submission: Submission) -> "Verdict":
        """There is no function to check."""
        failure: Failure | None = next(iter(submission.cell_failures.values()), None)
        said = failure.sentence if failure and label == "raises" else ""
        return cls(stem, function, misconceptions=[label], message=said)

    @property
    def passed(self) -> bool:
        every = self.outcomes + self.hidden
        return bool(every) and all(outcome.outcome == "passed" for outcome in every)

    @property
    def first_failed(self) -> Outcome | None:
        every = self.outcomes + self.hidden
        return next((o for o in every if o.outcome in ("failed", "error")), None)

    @property
    def headline(self) -> str:
        if not self.function:
            return self.message
        if not self.outcomes:
            return f"{self.function}: {MISCONCEPTIONS[self.misconceptions[0]].title}."
        done = sum(outcome.outcome == "passed" for outcome in self.outcomes)
        every = f"{done} of {len(self.outcomes)} visible checks passed"
        if self.hidden_at_hand:
            right = sum(outcome.outcome == "passed" for outcome in self.hidden)
            return f"{self.function}: {every}, {right} of {len(self.hidden)} hidden ones."
        more = "more" if self.hidden_count is None else f"{self.hidden_count} more"
        return f"{self.function}: {every}; {more} run at grading."

    @cached_property
    def picture(self) -> bytes | None:
        """A PNG of yours over the expected, for a failed verdict that can be drawn."""
        if self.submission is None:
            return None
        arrays = portrait(self.submission, self.function, self.misconceptions)
        return draw(arrays, self.function)

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_html(self)


def draw(arrays: dict | None, title: str) -> bytes | None:
    """The picture of a portrait's arrays as a PNG."""
    if arrays is None:
        return None
    from straight_through.plots import comparison, to_png

    return to_png(comparison(**arrays, title=title))


def alt(verdict: Verdict) -> str:
    """What the picture shows, for those who cannot see it."""
    first = verdict.first_failed
    reason = first.message if first else ""
    return f"{verdict.function}: your values and derivative over the expected ones. {reason}"


# ---- text


def text(verdict: Verdict) -> str:
    """The verdict for a terminal."""
    lines = [verdict.headline]
    if not verdict.function:
        return verdict.headline
    for outcome in verdict.outcomes:
        lines.append(f"  {MARKS[outcome.outcome]} {outcome.title}: {WORDS[outcome.outcome]}")
    failed_hidden = [o for o in verdict.hidden if o.outcome != "passed"]
    for outcome in failed_hidden:
        lines.append(
            f"  {MARKS[outcome.outcome]} {outcome.title} (hidden): {WORDS[outcome.outcome]}"
        )
    first = verdict.first_failed
    if first:
        lines += ["", f"{first.title}: {first.message}"]
        for name, value in details(first):
            lines.append(f"  {name:10} {value}")
    if verdict.message:
        lines += ["", verdict.message]
    lines += ["", *(f"{title}. {sentence}" for title, sentence in named(verdict))]
    if verdict.passed:
        lines += ["All checks passed."]
    return "\n".join(lines).rstrip()


def details(outcome: Outcome) -> list[tuple[str, str]]:
    rows = [
        ("called", outcome.called),
        ("came back", outcome.returned),
        ("expected", outcome.expected),
    ]
    return [(name, value) for name, value in rows if value]


def named(verdict: Verdict) -> list[tuple[str, str]]:
    """Title and sentence of the misconception that explains the first failure."""
    first = verdict.first_failed
    label = (first.misconception if first else None) or next(iter(verdict.misconceptions), None)
    if label is None:
        return []
    return [(MISCONCEPTIONS[label].title, MISCONCEPTIONS[label].sentence)]


# ---- HTML


def _row(outcome: Outcome, note: str = "") -> str:
    ink = INKS[outcome.outcome]
    return (
        f"<tr><td style='color:{ink};text-align:center'>{MARKS[outcome.outcome]}</td>"
        f"<td style='text-align:left'>{html.escape(outcome.title)}{note}</td>"
        f"<td style='text-align:left;color:{ink}'>{WORDS[outcome.outcome]}</td></tr>"
    )


def table(outcomes: list[Outcome], note: str = "") -> str:
    return "".join(_row(outcome, note) for outcome in outcomes)


def explanation(outcome: Outcome) -> str:
    """The first failure in full: message, call, result, expected value."""
    rows = "".join(
        f"<tr><th scope='row' style='text-align:left;font-weight:normal;opacity:.75'>{name}</th>"
        f"<td style='text-align:left'><code>{html.escape(value)}</code></td></tr>"
        for name, value in details(outcome)
    )
    return (
        f"<p style='margin:.8em 0 .2em'><strong>{html.escape(outcome.title)}.</strong> "
        f"{html.escape(outcome.message)}</p><table>{rows}</table>"
    )


CAPTION = "Yours (dashed) over the expected (broad line); the difference is shaded."


def image(png: bytes | None, alternative: str, caption: str = CAPTION) -> str:
    """A picture as HTML that needs no file; "" for none."""
    if png is None:
        return ""
    data = base64.b64encode(png).decode()
    return (
        f"<figure style='margin:.8em 0'><img style='max-width:100%;background:white' "
        f"alt='{html.escape(alternative, quote=True)}' src='data:image/png;base64,{data}'>"
        f"<figcaption style='opacity:.75'>{html.escape(caption)}</figcaption></figure>"
    )


def to_html(verdict: Verdict) -> str:
    """The verdict for a notebook: inert, no script, readable in the light and the dark theme."""
    if not verdict.function:
        return f"<p>{html.escape(verdict.headline)}</p>"
    ink = INKS["passed" if verdict.passed else "failed"]
    mark = MARKS["passed" if verdict.passed else "failed"]
    parts = [
        "<div class='ste-verdict' style='max-width:52em'>",
        f"<p style='border-left:.35em solid {ink};padding:.3em .7em;margin:.3em 0'>"
        f"<strong>{mark} {html.escape(verdict.headline)}</strong></p>",
    ]
    for title, sentence in named(verdict):
        parts.append(
            f"<p style='margin:.4em 0'><strong>{html.escape(title)}.</strong> "
            f"{html.escape(sentence)}</p>"
        )
    if verdict.message:
        parts.append(f"<p><code>{html.escape(verdict.message)}</code></p>")
    failed_hidden = [o for o in verdict.hidden if o.outcome != "passed"]
    rows = table(verdict.outcomes) + table(failed_hidden, " <em>(hidden)</em>")
    if rows:
        parts.append(f"<table><tbody>{rows}</tbody></table>")
    if verdict.first_failed:
        parts.append(explanation(verdict.first_failed))
        parts.append(image(verdict.picture, alt(verdict)))
    return "".join(parts) + "</div>"
