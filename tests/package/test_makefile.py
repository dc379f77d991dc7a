"""`make lab` and `make test` install once, and again only when what they install changed."""

import os
import shutil
import subprocess

import pytest

from straight_through import course

FAKE = """#!/bin/sh
case "$*" in *"pip install"*) echo "$*" >> installed ;; esac
"""


@pytest.fixture
def folder(tmp_path):
    """The Makefile with a Python that only notes what it was asked to install."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(course.ROOT / name, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(FAKE)
    python.chmod(0o755)
    (tmp_path / "installed").touch()
    return tmp_path


def make(folder, *arguments):
    # The tests themselves may be run by make, whose options are none of this one's.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    run = subprocess.run(["make", *arguments], cwd=folder, env=env, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


def installed(folder):
    return (folder / "installed").read_text().splitlines()


def test_the_second_time_nothing_is_installed(folder):
    for _ in range(2):
        assert make(folder, "install-lab") == (0, "")
    assert installed(folder) == ["-m pip install -c constraints.txt -e ."]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_file_is_installed_from_again(folder, name):
    make(folder, "install-lab")
    with open(folder / name, "a") as file:
        file.write("# changed\n")
    make(folder, "install-lab")
    assert len(installed(folder)) == 2


def test_a_fresh_date_alone_is_no_change(folder):
    make(folder, "install-lab")
    (folder / "pyproject.toml").touch()
    make(folder, "install-lab")
    assert len(installed(folder)) == 1


def test_an_environment_for_the_tests_is_good_for_the_lessons(folder):
    make(folder, "install-test")
    make(folder, "install-lab")
    assert installed(folder) == ["-m pip install -c constraints.txt -e .[test]"]


def test_a_moved_folder_is_installed_again(folder):
    make(folder, "install-lab")
    moved = folder.rename(folder.with_name("moved"))
    make(moved, "install-lab")
    assert len(installed(moved)) == 2


def test_an_installation_that_failed_is_tried_again(folder):
    python = folder / ".venv" / "bin" / "python"
    python.write_text(FAKE.replace(";;", "; exit 1 ;;"))
    assert make(folder, "install-lab")[0] != 0
    python.write_text(FAKE)
    make(folder, "install-lab")
    assert len(installed(folder)) == 2


def test_an_old_python_is_refused_with_a_sentence(folder):
    shutil.rmtree(folder / ".venv")
    old = folder / "old-python"
    old.write_text('#!/bin/sh\necho "$2" | grep -q "(3, 11)" && echo too old >&2 && exit 1\n')
    old.chmod(0o755)
    code, said = make(folder, "install-lab", f"PYTHON={old}")
    assert code != 0 and "too old" in said and not (folder / ".venv").exists()
