"""What a submission does ends its own run at most, with its status and a sentence that says why."""

import io
import itertools

import nbformat
import pytest
from classroom import CASES, LIMITS, RIGHT, by_learner, cell, hand_in, notebook

from straight_through import course
from straight_through.grading import grade, runner, watch
from straight_through.grading.runner import Task, grade_one

ANSWERS = {
    # learner: (answer, status, misconception, a part of the message)
    "endless_cell": ("while True:\n    pass\n", "timeout", None, "cell 3"),
    "endless_call": ("def ste_quantize(x):\n    while True:\n        pass\n", "timeout", None, ""),
    "leaves_in_cell": ("import os\nos._exit(0)\n", "crashed", None, "cell 3"),
    "leaves_in_call": ("import os\ndef ste_quantize(x):\n    os._exit(0)\n", "crashed", None, ""),
    "memory": ("hoard = b'x' * (4 * 2**30)\n", "crashed", None, "1 GB"),
    "memory_in_call": (
        "def ste_quantize(x):\n    return b'x' * (4 * 2**30)\n",
        "crashed",
        None,
        "1 GB",
    ),
    "killed": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "crashed", None, ""),
    "exits_in_cell": ("import sys\nsys.exit(3)\n", "graded", "raises", "Cell 3 raised SystemExit"),
    "exits_in_call": (
        "import sys\ndef ste_quantize(x):\n    sys.exit(3)\n",
        "graded",
        "raises",
        "",
    ),
    "quits": ("quit()\n", "graded", "raises", "Cell 3 raised SystemExit"),
    "asks": ("answer = input('? ')\n", "graded", "raises", "Cell 3 raised StdinNotImplemented"),
    "syntax": ("def ste_quantize(x)\n    return x\n", "graded", "raises", "line 1"),
    "untouched": ("def ste_quantize(x):\n    ...\n", "not_attempted", "not_attempted", "as it was"),
    "nowhere": ("def ste_quantise(x):\n    return x\n", "graded", "not_defined", ""),
}
FLOOD = 'for _ in range(300):\n    print("x" * 100_000)\n'
FINE = {
    "right": RIGHT,
    "flood_then_right": FLOOD + RIGHT,
    "prints": RIGHT.replace("    zero =", '    print("at work", x)\n    zero ='),
    "raises_after_the_definition": RIGHT + "\n\n1 / 0\n",
    "defines_last": "def ste_quantize(x):\n    return x\n\n\n" + RIGHT,
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for learner, (answer, *_) in ANSWERS.items():
        hand_in(folder, learner, answer)
    for learner, answer in FINE.items():
        hand_in(folder, learner, answer)
    hand_in(folder, "empty", b"")
    hand_in(folder, "html", b"<!DOCTYPE html><html>Sign in</html>")
    hand_in(folder, "cut", b'{"cells": [')
    hand_in(folder, "no_cells", nbformat.v4.new_notebook())
    return by_learner(grade(folder, limits=LIMITS, seed=5))


@pytest.mark.parametrize("learner", ANSWERS)
def test_each_gets_its_status_and_a_reason(graded, learner):
    _, status, label, part = ANSWERS[learner]
    result = graded[learner].result
    assert result.status == status
    assert part in result.message
    assert result.misconceptions[:1] == ([label] if label else [])
    assert result.score is not None and result.score < 10


@pytest.mark.parametrize("learner", FINE)
def test_a_right_answer_earns_full_marks_whatever_else_it_does(graded, learner):
    result = graded[learner].result
    assert (result.status, result.score, result.misconceptions) == ("graded", 10, [])


@pytest.mark.parametrize("learner", ["empty", "html", "cut", "no_cells"])
def test_what_is_no_notebook_is_unreadable_and_has_no_score(graded, learner):
    result = graded[learner].result
    assert result.status == "unreadable" and result.score is None and result.checks == []
    assert result.message.endswith(".")


STOPPING = {
    "loop": ("while True:\n    pass", f"it took more than {LIMITS.cell} s"),
    "sleep": ("import time\ntime.sleep(60)", f"it took more than {LIMITS.cell} s"),
    "exit": ("import os\nos._exit(0)", "the process ended"),
}


def test_a_scratch_cell_that_stops_the_run_is_left_out_and_costs_nothing(tmp_path):
    for learner, (source, _) in STOPPING.items():
        made = notebook(RIGHT)
        made.cells.append(cell(source))
        hand_in(tmp_path, learner, made)
    above = notebook(RIGHT)
    above.cells.insert(1, cell("import os\nos._exit(0)"))
    hand_in(tmp_path, "above", above)
    graded = by_learner(grade(tmp_path, limits=LIMITS))
    for learner, (_, reason) in STOPPING.items():
        result = graded[learner].result
        said = f"cell {len(made.cells)} was left out: {reason}"
        assert (result.status, result.score) == ("graded", 10)
        assert said in result.repairs and result.message == f"C{said[1:]}."
    assert graded["above"].result.score == 10
    assert "cell 2 was left out: the process ended" in graded["above"].result.repairs


def test_only_one_cell_is_left_out_and_what_finished_counts(tmp_path):
    made = notebook(RIGHT)
    made.cells += [cell("import os\nos._exit(0)"), cell("import os\nos._exit(0)")]
    hand_in(tmp_path, "twice", made)
    made = notebook(RIGHT + "\n\nimport os\nos._exit(0)\n")
    hand_in(tmp_path, "answer", made)
    graded = by_learner(grade(tmp_path, limits=LIMITS))
    for learner, told in (("twice", 1), ("answer", 0)):
        result = graded[learner].result
        assert result.status == "crashed" and "the process ended" in result.message
        assert {check["outcome"] for check in result.checks} == {"not_run"}
        assert len(result.repairs) == told


def test_the_lesson_in_place_of_the_exercise_is_named(tmp_path):
    lesson = nbformat.read(course.ROOT / "notebooks" / "04_ste.ipynb", as_version=4)
    hand_in(tmp_path, "lesson", lesson)
    result = by_learner(grade(tmp_path, limits=LIMITS))["lesson"].result
    assert (result.status, result.score) == ("not_attempted", 0)
    assert "hand in exercises/04_ste.ipynb" in result.message


def test_scratch_cells_and_lost_outputs_cost_nothing(tmp_path):
    made = notebook(RIGHT)
    made.cells.insert(1, cell("undefined_name"))
    made.cells.append(cell("x = jnp = jax = None"))
    made.cells.append(cell("# NBVAL_SKIP\nimport numpy"))
    hand_in(tmp_path, "scratch", made)
    result = by_learner(grade(tmp_path, limits=LIMITS))["scratch"].result
    assert (result.status, result.score) == ("graded", 10)
    assert any("cell 2 raised NameError" in note for note in result.notes)
    assert any("nbval marker" in repair for repair in result.repairs)


def test_what_an_example_raises_is_told_with_the_learners_own_line(tmp_path):
    made = notebook("def ste_quantize(x):\n    y = x + 1\n    return helper(y)\n")
    made.cells.insert(1, cell("  \n"))  # a blank cell is not counted by the kernel
    made.cells.insert(1, cell("def helper(y):\n\n\n    return y.nothing"))
    made.cells.append(cell("1\n2\n3\n4"))
    hand_in(tmp_path, "helped", made)
    (example,) = [
        check
        for check in by_learner(grade(tmp_path, limits=LIMITS))["helped"].result.checks
        if check["id"] == "example_ste_quantize"
    ]
    assert "AttributeError" in example["message"]
    assert example["message"].endswith("(line 4: `return y.nothing`)")


def test_an_answer_in_another_cell_counts_and_is_reported(tmp_path):
    moved = notebook("def ste_quantize(x):\n    raise NotImplementedError")
    moved.cells.insert(1, cell(RIGHT))
    hand_in(tmp_path, "moved", moved)
    lost = notebook(RIGHT)
    for one in lost.cells:
        one.metadata.clear()
        one.id = f"lost-{lost.cells.index(one)}"
    hand_in(tmp_path, "lost", lost)
    toggled = notebook(RIGHT)
    for one in toggled.cells:
        if one.id == "ste_quantize":
            one.cell_type = "markdown"
            del one["outputs"], one["execution_count"]
    hand_in(tmp_path, "toggled", toggled)
    for learner, item in by_learner(grade(tmp_path, limits=LIMITS)).items():
        assert item.result.score == 10, learner
        assert item.result.repairs, learner


def test_a_patched_jax_does_not_help(tmp_path):
    cheat = (CASES / "wrong_plain_sign.py").read_text()
    cheat += "\n\njax.vjp = lambda f, *a: (f(*a), lambda g: (g,))\njnp.sign = None\n"
    cheat += "jax.grad = lambda f: lambda x: jnp.ones_like(x)\n"
    hand_in(tmp_path, "patched", cheat)
    result = by_learner(grade(tmp_path, limits=LIMITS))["patched"].result
    assert result.score < 10 and result.misconceptions


def test_where_memory_runs_out_on_the_machine_nobody_loses_a_mark(tmp_path, monkeypatch):
    """The system ends sandboxes first, whichever process took the memory."""
    counts = itertools.count()
    monkeypatch.setattr(watch, "oom_kills", lambda: next(counts))
    for place, source in enumerate(("import os\nos._exit(1)\n", ANSWERS["leaves_in_call"][0])):
        raw = hand_in(tmp_path, f"learner{place}", RIGHT + source).read_bytes()
        result = grade_one(Task("ada", "04_ste", "04_ste.ipynb", raw, 7, "bubblewrap", LIMITS))
        assert (result.status, result.score) == ("error", None)
        assert "the machine ran out of memory" in result.message


def test_the_machines_count_of_ended_processes_is_read(monkeypatch):
    counts = "oom_kill_disable 7\noom_kill 2\npgfault 9\n"
    monkeypatch.setattr(watch, "open", lambda path: io.StringIO(counts), raising=False)
    assert watch.oom_kills() == 2


def test_what_cannot_be_drawn_costs_the_picture_and_no_mark(tmp_path, monkeypatch):
    def broken(*_):
        raise ValueError("no picture")

    monkeypatch.setattr(runner, "portrait", broken)
    raw = hand_in(tmp_path, "ada", "def ste_quantize(x):\n    return jnp.sign(x)\n").read_bytes()
    result = grade_one(Task("ada", "04_ste", "04_ste.ipynb", raw, 7, "bubblewrap", LIMITS))
    assert (result.status, result.misconceptions, result.portraits) == (
        "graded",
        ["zero_gradient"],
        {},
    )


def test_a_result_tells_the_level_it_came_from(tmp_path):
    raw = hand_in(tmp_path, "ada", RIGHT).read_bytes()
    for level in ("none", "bubblewrap"):
        assert grade_one(Task("ada", "04_ste", "x", raw, 7, level, LIMITS)).isolation == level
