"""How every figure of the course looks, and the fast way from a figure to pixels.

Only matplotlib's object API: pyplot keeps global state, and widget callbacks run in another
thread than the cells do.
"""

import base64
import io
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

# Okabe and Ito's palette: told apart with every kind of colour vision. Each use also has a line
# style or a marker of its own, so that nothing rests on colour alone.
BLACK, GREY = "#000000", "#595959"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

DPI = 100
TITLE, TEXT, SMALL = 11, 10, 9


class ShownFigure(Figure):
    """A figure that a notebook shows without pyplot, with its alternative text ``alt``."""

    alt = ""

    def _repr_mimebundle_(self, **_):
        data = {"image/png": base64.b64encode(to_png(self)).decode(), "text/plain": self.alt}
        return data, {"image/png": {"alt": self.alt}}


def figure(width: float = 7.2, height: float = 4.4) -> ShownFigure:
    """An empty figure, in inches, with a canvas that can draw it."""
    result = ShownFigure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(result)
    return result


def number(value: float) -> str:
    """``value`` as short text: 0.25, -3, 1e20, NaN."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    return _plain(f"{value:.4g}")


def shortest(value: float) -> str:
    """The float32 next to ``value`` in as few digits as tell it from its neighbours."""
    value = np.float32(value)
    return _plain(str(value).removesuffix(".0")) if np.isfinite(value) else number(value)


def _plain(text: str) -> str:
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def frame(axes: Axes, title: str, xlabel: str = "") -> Axes:
    """Quiet axes: no box, a light grid, the title at the left where reading starts."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#8C8C8C")
    axes.tick_params(labelsize=SMALL, colors=GREY, length=3)
    axes.grid(color="#E3E3E3", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_autoscale_on(False)  # limits are ours; matplotlib's margins overflow at 1e308
    axes.set_title(title, loc="left", fontsize=TEXT, color=BLACK, pad=7)
    if xlabel:
        axes.set_xlabel(xlabel, fontsize=TEXT, color=GREY, labelpad=2)
    return axes


def _decades(low: float, high: float, linear: float) -> list[float]:
    """Ticks for a symmetric logarithmic axis: 0 and at most four powers of ten a side."""

    def side(limit: float) -> list[float]:
        if limit <= linear:
            return []
        first, last = np.ceil(np.log10(linear)), np.floor(np.log10(limit))
        step = max(1, np.ceil((last - first) / 3))
        return [10.0**power for power in np.arange(first, last + 0.5, step)]

    return [-t for t in reversed(side(-low))] + [0.0] + side(high)


def _even(low: float, high: float, count: int) -> list[float]:
    """About ``count`` round ticks from ``low`` to ``high``; 0 is one of them if inside."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    unit = 10.0 ** np.floor(np.log10(raw))
    step = unit * next(s for s in (1, 2, 2.5, 5, 10) if s * unit >= raw * 0.999)
    return [float(k) * step for k in range(int(np.ceil(low / step)), int(high / step) + 1)]


def span(axes: Axes, which: str, low: float, high: float, linear: float | None = None) -> None:
    """Set the limits of the axis ``which``; symmetric logarithmic beyond ``linear`` if given.

    The ticks are ours: matplotlib looks for better ones at every draw, which is slow, and its
    logarithmic labels are typeset formulas.
    """
    axis = axes.xaxis if which == "x" else axes.yaxis
    if linear is not None:
        getattr(axes, f"set_{which}scale")("symlog", linthresh=linear)
        axis.set_major_locator(FixedLocator(_decades(low, high, linear)))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(FixedLocator(_even(low, high, 7 if which == "x" else 4)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.set(**{f"{which}lim": (low, high)})


def wide(values: np.ndarray, usual: float) -> float | None:
    """Where a logarithmic axis should begin if ``values`` reach far beyond ``usual``."""
    top = np.max(np.abs(values), initial=0.0)
    return usual if top > 50 * usual else None


def encode(pixels: np.ndarray) -> bytes:
    """A PNG of ``pixels``, contiguous uint8 of shape (height, width, 4).

    matplotlib's writer searches for the smallest file, this one for the smallest delay: every
    row is stored as the difference to the row above (filter 2), which is mostly zeros in a plot.
    Dropping the opacity first would take longer than to pack it.
    """
    height, width, _ = pixels.shape
    flat = pixels.reshape(height, -1)
    rows = np.full((height, 1 + 4 * width), 2, np.uint8)
    rows[0, 1:] = flat[0]
    np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
    data = zlib.compress(rows, 1)

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


class Picture:
    """A figure that is drawn once and then only where it changes.

    Axes, labels and grid are the background. Artists given to ``moving`` are drawn over a copy of
    it, which is some ten times faster than a whole figure. Call ``stale`` after a change to the
    background. If they are ``opaque``, each covering its former self, only changed ones are drawn.
    """

    def __init__(self, width: float, height: float, opaque: bool = False):
        self.figure = figure(width, height)
        self._opaque = opaque
        self._moving: list[Artist] = []
        self._background = None

    def moving(self, artist: Artist) -> Artist:
        artist.set_animated(True)
        self._moving.append(artist)
        return artist

    def stale(self) -> None:
        self._background = None

    def png(self) -> bytes:
        canvas = self.figure.canvas
        artists = self._moving
        if self._background is None:
            canvas.draw()
            self._background = canvas.copy_from_bbox(self.figure.bbox)
        elif self._opaque:
            artists = [artist for artist in artists if artist.stale]
        else:
            canvas.restore_region(self._background)
        for artist in artists:
            self.figure.draw_artist(artist)
        return encode(np.asarray(canvas.buffer_rgba()))

    def show(self, curves) -> None:
        """Put the numbers into the figure."""
        raise NotImplementedError


def still(picture: Picture, curves) -> Figure:
    """The figure of ``curves`` for others to draw, save and change."""
    picture.show(curves)
    for artist in picture._moving:
        artist.set_animated(False)
    picture.figure.alt = curves.alt
    return picture.figure


def to_png(picture: Figure, dpi: float = DPI) -> bytes:
    """The PNG of a figure."""
    canvas = picture.canvas
    if not isinstance(canvas, FigureCanvasAgg):
        canvas = FigureCanvasAgg(picture)
    if dpi != picture.dpi:
        buffer = io.BytesIO()
        picture.savefig(buffer, format="png", dpi=dpi)
        return buffer.getvalue()
    canvas.draw()
    return encode(np.asarray(canvas.buffer_rgba()))


def to_svg(picture: Figure) -> bytes:
    """The SVG of a figure, with its text as text."""
    import matplotlib

    buffer = io.BytesIO()
    # The date would make two equal figures differ.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "straight-through"}):
        picture.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def to_csv(columns: dict[str, Sequence[float]]) -> str:
    """Columns of equal length as comma-separated text with a header; numbers at full length."""
    lines = [",".join(columns)]
    lines += [",".join(repr(float(v)) for v in row) for row in zip(*columns.values(), strict=True)]
    return "\n".join(lines) + "\n"
