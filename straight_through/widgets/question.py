"""Predict first: a question whose answer unlocks the picture."""

import html
from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets

from straight_through.widgets.controls import parse


@dataclass(frozen=True)
class Question:
    """A prediction to make before a picture is shown.

    ``id`` names the answer in the progress file. Without ``choices`` the answer is a number.
    ``answer`` and ``because`` are shown afterwards, if given.
    """

    id: str
    text: str
    choices: tuple[str, ...] = ()
    answer: str | float | None = None
    because: str = ""

    def verdict(self, given: str) -> str:
        """What to say to somebody who answered ``given``."""
        words = f"You predicted {given}."
        if self.answer is None:
            return f"{words} Compare it with the picture. {self.because}".strip()
        right = given == str(self.answer) if self.choices else float(given) == float(self.answer)
        words += " That is right." if right else f" The answer is {self.answer}."
        return f"{words} {self.because}".strip()


def recorded(question: Question) -> str | None:
    """The answer in the progress file, or None. A broken entry counts as none."""
    from straight_through import progress

    given = progress.load().prediction(question.id)
    if given is None:
        return None
    given = str(given)
    try:
        question.verdict(given)
    except ValueError:
        return None
    return given if not question.choices or given in question.choices else None


def record(question: Question, given: str) -> bool:
    """Keep the answer; False if the progress file cannot be written."""
    from straight_through import progress

    current = progress.load()
    current.record_prediction(question.id, given)
    return current.save()


class Ask:
    """The question as a widget. ``answered`` is called once, with the answer recorded."""

    def __init__(self, question: Question, answered: Callable[[], None]):
        self.question, self._answered = question, answered
        self.given = recorded(question)
        self.words = ipywidgets.HTML()
        if question.choices:
            self.control = ipywidgets.ToggleButtons(
                options=question.choices, value=self.given, style={"button_width": "auto"}
            )
            self.control.observe(lambda change: self._answer(change["new"]), "value")
            children = [self.words, self.control]
        else:
            self.control = ipywidgets.Text(
                self.given or "",
                description="your answer",
                continuous_update=False,
                style={"description_width": "initial"},
            )
            self.button = ipywidgets.Button(description="Answer")
            self.button.on_click(lambda _: self._answer(self.control.value))
            row = ipywidgets.HBox([self.control, self.button], layout={"flex_flow": "row wrap"})
            children = [self.words, row]
        self.widget = ipywidgets.VBox(children, layout={"margin": "0 0 8px"})
        self.control.disabled = self.given is not None
        self._say("" if self.given is None else question.verdict(self.given))

    def _say(self, words: str) -> None:
        first = f"<strong>Predict first.</strong> {html.escape(self.question.text)}"
        rest = f"<p role='status' style='margin:2px 0'>{html.escape(words)}</p>" if words else ""
        self.words.value = f"<div style='line-height:1.45'>{first}{rest}</div>"

    def _answer(self, given: str | None) -> None:
        if self.given is not None or given is None:
            return
        if not self.question.choices:
            try:
                given = f"{parse(given, 'Your answer'):g}"
            except ValueError as error:
                self._say(str(error))
                return
        self.given = given
        words = self.question.verdict(given)
        if not record(self.question, given):
            words += " It could not be kept in the progress file."
        self.control.disabled = True
        self._say(words)
        self._answered()
