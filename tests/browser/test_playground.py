"""The playground in JupyterLab in Chromium, as a learner uses it: by keyboard and by mouse.

What the page shows is compared with the pure function of what the controls say, so a late or lost
message fails. Runs twice: with the kernel's subshell for widget messages, as JupyterLab has it,
and without.
"""

import os
import re
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import nbformat
import pytest
from nbformat.v4 import new_code_cell

from straight_through.plots.descent import RaceState, race_curves
from straight_through.plots.estimator import SurrogateState, surrogate_curves
from straight_through.plots.floats import RoundingState, rounding_curves
from straight_through.plots.jacobian import TITLES, ViewsState, views_curves
from straight_through.plots.sampling import Own
from straight_through.surrogates import FORWARDS, SURROGATES

sys.path.insert(0, str(Path(__file__).parent))
import lab  # noqa: E402

if reason := lab.missing():
    if os.environ.get("STE_REQUIRE_ALL") == "1":
        raise RuntimeError(f"STE_REQUIRE_ALL=1, but {reason}")
    pytest.skip(reason, allow_module_level=True)

BUSY = "import os, time\nwhile not os.path.exists(GO):\n    time.sleep(0.05)\nprint('went')"
LOCKED = """
from straight_through.widgets import Question
explore("true", question=Question("t", "Slope of sign at 2?", ("0", "1"), answer="0"))
"""
# Which explorer is which, in the order of the notebook.
ORDER = ("surrogate", "surrogate", "own", "rounding", "race", "views", "surrogate")


def one_line_ste(x):
    return x + jax.lax.stop_gradient(jnp.sign(x) - x)


@pytest.fixture(scope="module")
def opened(request, tmp_path_factory):
    """The playground with two more cells, run from top to bottom."""
    folder = tmp_path_factory.mktemp("notebooks")
    notebook = nbformat.read(lab.ROOT / "notebooks" / "playground.ipynb", as_version=4)
    go = folder / "go"  # the last cell runs until this file is there
    go.touch()
    busy = BUSY.replace("GO", repr(str(go)))
    notebook.cells += [new_code_cell(LOCKED.strip(), id="locked"), new_code_cell(busy, id="busy")]
    nbformat.write(notebook, folder / "playground.ipynb")
    overrides = {}
    if request.param == "main shell":
        overrides = {lab.SUBSHELLS: {"commsOverSubshells": "disabled"}}
    with lab.server(folder, overrides) as (address, token), lab.browser() as page:
        result = lab.Notebook(page, address, token, "playground.ipynb")
        result.run_all()
        result.explorers().nth(len(ORDER) - 1).wait_for()
        page.get_by_text("went", exact=True).wait_for()
        result.subshell, result.go = request.param == "subshell", go
        yield result


@pytest.fixture
def explorer(opened, request):
    """The explorer number ``request.param``; nothing may have gone wrong after the test."""
    found = opened.explorers().nth(request.param)
    found.scroll_into_view_if_needed()
    found.kind = ORDER[request.param]
    yield found
    assert opened.errors == []
    assert opened.page.locator(".jp-OutputArea [data-mime-type*=stderr]").count() == 0
    assert opened.page.locator(".jp-OutputArea [data-mime-type*=error]").count() == 0


once = pytest.mark.parametrize("opened", ["subshell"], indirect=True)
both = pytest.mark.parametrize("opened", ["subshell", "main shell"], indirect=True)


def on(*numbers: int):
    return pytest.mark.parametrize("explorer", numbers, indirect=True)


every = on(*range(6))


def controls(explorer) -> list[tuple[str, str]]:
    """Label and content of every box and list, in order."""
    script = """root => [...root.querySelectorAll('input[type=text], select')]
        .filter(e => e.offsetParent)
        .map(e => [e.labels[0].textContent,
                   e.tagName == 'SELECT' ? e.selectedOptions[0].text : e.value])"""
    # Lists have their spaces replaced by unbreakable ones.
    return [(label, text.replace("\xa0", " ")) for label, text in explorer.evaluate(script)]


