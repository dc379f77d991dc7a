"""docs/instructors.md can be followed from the first command to the last."""

import csv
import io
import json
import re
import shlex
import zipfile

import nbformat
import pytest
from classroom import CASES, RIGHT, notebook

from straight_through import cli, course
from straight_through.grading.sandbox import Limits

TEXT = (course.ROOT / "docs" / "instructors.md").read_text()
COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()
]
(WEIGHTS,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
PEOPLE = {101: "Ada Lovelace", 102: "Bob Boole", 103: "Cy Curry"}
ANSWERS = {101: (CASES / "wrong_one_line.py").read_text(), 102: RIGHT}  # nothing from Cy


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """What an instructor has: a download, the two files of an LMS, a file of weights."""
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        for number, answer in ANSWERS.items():
            name = f"{PEOPLE[number]}_{number}_assignsubmission_file/04_ste.ipynb"
            archive.writestr(name, nbformat.writes(notebook(answer)))
        name = f"{PEOPLE[101]}_101_assignsubmission_file/03_rounding.ipynb"
        archive.write(course.ROOT / "solutions" / "03_rounding.ipynb", name)
    rows = [["Identifier", "Full name", "Status", "Grade", "Maximum grade"]]
    rows += [[f"Participant {n}", name, "", "", "20.00"] for n, name in PEOPLE.items()]
    write(tmp_path / "worksheet.csv", rows)
    rows = [["Student", "ID", "Section", "The straight-through estimator (7)", "Quiz (8)"]]
    rows += [["    Points Possible", "", "", "10", "5"]]
    rows += [[name, n, "S", "", ""] for n, name in PEOPLE.items()]
    write(tmp_path / "export.csv", rows)
    (tmp_path / "marks.toml").write_text(WEIGHTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def column(path, name) -> list[str]:
    return [row[name] for row in csv.DictReader(io.StringIO(path.read_text()))]


def test_the_commands_run_in_order(desk, capsys):
    after = {}
    for line in COMMANDS:
        program, *arguments = shlex.split(line)
        assert program == "ste"
        assert cli.main(arguments) == 0, line
        after[line] = capsys.readouterr().out
        if "--moodle" in line and "--weights" not in line:
            assert column(desk / "graded" / "moodle.csv", "Grade") == ["17.00", "20.00", ""]
        if "--weights" in line:
            # Only Ada handed in the other exercise, which counts as zero for Bob.
            assert column(desk / "graded" / "moodle.csv", "Grade") == ["18.00", "13.34", "0.00"]
            assert column(desk / "graded" / "marks.csv", "mark") == ["90", "66.7", "0"]
        if "--canvas" in line:
            title = "The straight-through estimator (7)"
            assert column(desk / "graded" / "canvas.csv", title) == ["10", "8.5", "10", ""]
        if "--gradescope" in line:
            content = json.loads((desk / "graded/gradescope/101/results.json").read_text())
            assert content["score"] == 18.5
    rows = json.loads((desk / "graded" / "grades.json").read_text())["submissions"]
    assert [(row["learner"], row["score"], row["status"]) for row in rows] == [
        ("101", 10, "graded"),
        ("101", 8.5, "graded"),
        ("103", None, "missing"),
        ("103", None, "missing"),
    ]
    assert "Bob" not in (desk / "graded" / "report.html").read_text()
    assert (desk / "class" / "README.md").exists() and (desk / "course" / "source").is_dir()


def test_a_weight_for_what_was_never_graded_is_refused(desk, capsys):
    grade = COMMANDS[next(n for n, line in enumerate(COMMANDS) if "submissions.zip" in line)]
    assert cli.main(shlex.split(grade)[1:]) == 0
    command = "grade --out graded --weights marks.toml --moodle worksheet.csv"
    assert cli.main(shlex.split(command)) == 2
    assert "The weights count 03_rounding, but these grades hold nothing" in capsys.readouterr().err
    assert not (desk / "graded" / "moodle.csv").exists()


def test_every_file_that_the_text_names_is_written_by_a_command():
    source = "".join(p.read_text() for p in (course.PACKAGE / "grading").glob("*.py"))
    for name in re.findall(r"`(?:graded/)?([\w-]+\.(?:csv|json|html|sqlite))`", TEXT):
        assert name in source, name


def test_the_limits_are_those_in_force():
    limits = Limits()
    rows = dict(re.findall(r"^\| (.+?) \| (\d+ \w+) \|$", TEXT, re.MULTILINE))
    assert rows == {
        "memory of all its processes": f"{limits.memory // 2**30} GB",
        "disk": f"{limits.disk // 2**20} MB",
        "output of a cell": f"{limits.output // 2**20} MB",
        "a cell": f"{limits.cell} s",
        "one call of a check": f"{limits.request} s",
        "the whole submission": f"{limits.total} s",
    }
