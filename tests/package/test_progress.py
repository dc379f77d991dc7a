"""A learner's progress survives broken files, read-only folders and two open notebooks."""

import json

import pytest

from straight_through import course, hint, progress


@pytest.fixture(autouse=True)
def path(monkeypatch, tmp_path):
    """In a folder that does not exist yet, as at the first start."""
    path = tmp_path / "kept" / "progress.json"
    monkeypatch.setenv("STE_PROGRESS", str(path))
    return path


@pytest.fixture
def contents(monkeypatch):
    """A course of two exercises, one of them with two functions."""
    exercises = {
        "01_one": [course.Function("one", "(x)", ("Look at x.", "Then at the sign of <x>."))],
        "02_two": [
            course.Function("two", "(x)", ("Begin with one.",)),
            course.Function("three", "(x)", ("The same again.",)),
        ],
    }
    lessons = tuple(
        course.Lesson(stem, stem, 5, (), (), course.Exercise(stem, stem, 5, 10, tuple(functions)))
        for stem, functions in exercises.items()
    )
    monkeypatch.setattr(course, "load", lambda: course.Course("Tiny", "1", lessons))


def test_without_the_variable_the_file_stands_beside_the_exercises(monkeypatch):
    monkeypatch.delenv("STE_PROGRESS")
    assert progress.progress_path() == course.ROOT / ".ste" / "progress.json"
    assert (course.ROOT / "exercises").is_dir()


def test_what_was_recorded_is_there_the_next_time(path):
    mine = progress.load()
    mine.record_check("01_one", "one", False, ["rounding"])
    mine.record_check("01_one", "one", True, [])
    mine.record_prediction("01-slope", 0.5)
    assert mine.record_hint("one") == 1
    assert mine.save()
    again = progress.load()
    assert again.check("01_one", "one") == {"passed": True, "labels": [], "tries": 2}
    assert again.prediction("01-slope") == 0.5 and again.prediction("02-other") is None
    assert again.hints_given("one") == 1 and again.hints_given("two") == 0
    assert [file.name for file in path.parent.iterdir()] == ["progress.json"]


def test_nothing_is_written_before_it_is_saved(path):
    progress.load().record_prediction("01-slope", "zero")
    assert not path.exists()


def test_two_open_notebooks_do_not_undo_each_other():
    first, second = progress.load(), progress.load()
    first.record_prediction("01-slope", "zero")
    first.save()
    second.record_check("01_one", "one", True, [])
    second.save()
    assert progress.load().prediction("01-slope") == "zero"
    assert progress.load().check("01_one", "one")["passed"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"checks": 3}', "\x00"])
def test_a_broken_file_is_kept_and_a_fresh_one_starts(path, capsys, content):
    path.parent.mkdir()
    path.write_text(content)
    mine = progress.load()
    mine.record_prediction("01-slope", "zero")
    mine.save()
    assert path.with_name("progress.json.broken").read_text() == content
    assert capsys.readouterr().err.count("could not be read") == 1
    assert progress.load().prediction("01-slope") == "zero"


def test_a_folder_that_cannot_be_written_stops_nobody(path, capsys, contents):
    path.parent.write_text("a file where the folder should be")
    assert "Look at x." in str(hint("one"))
    said = capsys.readouterr().err
    assert "was not saved" in said and said.count("\n") == 1


def test_an_interrupted_save_leaves_the_old_file(path, monkeypatch):
    mine = progress.load()
    mine.record_prediction("01-slope", "zero")
    mine.save()
    before = path.read_bytes()
    mine.record_prediction("02-other", "one")

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(json, "dump", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mine.save()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["progress.json"]


def test_hints_come_one_at_a_time_and_say_how_many_there_are(contents):
    def one(x):
        return x

    assert str(hint(one)) == "Hint 1 of 2 for one: Look at x."
    assert str(hint(one)) == (
        "Hint 2 of 2 for one: Then at the sign of <x>. That was the last hint."
    )
    assert str(hint("one")) == str(hint(one)), "the last one is repeated"
    assert "Hint 1 of 2" in str(hint(one, 1))
    assert "sign of &lt;x&gt;" in hint(one, 2)._repr_html_()


def test_a_hint_for_a_function_that_does_not_carry_its_name(contents, monkeypatch):
    monkeypatch.setitem(globals(), "two", lambda x: x)
    assert "Hint 1 of 1 for two" in str(hint(globals()["two"]))


def test_asking_for_a_later_hint_counts_the_earlier_ones(contents):
    hint("one", 2)
    assert progress.load().hints_given("one") == 2


@pytest.mark.parametrize("number", [0, 3, -1])
def test_a_hint_that_is_not_there(contents, number):
    assert "from 1 to 2" in str(hint("one", number))
    assert progress.load().hints_given("one") == 0


@pytest.mark.parametrize("what", ["nobody", lambda x: x, 3, None])
def test_a_function_that_nobody_asks_for(contents, what):
    assert "one, two, three" in str(hint(what))


def test_the_table_shows_what_is_done_begun_and_open(contents):
    mine = progress.load()
    mine.record_check("01_one", "one", True, [])
    mine.record_check("02_two", "three", False, ["rounding"])
    lines = progress.table(mine).splitlines()
    assert lines[0].split() == ["01_one", "done", "1/1"]
    assert lines[1].split() == ["02_two", "started", "0/2", "three", "(lost", "to", "rounding)"]
    assert lines[-1] == "1 of 2 exercises done."


def test_the_table_ends_with_a_word_for_those_who_finished(contents):
    mine = progress.load()
    for stem, function in [("01_one", "one"), ("02_two", "two"), ("02_two", "three")]:
        mine.record_check(stem, function, True, [])
    assert "All 2 exercises are done." in progress.table(mine)


def test_an_exercise_counts_only_with_all_its_functions(contents):
    mine = progress.load()
    mine.record_check("02_two", "two", True, [])
    assert "0 of 2 exercises done." in progress.table(mine)