def expected(explorer) -> dict[str, str]:
    """The read-out that the pure function gives for the controls of the page."""
    said = controls(explorer)
    value = dict(said)
    if explorer.kind == "rounding":
        state = RoundingState(
            value["dtype"], int(value["exponent of x"]), float(value["significand"])
        )
        return dict(rounding_curves(state).readout)
    if explorer.kind == "race":
        numbers = [float(value[k]) for k in ("learning rate", "start w", "target")]
        return dict(
            race_curves(RaceState(*numbers, int(value["seed"]), int(value["step"]))).readout
        )
    if explorer.kind == "views":
        name = next(n for n, title in TITLES.items() if title == value["function"])
        vectors = [
            tuple(float(value[f"{v}[{i}]"]) for i in range(3))
            for v in ("direction t", "cotangent g")
        ]
        return dict(views_curves(ViewsState(name, *vectors)).readout)
    return dict(surrogate_curves(_surrogate_state(said)).readout)


def _surrogate_state(said: list[tuple[str, str]]) -> SurrogateState:
    """Parameters follow the list that they belong to, as on the page."""
    titles = {
        half.title: name
        for half in (*FORWARDS.values(), *SURROGATES.values())
        for name in [half.name]
    }
    names, parameters, last = {}, {}, None
    for label, text in said:
        if label in ("forward", "surrogate", "compare with"):
            last, names[label], parameters[label] = label, titles.get(text, text), {}
        elif label not in ("probe x", "axis reach"):
            table = FORWARDS if last == "forward" else SURROGATES
            by_title = {p.title: p.name for p in table[names[last]].parameters}
            parameters[last][by_title[label]] = float(text)
    own = names["surrogate"].endswith("(yours)")
    other = None if names["compare with"] == "nothing" else names["compare with"]
    value = dict(said)
    return SurrogateState(
        "identity" if own else names["surrogate"],
        names["forward"],
        other,
        float(value["probe x"]),
        float(value["axis reach"]),
        {} if own else parameters["surrogate"],
        parameters["forward"],
        parameters["compare with"],
        Own(one_line_ste) if own else None,
    )


def readout(explorer) -> dict[str, str]:
    script = """root => [...root.querySelectorAll('[data-ste]')]
        .map(e => [e.dataset.ste, e.textContent])"""
    return dict(explorer.evaluate(script))


def picture(explorer) -> str:
    return explorer.locator("img").get_attribute("src")


def agree(explorer) -> bool:
    """Whether sliders, boxes and read-out of the page say the same."""
    script = """root => [...root.querySelectorAll('.ste-number')].filter(e => e.offsetParent)
        .map(e => { const at = k => e.querySelector('.noUi-handle').getAttribute('aria-value' + k);
            return [e.querySelector('input').value, at('min'), at('now'), at('max')].map(Number) })
    """
    for box, low, now, high in explorer.evaluate(script):
        # The handle reports its place with one digit less than two.
        if abs(min(max(box, low), high) - now) > 0.051:
            return False
    try:
        return readout(explorer) == expected(explorer)
    except (KeyError, StopIteration):
        return False  # a list has changed and its parameters have not arrived


def settle(explorer, seconds: float = 10.0) -> None:
    """Wait until the page agrees with itself and with the pure function."""
    end = time.monotonic() + seconds
    while not agree(explorer):
        assert time.monotonic() < end, (controls(explorer), readout(explorer))
        time.sleep(0.03)


def changed(explorer, before: str) -> None:
    end = time.monotonic() + 10
    while picture(explorer) == before:
        assert time.monotonic() < end, "the picture did not change"
        time.sleep(0.03)
    settle(explorer)


@every
@once
def test_every_control_has_an_accessible_name(explorer, opened):
    tree = explorer.aria_snapshot()
    roles = re.findall(r"- '?(slider|textbox|combobox|button|img|figure)\b(.*)", tree)
    assert {role for role, _ in roles} >= {"slider", "textbox", "button", "img", "figure"}
    assert [(role, rest) for role, rest in roles if not re.match(r' ".*\w', rest)] == []


@every
@both
def test_every_slider_moves_by_keyboard_and_by_mouse(explorer, opened):
    handles = explorer.locator(".noUi-handle")
    for number in range(handles.count()):
        handle = handles.nth(number)
        before, at = picture(explorer), float(handle.get_attribute("aria-valuenow"))
        full = at >= float(handle.get_attribute("aria-valuemax"))
        handle.focus()
        opened.page.keyboard.press("ArrowLeft" if full else "ArrowRight")
        changed(explorer, before)
        before = picture(explorer)
        track = handle.locator("xpath=ancestor::*[contains(@class, 'noUi-target')]").bounding_box()
        here = handle.bounding_box()
        middle = here["y"] + here["height"] / 2
        opened.page.mouse.move(here["x"] + here["width"] / 2, middle)
        opened.page.mouse.down()
        to = 0.25 if here["x"] > track["x"] + track["width"] / 2 else 0.6
        opened.page.mouse.move(track["x"] + track["width"] * to, middle, steps=4)
        opened.page.mouse.up()
        changed(explorer, before)


