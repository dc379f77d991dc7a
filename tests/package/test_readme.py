"""What the README tells people to type exists, and what it says about the course is so."""

import re
import shlex

import pytest

from straight_through import cli, course

ROOT = course.ROOT
README = (ROOT / "README.md").read_text()
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = [
    line
    for path in TEXTS
    for block in re.findall(r"```sh\n(.*?)```", path.read_text(), re.DOTALL)
    for line in block.splitlines()
]


def test_there_are_two_commands():
    assert [line for line in COMMANDS if line.startswith("make")] == ["make lab", "make test"]


@pytest.mark.parametrize("line", COMMANDS)
def test_a_printed_command_exists(line):
    program, *arguments = shlex.split(line)
    if program == "make":
        assert re.search(rf"^{arguments[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    elif program in (".venv/bin/ste", "ste"):
        cli.parser().parse_known_args(arguments)
    else:
        assert line in (
            "conda env create -f environment.yml",
            "conda activate straight-through",
        )


def test_the_printed_figure_can_be_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = (
        code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "plots" in code
    )
    exec(code, {})
    assert (tmp_path / "clipped.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_of_lessons_is_that_of_the_course():
    rows = re.findall(
        r"^\| \[(\d\d .+?)\]\(notebooks/(.+?)\.ipynb\) \| (\d+) \| (\d+) \|", README, re.M
    )
    wanted = []
    for lesson in course.load().lessons:
        every = lesson.minutes + (lesson.exercise.minutes if lesson.exercise else 0)
        title = f"{lesson.stem[:2]} {lesson.title}"
        wanted.append((title, lesson.stem, str(lesson.minutes), str(every)))
    assert rows == wanted


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_every_folder_that_the_texts_name_is_there():
    for path in TEXTS:
        for name in re.findall(
            r"`((?:tests|exercises|solutions|straight_through)/[\w/.]*)`", path.read_text()
        ):
            assert "NN_topic" in name or (ROOT / name).exists(), name
