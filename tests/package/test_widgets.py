"""Explorers without a browser: what the controls say is what the pure function shows."""

import re
import threading

import ipywidgets
import nbconvert
import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from straight_through import course, progress, widgets
from straight_through.plots.estimator import SurrogateState, surrogate_curves
from straight_through.surrogates import FORWARDS, SURROGATES
from straight_through.widgets import Question, saved

EVERY = [widgets.explore, widgets.explore_rounding, widgets.race, widgets.three_views]


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("STE_PROGRESS", str(tmp_path / "progress.json"))


def within(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from within(child)


def shown(explorer) -> dict[str, str]:
    return dict(re.findall(r"data-ste='(.*?)'.*?>(.*?)</dd>", explorer.view.value))


def alert(explorer) -> str:
    found = re.search(r"role='alert'.*?>(.*?)</p>", explorer.view.value)
    return found[1] if found else ""


@pytest.mark.parametrize("make", EVERY)
def test_every_slider_moves_the_picture_and_the_numbers(make):
    explorer = make()
    sliders = [w for w in within(explorer) if isinstance(w, ipywidgets.FloatSlider)]
    assert sliders
    for slider in sliders:
        before, start = explorer.view.value, slider.value
        slider.value = slider.min + 7 * slider.step if start == slider.min else slider.min
        assert explorer.view.value != before and not alert(explorer)
        slider.value = start


@pytest.mark.parametrize("make", EVERY)
def test_every_control_has_a_name(make):
    for widget in within(make()):
        if isinstance(widget, (ipywidgets.Text, ipywidgets.Dropdown, ipywidgets.Button)):
            assert widget.description.strip()


def test_every_pair_of_halves_can_be_chosen_and_shows_the_pure_function():
    explorer = widgets.explore()
    for forward in FORWARDS:
        explorer.forward.control.value = forward
        for surrogate in SURROGATES:
            explorer.surrogate.control.value = surrogate
            curves = surrogate_curves(SurrogateState(surrogate, forward))
            assert shown(explorer) == dict(curves.readout)


def test_box_and_slider_follow_each_other():
    explorer = widgets.explore()
    explorer.x.slider.value = 1.25
    assert explorer.x.box.value == "1.25" and shown(explorer)["x"] == "1.25"
    explorer.x.box.value = "-0.5"
    assert explorer.x.slider.value == -0.5 and shown(explorer)["x"] == "-0.5"
    explorer.x.box.value = "1e20"
    assert explorer.x.slider.value == explorer.x.slider.max and shown(explorer)["x"] == "1e20"


@pytest.mark.parametrize(
    "typed, words",
    [
        ("nan", "probe x: NaN is not a place on the line. Type a number."),
        ("half", "probe x: &#x27;half&#x27; is no number. Type one like 0.5 or 1e20."),
        ("", "probe x: &#x27;&#x27; is no number. Type one like 0.5 or 1e20."),
        ("1e39", "1e+39 is beyond the largest float32, 3.4e38. Type a smaller x."),
        ("inf", "inf is beyond the largest float32, 3.4e38. Type a smaller x."),
    ],
)
def test_what_cannot_be_shown_is_said_and_the_picture_stays(typed, words):
    explorer = widgets.explore(x=0.75)
    explorer.x.box.value = typed
    assert alert(explorer) == words and shown(explorer)["x"] == "0.75"
    explorer.x.box.value = "0"
    assert not alert(explorer) and shown(explorer)["x"] == "0"


@pytest.mark.parametrize("make", EVERY)
@pytest.mark.parametrize("typed", ["0", "-1e400", "1e308", "nan", "3.4e38", "1e-320", "words"])
def test_no_number_in_any_box_raises(make, typed):
    explorer = make()
    for box in [w for w in within(explorer) if isinstance(w, ipywidgets.Text)]:
        usual, box.value = box.value, typed
        assert "data:image/png" in explorer.view.value
        box.value = usual
        assert not alert(explorer)


def test_parameters_out_of_range_get_a_sentence():
    explorer = widgets.explore("clipped")
    number = explorer.surrogate._number(SURROGATES["clipped"], SURROGATES["clipped"].parameters[0])
    number.box.value = "-1"
    assert alert(explorer) == "limit c must be from 0.1 to 3."


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: widgets.explore("nosuch"), "There is no 'nosuch'. Choose one of: true, identity"),
        (lambda: widgets.explore(forward="nosuch"), "Choose one of: sign"),
        (lambda: widgets.explore(compare="nosuch"), "Choose one of: true"),
        (lambda: widgets.explore_rounding("int8"), "no dtype 'int8'"),
        (lambda: widgets.three_views("nosuch"), "Choose one of: ste"),
        (lambda: widgets.race(start=float("nan")), "start must be a number"),
    ],
)
def test_a_wrong_argument_is_refused_at_once(call, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


def test_an_untouched_exercise_can_be_explored():
    def ste_quantize(x):
        raise NotImplementedError

    for explorer in (widgets.explore(ste_quantize), widgets.three_views(ste_quantize)):
        assert "ste_quantize: It raises NotImplementedError." in explorer.view.value


def test_callbacks_from_many_threads_end_in_the_state_that_the_controls_show():
    explorer = widgets.explore("tanh")

    def type_in(values):
        for value in values:
            explorer.x.box.value = f"{value:.3f}"

    def slide(values):
        for value in values:
            explorer.x.slider.value = value

    values = np.linspace(-2, 2, 15)
    threads = [
        threading.Thread(target=f, args=(values * k,)) for f in (type_in, slide) for k in (1, -1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert float(shown(explorer)["x"]) == explorer.x.value


def test_a_function_that_changed_is_not_shown_as_it_was():
    slope = 1.0

    def mine(x):
        return slope * x

    assert shown(widgets.explore(mine))["derivative, mine"] == "1"
    slope = 2.0
    assert shown(widgets.explore(mine))["derivative, mine"] == "2"


def test_a_callable_object_without_name_or_hash_can_be_explored():
    class Twice:
        __hash__ = None

        def __call__(self, x):
            return 2 * x

    assert shown(widgets.explore(Twice()))["derivative, Twice"] == "2"
    assert "(2, 4, -2)" in shown(widgets.three_views(Twice()))["pulled back, g J"]


def test_prints_of_a_function_are_dropped_and_those_of_other_threads_are_not(capsys):
    inside, done = threading.Event(), threading.Event()

    def noisy(x):
        inside.set()
        done.wait(5)
        print("noise")
        return x

    thread = threading.Thread(target=widgets.explore, args=(noisy,))
    thread.start()
    inside.wait(5)
    print("a cell prints")
    done.set()
    thread.join()
    assert capsys.readouterr().out == "a cell prints\n"


@pytest.mark.parametrize("make", EVERY)
def test_files_of_the_picture(make):
    explorer = make()
    explorer._export()
    assert re.findall(r"download='\w+\.(\w+)'", explorer._files.value) == ["png", "svg", "csv"]
    explorer.refresh()
    assert explorer._files.value == ""  # never the file of an earlier picture


# Predict first


def test_the_picture_is_locked_until_the_question_is_answered():
    question = Question("q", "Slope at 2?", ("0", "1"), answer="0", because="sign is flat.")
    explorer = widgets.explore("true", question=question)
    assert "Answer the question" in explorer.view.value and "<img" not in explorer.view.value
    explorer.x.slider.value = 2.0
    explorer._export()
    assert "<img" not in explorer.view.value and explorer._files.value == ""
    explorer.ask.control.value = "1"
    assert "<img" in explorer.view.value and shown(explorer)["x"] == "2"
    assert "You predicted 1. The answer is 0. sign is flat." in explorer.ask.words.value
    assert progress.load().prediction("q") == "1"

    again = widgets.explore("true", question=question)
    assert not again.locked and again.ask.control.value == "1" and again.ask.control.disabled


def test_a_number_is_predicted_in_a_box():
    explorer = widgets.explore_rounding(question=Question("n", "Which power?", answer=24))
    explorer.ask.control.value = "many"
    explorer.ask.button.click()
    assert explorer.locked and "is no number" in explorer.ask.words.value
    explorer.ask.control.value = "24"
    assert explorer.locked
    explorer.ask.button.click()
    assert not explorer.locked and "That is right." in explorer.ask.words.value


def test_a_question_without_an_answer_sends_the_learner_to_the_picture():
    assert Question("o", "What?").verdict("3") == "You predicted 3. Compare it with the picture."


# Saved notebooks


def test_the_saved_playground_shows_every_picture_without_a_kernel():
    notebook = nbformat.read(course.ROOT / "notebooks" / "playground.ipynb", as_version=4)
    assert "widgets" not in notebook.metadata
    shown = [
        cell
        for cell in notebook.cells
        if re.search(r"(?m)^(explore|race|three_v|plots)", cell.source)
    ]
    assert len(shown) == 7
    for cell in shown:
        (output,) = cell.outputs
        assert sorted(output.data) == ["image/png", "text/plain"]
        assert output.metadata["image/png"]["alt"]
        assert "nbval-ignore-output" in cell.metadata.tags
        before, after = (notebook.cells[notebook.cells.index(cell) + k] for k in (-1, 1))
        assert before.cell_type == after.cell_type == "markdown"
        assert after.source.startswith("*")  # the caption
    classic = nbconvert.HTMLExporter(template_name="classic").from_notebook_node(notebook)[0]
    assert all(cell.outputs[0].metadata["image/png"]["alt"] in classic for cell in shown)
    html = nbconvert.HTMLExporter().from_notebook_node(notebook)[0]
    assert html.count('src="data:image/png;base64') == 7 and "widget-view" not in html


@pytest.mark.parametrize("make", EVERY)
def test_a_viewer_without_widgets_gets_picture_and_numbers(make):
    explorer = make(question=Question("s", "What do you see?"))
    data, metadata = explorer._repr_mimebundle_()
    assert data["image/png"] and metadata["image/png"]["alt"]
    assert "Question: What do you see?" in data["text/plain"]
    for name, value in explorer.readout.items():
        assert f"{name}: {value}" in data["text/plain"]


def test_a_saved_notebook_keeps_the_picture_and_no_live_view():
    data, metadata = widgets.explore()._repr_mimebundle_()
    live = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}
    outputs = [
        new_output("execute_result", data | live, metadata=metadata, execution_count=1),
        new_output("display_data", dict(live)),
        new_output("stream", text="kept"),
    ]
    notebook = new_notebook(cells=[new_code_cell("explore()", outputs=outputs)])
    notebook.metadata.widgets = {"state": {}}
    saved.still(notebook)
    assert [o.output_type for o in notebook.cells[0].outputs] == ["execute_result", "stream"]
    assert sorted(notebook.cells[0].outputs[0].data) == ["image/png", "text/plain"]
    assert "widgets" not in notebook.metadata
    nbformat.validate(notebook)
