"""From key press to new pixels, in a real browser: each explorer, and what it is up against.

    python tests/bench/bench_widgets.py [--presses 100] [--json FILE]

The floor is a slider that only changes a line of text: the round trip to the kernel and nothing
else. The other neighbour is what a tutorial would write, `interact` with pyplot, for the same
curves as the surrogate explorer. All run in one notebook, in turns, so that a busy machine is
equally unkind to all of them. Exits with 1 if an explorer misses the goal.

Why ``plots.style.Picture`` is what it is: milliseconds from numbers to PNG for the surrogate
picture, measured once on two busy cores. New figure and savefig 81; one figure, drawn whole 66;
one figure, blitted, packed by Pillow at level 1 12; blitted, packed by ``style.encode`` 4.3.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))
import lab  # noqa: E402

FLOOR, INTERACT = "floor: slider and text", "interact + pyplot"
CELLS = {
    FLOOR: """
import ipywidgets
slider, text = ipywidgets.FloatSlider(min=-3, max=3, step=0.05), ipywidgets.HTML("0")
slider.observe(lambda change: setattr(text, "value", str(change["new"])), "value")
ipywidgets.VBox([slider, text])
""",
    INTERACT: """
%matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import FloatSlider, interact

@interact(x=FloatSlider(min=-3, max=3, step=0.05))
def draw(x):
    grid = np.linspace(-3, 3, 401)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.2, 4.7))
    top.plot(grid, np.sign(grid), "k", label="value")
    top.plot(grid, np.clip(grid, -1, 1), "--", label="clipped")
    bottom.plot(grid, (abs(grid) <= 1) * 1.0, label="clipped")
    bottom.plot(grid, 0 * grid, "k:", label="true derivative")
    for axes in (top, bottom):
        axes.axvline(x, color="purple")
        axes.grid()
        axes.legend()
    plt.show()
""",
    "surrogate explorer": "from straight_through import explore\nexplore('clipped')",
    "rounding explorer": "from straight_through import explore_rounding; explore_rounding()",
    "race": "from straight_through import race; race()",
    "three views": "from straight_through import three_views; three_views()",
}
# The slider to move, by its number in the explorer; it must have room for a batch of steps.
HANDLES = {"surrogate explorer": 1, "race": 2, "three views": 1}

MEASURE = """
(cell) => {
  const area = cell.querySelector('.jp-OutputArea');
  const sign = () => { const i = area.querySelector('img');
    return i ? i.src : (area.querySelector('.widget-html-content') || {}).textContent };
  const before = sign();
  window.__delay = new Promise((done, fail) => {
    let start = null;
    const late = setTimeout(() => fail(new Error('no new picture within 5 s')), 5000);
    const key = e => { start = e.timeStamp };
    document.addEventListener('keydown', key, {once: true, capture: true});
    const seen = new MutationObserver(async () => {
      const now = sign();
      if (!now || now === before) return;
      seen.disconnect(); clearTimeout(late);
      const image = area.querySelector('img');
      if (image) await image.decode();
      // A frame has been painted once a task runs after its animation callbacks.
      requestAnimationFrame(() => { const c = new MessageChannel();
        c.port1.onmessage = () => done(performance.now() - start); c.port2.postMessage(0) });
    });
    seen.observe(cell, {subtree: true, childList: true, attributes: true, characterData: true});
  });
  window.__delay.catch(() => {});
}
"""


def measure(notebook: "lab.Notebook", presses: int) -> dict[str, list[float]]:
    page = notebook.page
    delays = {name: [] for name in CELLS}
    handles = {}
    for number, name in enumerate(CELLS):
        cell = page.locator(".jp-CodeCell").nth(number)
        handles[name] = cell, cell.locator(".noUi-handle").nth(HANDLES.get(name, 0))
    batch = 10
    for turn in range(-1, presses // batch):  # the first turn warms up
        for name, (cell, handle) in handles.items():
            handle.scroll_into_view_if_needed()
            handle.focus()
            page.wait_for_timeout(150)
            for _ in range(batch):
                cell.evaluate(MEASURE)
                page.keyboard.press("ArrowRight" if turn % 2 else "ArrowLeft")
                delay = page.evaluate("window.__delay")
                if turn >= 0:
                    delays[name].append(delay)
    return delays


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if reason := lab.missing():
        print(f"Cannot measure: {reason}.")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        cells = [new_code_cell(source.strip()) for source in CELLS.values()]
        notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(notebook, Path(folder) / "bench.ipynb")
        with lab.server(Path(folder)) as (address, token), lab.browser(height=1400) as page:
            opened = lab.Notebook(page, address, token, "bench.ipynb")
            opened.run_all()
            page.wait_for_timeout(2000)
            delays = measure(opened, options.presses)
    return report(delays, options.json)


def report(delays: dict[str, list[float]], file: Path | None) -> int:
    rows = {}
    for name, values in delays.items():
        p95 = statistics.quantiles(values, n=20)[-1]
        rows[name] = {"median": statistics.median(values), "p95": p95, "presses": len(values)}
    floor, usual = rows[FLOOR]["median"], rows[INTERACT]["median"]
    missed = []
    head = "median ms", "p95 ms", "of floor", "of interact"
    print("key press to new pixels   " + "".join(f"{words:>12}" for words in head))
    for name, row in rows.items():
        row["of_floor"], row["of_interact"] = row["median"] / floor, row["median"] / usual
        print(
            f"{name:26}{row['median']:12.1f}{row['p95']:12.1f}{row['of_floor']:12.2f}"
            f"{row['of_interact']:12.2f}"
        )
        slow = row["of_floor"] > 1.25 or row["of_interact"] > 0.6
        if slow and name not in (FLOOR, INTERACT):
            missed.append(name)
    if file:
        file.write_text(json.dumps(rows, indent=1))
    print(
        "Goal, at most 1.25 of the floor and 0.6 of interact: "
        + (f"missed by {', '.join(missed)}." if missed else "met by every explorer.")
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
