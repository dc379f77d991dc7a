"""The parts that every explorer is made of: a number with slider and box, and the view."""

import base64
import contextlib
import html
import math
import threading
from collections.abc import Callable

import ipywidgets

LABEL = {"description_width": "8em"}


def show(value: float) -> str:
    """A number as a person would type it."""
    return f"{value:.6g}"


def parse(text: str, title: str) -> float:
    """The number in ``text``; ValueError with a sentence if there is none or it is NaN."""
    try:
        value = float(text.replace(",", ".").replace("−", "-"))
    except ValueError:
        raise ValueError(f"{title}: {text!r} is no number. Type one like 0.5 or 1e20.") from None
    if math.isnan(value):
        raise ValueError(f"{title}: NaN is not a place on the line. Type a number.")
    return value


class Number:
    """One number, as a box to type it and a slider to move it.

    The box takes values that the slider cannot reach. ``on_change`` is called once for each
    change, from whichever thread it comes.
    """

    def __init__(
        self,
        title: str,
        value: float,
        low: float,
        high: float,
        step: float,
        on_change: Callable[[], None],
        whole: bool = False,
    ):
        self.title, self._whole, self._on_change = title, whole, on_change
        self._lock, self._quiet = threading.RLock(), False
        self.box = ipywidgets.Text(
            show(value),
            description=title,
            style=LABEL,
            continuous_update=False,
            layout={"width": "14em", "margin": "2px 4px 2px 0"},
        )
        self.slider = ipywidgets.FloatSlider(
            min(max(value, low), high),
            min=low,
            max=high,
            step=step,
            readout=False,
            layout={"width": "9em", "margin": "2px 0"},
        )
        self.widget = ipywidgets.HBox(
            [self.box, self.slider], layout={"flex_flow": "row wrap", "align_items": "center"}
        ).add_class("ste-number")
        self.slider.observe(self._slid, "value")
        self.box.observe(self._typed, "value")

    @property
    def value(self) -> float:
        """What the box says. Raises ValueError with a sentence if that is no number."""
        value = parse(self.box.value, self.title)
        if self._whole and not (math.isfinite(value) and value == int(value)):
            raise ValueError(f"{self.title}: type a whole number.")
        return int(value) if self._whole else value

    @value.setter
    def value(self, value: float) -> None:
        self.box.value = show(value)

    def _slid(self, change: dict) -> None:
        self._follow(lambda: setattr(self.box, "value", show(change["new"])))

    def _typed(self, change: dict) -> None:
        def move():
            with contextlib.suppress(ValueError):  # the view says what is wrong with the number
                self.slider.value = min(max(self.value, self.slider.min), self.slider.max)

        self._follow(move)

    def _follow(self, move: Callable[[], None]) -> None:
        """Move the other half of the pair, which must not answer, then tell once."""
        with self._lock:
            if self._quiet:
                return
            self._quiet = True
            try:
                move()
            finally:
                self._quiet = False
            self._on_change()


def choice(
    title: str, options: list[tuple[str, object]], value: object, on_change: Callable[[], None]
) -> ipywidgets.Dropdown:
    """A drop-down list that calls ``on_change`` after each choice."""
    control = ipywidgets.Dropdown(
        options=options, value=value, description=title, style=LABEL, layout={"width": "22.5em"}
    )
    control.observe(lambda _: on_change(), "value")
    return control


# The handle of a slider has a role but no name (ipywidgets issue 2650), the buttons of a player are
# icons alone, and a changed read-out is only announced inside a region that stays. All three can be
# mended where the picture arrives.
_MEND = (
    "const root=this.closest('.ste-explorer');"
    "for(const n of root.querySelectorAll('.ste-number')){"
    "const h=n.querySelector('.noUi-handle');"
    "if(h)h.setAttribute('aria-label',n.querySelector('label').textContent+' slider')}"
    "root.querySelectorAll('.widget-play button').forEach("
    "(b,i)=>b.setAttribute('aria-label',['play or pause','stop','repeat'][i]));"
    "this.closest('.widget-html-content').setAttribute('aria-live','polite')"
)
_CARD = "background:white;border-radius:6px;max-width:100%;height:auto;display:block"
# JupyterLab gives lists of terms floats and bold type.
_TERM = "float:none;clear:none;width:auto;font-weight:normal;margin:0;padding:0"
_QUIET = "color:var(--jp-ui-font-color2,#616161)"


def page(
    png: bytes,
    alt: str,
    caption: str,
    readout: list[tuple[str, str]],
    note: str = "",
    problem: str = "",
) -> str:
    """The view: picture with alternative text, caption, numbers, and a sentence if need be."""
    width, height = (int.from_bytes(png[i : i + 4], "big") for i in (16, 20))
    numbers = "".join(
        f"<dt style='{_TERM};{_QUIET}'>{html.escape(name)}</dt>"
        f"<dd data-ste='{html.escape(name, quote=True)}' style='{_TERM};"
        f"font-variant-numeric:tabular-nums'>{html.escape(value)}</dd>"
        for name, value in readout
    )
    alert = ""
    if problem:
        alert = (
            "<p role='alert' style='margin:0 0 6px;padding:4px 10px;border-left:4px solid #D55E00;"
            f"background:var(--jp-layout-color2,#eee)'>{html.escape(problem)}</p>"
        )
    remark = f"<p style='margin:6px 0 0'>{html.escape(note)}</p>" if note else ""
    source = base64.b64encode(png).decode()
    return (
        f"<div style='line-height:1.45;max-width:{width}px'>{alert}"
        f"<figure aria-live='off' style='margin:0'><img decoding='sync' width='{width}' "
        f"height='{height}' style='{_CARD}' alt='{html.escape(alt, quote=True)}' "
        f"onload=\"{_MEND}\" src='data:image/png;base64,{source}'>"
        f"<figcaption style='{_QUIET};margin:4px 0'>{html.escape(caption)}</figcaption></figure>"
        "<dl style='display:grid;grid-template-columns:max-content 1fr;column-gap:14px;"
        "margin:4px 0'>"
        f"{numbers}</dl>{remark}</div>"
    )
