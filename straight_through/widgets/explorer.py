"""What the four explorers share: state in, one view out, files, and a still twin."""

import base64
import threading

import ipywidgets
from matplotlib.figure import Figure

from straight_through.plots import style
from straight_through.widgets.controls import page
from straight_through.widgets.question import Ask, Question

_LOCKED = (
    "<div style='border:1px dashed var(--jp-border-color1,#bdbdbd);border-radius:6px;"
    "padding:3em 1em;text-align:center;max-width:720px'>Answer the question, then the picture "
    "appears.</div>"
)


class Explorer(ipywidgets.VBox):
    """A picture with controls. Subclasses say how to read the state and what to compute from it.

    Callbacks may come from another thread than the one that runs cells (JupyterLab 4.4 and later
    use a subshell), also while a cell is running. So nothing here is global: a lock is held from
    reading the state until the one trait that shows it is set.
    """

    name = "picture"  # of exported files
    caption = ""

    def __init__(self, picture: style.Picture, controls: list, question: Question | None = None):
        self._lock = threading.RLock()
        self._picture, self._curves = picture, None
        self.view = ipywidgets.HTML(layout={"flex": "1 1 420px", "min_width": "0"})
        self._files = ipywidgets.HTML()
        export = ipywidgets.Button(
            description="Make files",
            icon="download",
            tooltip="Make PNG, SVG and CSV files of this picture",
        )
        export.on_click(self._export)
        column = ipywidgets.VBox(
            [*controls, export, self._files], layout={"flex": "0 1 24em", "margin": "0 12px 8px 0"}
        )
        body = ipywidgets.HBox([column, self.view], layout={"flex_flow": "row wrap"})
        self.ask = Ask(question, self.refresh) if question else None
        super().__init__([self.ask.widget, body] if self.ask else [body])
        self.add_class("ste-explorer")
        self.refresh()

    def compute(self):
        """The numbers of the current state. Raises ValueError with a sentence for bad input."""
        raise NotImplementedError

    def still(self) -> Figure:
        """The picture of the current state as a Figure of its own."""
        return style.still(type(self._picture)(), self._curves)

    @property
    def locked(self) -> bool:
        return self.ask is not None and self.ask.given is None

    @property
    def readout(self) -> dict[str, str]:
        return dict(self._curves.readout)

    def refresh(self) -> None:
        """Compute, draw, show."""
        with self._lock:
            problem = ""
            try:
                self._curves = self.compute()
            except ValueError as error:
                problem = str(error)
            self._picture.show(self._curves)
            if self._files.value:
                self._files.value = ""
            curves = self._curves
            self.view.value = (
                _LOCKED
                if self.locked
                else page(
                    self._picture.png(),
                    curves.alt,
                    self.caption,
                    curves.readout,
                    curves.note,
                    problem,
                )
            )

    def _export(self, _=None) -> None:
        if self.locked:
            return
        with self._lock:
            figure, columns = self.still(), self._curves.columns
        files = {
            "png": ("image/png", style.to_png(figure, dpi=200)),
            "svg": ("image/svg+xml", style.to_svg(figure)),
            "csv": ("text/csv", style.to_csv(columns).encode()),
        }
        links = [
            f"<a style='text-decoration:underline' download='{self.name}.{ending}' "
            f"href='data:{kind};base64,{base64.b64encode(data).decode()}'>{self.name}.{ending}</a>"
            for ending, (kind, data) in files.items()
        ]
        self._files.value = "Save: " + " ".join(links)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @property
    def text(self) -> str:
        """Picture and numbers in words: what a terminal, a test or a reader of the file sees."""
        rows = [f"{name}: {value}" for name, value in self._curves.readout]
        question = [f"Question: {self.ask.question.text}"] if self.ask else []
        notes = [self._curves.note] if self._curves.note else []
        return "\n".join([*question, self._curves.alt, *rows, *notes])

    def _repr_mimebundle_(self, **kwargs):
        # A viewer without widgets shows the picture instead; the question stands in the lesson.
        data = super()._repr_mimebundle_(**kwargs) or {}
        with self._lock:
            still, metadata = self.still()._repr_mimebundle_()
            return data | still | {"text/plain": self.text}, metadata
