"""On Gradescope a learner always gets a score or a reason, and a failure of ours gives neither."""

import json

import nbformat
import pytest
from made import graded
from nbformat.v4 import new_notebook

from straight_through import course
from straight_through.grading import engine, gradescope
from straight_through.grading.collect import NOTHING, collect
from straight_through.grading.main import main

SIGN = course.ROOT / "exercises" / "01_sign.ipynb"
NO_NOTEBOOKS = {
    "nothing": ({}, "No file was handed in"),
    "a PDF": ({"essay.pdf": b"%PDF"}, "essay.pdf"),
    "a PDF in a folder": ({"hw/essay.pdf": b"%PDF", "hw2/data.csv": b"1"}, "hw/essay.pdf"),
    "another notebook": ({"mine.ipynb": nbformat.writes(new_notebook()).encode()}, "mine.ipynb"),
    "another exercise": ({"01_sign.ipynb": SIGN.read_bytes()}, "01_sign.ipynb"),
    "what is no notebook": ({"mine.ipynb": b"<html>"}, "mine.ipynb"),
}


@pytest.mark.parametrize("name", NO_NOTEBOOKS)
def test_gradescope_is_told_what_was_handed_in_instead_of_a_notebook(name, tmp_path, capsys):
    files, said = NO_NOTEBOOKS[name]
    place, out = gradescopes_folder(tmp_path, files), tmp_path / "graded"
    command = [str(place), "--out", str(out), "--exercise", "04_ste", "--gradescope"]
    assert main(command) == 0
    (path,) = out.glob("gradescope/*/results.json")
    content = json.loads(path.read_text())
    assert content["score"] == 0 and content["tests"] == []
    assert said in content["output"] and "04_ste.ipynb is expected" in content["output"]
    assert content["output"].count(".ipynb is expected.") == 1
    assert main(command[:-1]) == 2  # elsewhere it is a mistake in the command
    assert f"No exercise was found in {place}" in capsys.readouterr().err


def gradescopes_folder(tmp_path, files):
    place = tmp_path / "autograder" / "submission"
    place.mkdir(parents=True)
    (place.parent / "submission_metadata.json").write_text("{}")
    for file, content in files.items():
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_bytes(content)
    return place


@pytest.mark.parametrize("file", ["essay.pdf", "hw/essay.pdf"])
def test_any_folder_without_a_notebook_gets_the_same_answer(file, tmp_path):
    put = tmp_path / "ada" / file
    put.parent.mkdir(parents=True)
    put.write_bytes(b"%PDF")
    command = [str(tmp_path / "ada"), "--out", str(tmp_path / "out"), "--exercise", "04_ste"]
    assert main([*command, "--gradescope"]) == 0
    (path,) = tmp_path.glob("out/gradescope/*/results.json")
    content = json.loads(path.read_text())
    assert content["score"] == 0 and "essay.pdf: 04_ste.ipynb is expected" in content["output"]


def test_gradescope_gets_one_file_whatever_folders_were_uploaded(tmp_path):
    solution = (course.ROOT / "solutions" / "04_ste.ipynb").read_bytes()
    files = {"04_ste.ipynb": SIGN.read_bytes(), "old/04_ste.ipynb": solution, "img/a.png": b""}
    (found,) = collect(gradescopes_folder(tmp_path, files))
    assert (found.learner, found.exercise) == ("submission", "04_ste")
    assert "of 2 files" in found.notes[0]


def test_without_an_exercise_every_one_of_the_course_is_expected(tmp_path):
    place, out = gradescopes_folder(tmp_path, {"essay.pdf": b"%PDF"}), tmp_path / "graded"
    assert main([str(place), "--out", str(out), "--gradescope"]) == 0
    content = json.loads((out / "gradescope" / "submission" / "results.json").read_text())
    assert all(f"{one.stem}.ipynb" in content["output"] for one in course.load().exercises)


@pytest.mark.parametrize(
    "wrong", [["--exercise", "99"], ["--jobs", "0"], ["--roster", "none.csv"], ["--seed", "-1"]]
)
def test_a_wrong_command_writes_no_score_for_gradescope(wrong, tmp_path):
    place, out = gradescopes_folder(tmp_path, {}), tmp_path / "graded"
    assert main([str(place), "--out", str(out), "--gradescope", *wrong]) == 2
    assert main([str(place / "typo"), "--out", str(out), "--gradescope"]) == 2
    assert not list(tmp_path.rglob("results.json"))


def test_a_missing_sandbox_writes_no_score_for_gradescope(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "sandbox_problem", lambda: "bubblewrap is not installed.")
    place, out = gradescopes_folder(tmp_path, {}), tmp_path / "graded"
    assert main([str(place), "--out", str(out), "--gradescope"]) == 2
    assert not out.exists()


def test_which_of_several_exercises_is_missing_is_said_and_nobody_absent_gets_a_zero():
    said = "No notebook of this exercise is among what was handed in, a.pdf."
    other = graded("ada", status="missing", message=said)
    content = gradescope.results([graded("ada", stem="02_stop_gradient"), other])
    assert content["score"] == 10 and said in content["output"]
    absent = graded("bob", status="missing", message=NOTHING)
    assert gradescope.results([absent]) is None