@every
@once
def test_every_list_changes_by_keyboard(explorer, opened):
    lists = explorer.locator("select")
    for number in range(lists.count()):
        chosen = lists.nth(number)
        before = chosen.input_value()
        chosen.focus()
        opened.page.keyboard.press(
            "End" if before != chosen.locator("option").last.text_content() else "Home"
        )
        assert chosen.input_value() != before
        settle(explorer)
        opened.page.keyboard.press("ArrowUp")
        settle(explorer)


@every
@once
def test_every_box_takes_a_number_and_answers_nonsense_with_a_sentence(explorer, opened):
    boxes = explorer.locator(".ste-number input[type=text]")
    for number in range(boxes.count()):
        box = boxes.nth(number)
        if not box.is_visible():
            continue
        usual = box.input_value()
        for nonsense in ("nan", "1e400", "half"):
            box.fill(nonsense)
            opened.page.keyboard.press("Enter")
            explorer.get_by_role("alert").wait_for()
            assert explorer.get_by_role("alert").inner_text().endswith(".")
        box.fill(usual)
        opened.page.keyboard.press("Enter")
        explorer.get_by_role("alert").wait_for(state="detached")
        settle(explorer)


@every
@both
def test_ten_fast_key_presses_end_in_the_right_state(explorer, opened):
    box = explorer.locator(".ste-number input[type=text]").last
    explorer.locator(".noUi-handle").last.focus()
    opened.page.keyboard.press("Home")
    settle(explorer)
    low = float(box.input_value())
    opened.page.keyboard.press("ArrowRight")
    settle(explorer)
    step = float(box.input_value()) - low
    for _ in range(9):
        opened.page.keyboard.press("ArrowRight")
    end = time.monotonic() + 10
    while float(box.input_value()) != pytest.approx(low + 10 * step):
        assert time.monotonic() < end and step > 0, (low, step, box.input_value())
        time.sleep(0.03)
    settle(explorer)


@on(0)
@once
def test_huge_and_tiny_numbers_are_shown(explorer, opened):
    box = explorer.get_by_label("probe x", exact=True)
    for number in ("3.4e38", "-1e-30", "0", "0.5"):
        box.fill(number)
        opened.page.keyboard.press("Enter")
        settle(explorer)


@on(0)
@both
def test_the_slider_follows_while_a_cell_is_running(explorer, opened):
    page = opened.page
    busy = page.locator(".jp-CodeCell").last
    opened.go.unlink()
    busy.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    busy.locator(".jp-InputPrompt", has_text="*").wait_for()
    explorer.scroll_into_view_if_needed()
    before = picture(explorer)
    explorer.locator(".noUi-handle").last.focus()
    page.keyboard.press("ArrowRight")
    if opened.subshell:
        changed(explorer, before)
        assert busy.locator(".jp-InputPrompt").text_content().strip("[]: ") == "*"
    opened.go.touch()
    changed(explorer, before)
    busy.locator(".jp-InputPrompt", has_text=re.compile(r"\d")).wait_for()


@on(0)
@once
def test_files_can_be_saved(explorer, opened):
    explorer.get_by_role("button", name="Make files").click()
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("csv", b"x,value")):
        with opened.page.expect_download() as saved:
            explorer.get_by_role("link", name=f"surrogate.{ending}").click()
        assert saved.value.suggested_filename == f"surrogate.{ending}"
        assert Path(saved.value.path()).read_bytes().startswith(start)


@on(4)
@once
def test_the_race_plays(explorer, opened):
    explorer.get_by_label("step", exact=True).fill("0")
    opened.page.keyboard.press("Enter")
    settle(explorer)
    explorer.locator(".jupyter-widget-play button, .widget-play button").first.click()
    end = time.monotonic() + 15
    while int(readout(explorer)["step"]) < 5:
        assert time.monotonic() < end
        time.sleep(0.05)
    explorer.locator(".jupyter-widget-play button, .widget-play button").first.click()
    opened.page.wait_for_timeout(300)
    settle(explorer)


@on(6)
@both
def test_a_prediction_unlocks_the_picture(explorer, opened):
    assert explorer.locator("img").count() == 0
    explorer.get_by_role("button", name="1", exact=True).press("Enter")
    explorer.locator("img").wait_for()
    assert "You predicted 1. The answer is 0." in explorer.get_by_role("status").inner_text()
    settle(explorer)
