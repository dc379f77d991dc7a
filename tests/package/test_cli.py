"""The command `ste`: every command is reachable, and misuse gets a sentence, not a traceback."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from straight_through import build, cli, course, home, machine, progress
from straight_through.machine import Finding, Report


@pytest.fixture(autouse=True)
def fresh_progress(monkeypatch, tmp_path):
    monkeypatch.setenv("STE_PROGRESS", str(tmp_path / "progress.json"))


def stand_in(monkeypatch, module, **names):
    monkeypatch.setitem(sys.modules, module, SimpleNamespace(**names))


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    shown = capsys.readouterr().out
    assert stop.value.code == 0
    for command in "lab explore check hint reset progress verify doctor grade".split():
        assert f"    {command} " in shown


def test_help_is_quick_because_nothing_heavy_is_imported():
    heavy = "{'jax', 'matplotlib', 'nbgrader', 'IPython'} & set(sys.modules)"
    code = f"import sys; from straight_through import cli; cli.parser(); print({heavy})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_grading_starts_without_what_no_notebook_needs_and_still_validates():
    code = """if True:
        import sys
        import straight_through.grading.runner
        import nbformat
        print({"jax", "rfc3987_syntax"} & {name for name, found in sys.modules.items() if found})
        try:
            nbformat.validate({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{}]})
        except nbformat.ValidationError as error:
            print(str(error).splitlines()[0])
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["set()", "{} is not valid under any of the given schemas"]


@pytest.mark.parametrize("command", [[], ["nonsense"], ["progress", "extra"], ["hint"]])
def test_bad_usage_exits_with_2(capsys, command):
    with pytest.raises(SystemExit) as stop:
        cli.main(command)
    assert stop.value.code == 2
    assert "usage: ste" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["hint", "reset", "check"])
def test_an_unknown_exercise_is_answered_with_the_known_ones(capsys, command):
    assert cli.main([command, "99_nothing"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("ste: There is no exercise '99_nothing'") and "04_ste" in said


def test_an_exercise_has_a_name_a_file_and_functions():
    for what in ("04_ste", "04_ste.ipynb", "exercises/04_ste.ipynb", "ste_quantize"):
        assert cli._exercise(what) == course.load().exercise("04_ste")


def test_hints_for_an_exercise_begin_with_what_does_not_pass_yet(capsys):
    first, second = (f.name for f in course.load().exercise("03_rounding").functions)
    assert cli.main(["hint", "03_rounding"]) == 0
    assert f"for {first}" in capsys.readouterr().out
    mine = progress.load()
    mine.record_check("03_rounding", first, True, [])
    mine.save()
    cli.main(["hint", "03_rounding", "1"])
    assert f"for {second}" in capsys.readouterr().out


def test_progress_has_a_line_for_every_exercise(capsys):
    assert cli.main(["progress"]) == 0
    shown = capsys.readouterr().out
    assert all(exercise.stem in shown for exercise in course.load().exercises)


@pytest.mark.parametrize("passed, code", [(True, 0), (False, 1)])
def test_doctor_exits_with_1_if_a_check_failed(monkeypatch, capsys, passed, code):
    report = Report((Finding("Python", passed, "3.9", "Install a newer one."),))
    monkeypatch.setattr(machine, "doctor", lambda: report)
    assert cli.main(["doctor"]) == code
    assert ("Install a newer one." in capsys.readouterr().out) is not passed


def test_reset_says_where_the_work_went(monkeypatch, capsys):
    folder = course.ROOT / "exercises"
    kept = folder / "04_ste.backup-1.ipynb"
    monkeypatch.setattr(build, "reset", lambda stem: (folder / f"{stem}.ipynb", kept))
    assert cli.main(["reset", "04_ste"]) == 0
    assert "Your work is kept in exercises/04_ste.backup-1.ipynb." in capsys.readouterr().out


@pytest.mark.parametrize("outcomes, code", [([True, True], 0), ([True, False], 1), ([], 1)])
def test_check_prints_every_verdict_and_exits_with_0_if_all_pass(
    monkeypatch, capsys, outcomes, code
):
    class Verdict(SimpleNamespace):
        def __str__(self):
            return f"verdict {self.passed}"

    paths = []

    def check_notebook(path):
        paths.append(path)
        return [
            Verdict(function=f"f{passed}", passed=passed, misconceptions=[]) for passed in outcomes
        ]

    monkeypatch.setattr(home, "check_notebook", check_notebook)
    assert cli.main(["check", "04_ste"]) == code
    assert paths == [course.ROOT / "exercises" / "04_ste.ipynb"]
    assert capsys.readouterr().out.split() == [w for p in outcomes for w in ("verdict", str(p))]
    for passed in outcomes:
        assert progress.load().check("04_ste", f"f{passed}")["passed"] is passed


def test_check_of_an_exercise_that_is_gone_says_how_to_get_it_back(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(course, "ROOT", tmp_path)
    assert cli.main(["check", "04_ste"]) == 2
    assert "ste reset 04_ste" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command, module",
    [("verify", "straight_through.verify"), ("grade", "straight_through.grading.main")],
)
def test_arguments_are_passed_on_unread(monkeypatch, command, module):
    seen = []
    stand_in(monkeypatch, module, main=lambda argv: seen.append(argv) or 7)
    arguments = ["--jobs", "2", "submissions", "--out", "-", "--help", "--version"]
    assert cli.main([command, *arguments]) == 7
    assert seen == [arguments]


def test_lab_opens_the_first_lesson_with_this_python(monkeypatch):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, command: started.append((program, command)))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "mine")
    monkeypatch.setattr(subprocess, "call", lambda command: 0)
    cli.main(["lab", "--no-browser", "--port=8899"])
    ((program, command),) = started
    assert program == command[0] == sys.executable
    assert f"--ServerApp.root_dir={course.ROOT}" in command
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start.ipynb" in command
    assert command[-2:] == ["--no-browser", "--port=8899"]
    assert os.environ["JUPYTER_PREFER_ENV_PATH"] == "1"
    config, mine = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert mine == "mine" and (Path(config) / "labconfig" / "page_config.json").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no root on this system")
@pytest.mark.parametrize("user, allowed", [(0, True), (1000, False)])
def test_only_root_is_told_to_be_root(monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = cli.lab_command("notebooks/00_start.ipynb", [])
    assert ("--allow-root" in command) is allowed


def test_a_missing_notebook_is_a_sentence(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(course, "ROOT", tmp_path)
    assert cli.main(["explore"]) == 2
    assert "notebooks/playground.ipynb is not in" in capsys.readouterr().err
