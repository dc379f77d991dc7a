"""Nothing is lost: a grader that is killed goes on where it was, and spoils nothing."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from classroom import CASES, RIGHT, by_learner, ended, hand_in

from straight_through.grading import engine, grade, scratch, workers
from straight_through.grading.gradebook import Gradebook, GradebookError
from straight_through.grading.main import main
from straight_through.grading.runner import Result, Task
from straight_through.grading.sandbox import Limits

NAMES = ("right_zero_first", "wrong_plain_sign", "wrong_one_line", "wrong_two_valued")
NAMES += ("right_custom_vjp", "wrong_stub", "wrong_clipped", "wrong_name")


@pytest.fixture
def submissions(tmp_path):
    folder = tmp_path / "class"
    for name in NAMES:
        hand_in(folder, name, (CASES / f"{name}.py").read_text())
    return folder


def _start(submissions, out) -> subprocess.Popen:
    code = "import sys\nfrom straight_through.cli import main\n"
    code += "if __name__ == '__main__':\n    sys.exit(main(['grade', *sys.argv[1:]]))\n"
    script = out.parent / "grade.py"
    script.write_text(code)
    command = [sys.executable, str(script), str(submissions), "--out", str(out), "--seed", "7"]
    nothing, environment = subprocess.DEVNULL, {**os.environ, "TMPDIR": str(out.parent)}
    return subprocess.Popen(command, stdout=nothing, stderr=nothing, env=environment)


def _document(out) -> dict:
    document = json.loads((out / "grades.json").read_text())
    for row in document["submissions"]:
        row.pop("seconds")
    return document


def _stored(out) -> dict:
    if not (out / "gradebook.sqlite").exists():
        return {}
    with sqlite3.connect(out / "gradebook.sqlite") as database:
        try:
            return dict(database.execute("SELECT learner, result FROM results"))
        except sqlite3.OperationalError:
            return {}


def test_killed_at_twenty_moments_it_ends_with_the_same_grades(submissions, tmp_path):
    for name in NAMES[4:]:
        shutil.rmtree(submissions / name)
    begin = time.monotonic()
    assert _start(submissions, tmp_path / "calm").wait() == 0
    length = time.monotonic() - begin
    moments = random.Random(20)
    kills, storms = 0, 0
    while kills < 20:
        out, seen = tmp_path / f"stormy-{storms}", {}
        storms += 1
        while kills < 20 and len(seen) < 4:
            kills += _killed(_start(submissions, out), moments.uniform(0.2, 0.9) * length)
            stored = _stored(out)
            # What was graded before stays as it was: nothing is graded twice.
            assert {name: stored.get(name) for name in seen} == seen
            seen = stored
        assert _start(submissions, out).wait() == 0
        assert _document(out) == _document(tmp_path / "calm")
    assert _left_over(tmp_path) == []


def _killed(process: subprocess.Popen, seconds: float) -> bool:
    """Kill a grader after some time; False if it was done before."""
    try:
        process.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        children = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert ended(children), "a killed grader leaves no process behind"
        return True


def _left_over(place) -> list[str]:
    return sorted(path.name for path in place.glob("ste-*"))


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_else(submissions, tmp_path):
    other = tmp_path / "ste-grade-mine"  # no lock in it: not a run's
    other.mkdir()
    with scratch.folder() as running:  # of a grader that is at work now
        moved = tmp_path / "ste-grade-at-work"
        os.rename(running, moved)
        process = _start(submissions, tmp_path / "out")
        until = time.monotonic() + 30
        while not _kernels(tmp_path) and time.monotonic() < until:
            time.sleep(0.05)
        assert _killed(process, 0.1)
        (left,) = set(_left_over(tmp_path)) - {other.name, moved.name}
        assert _start(submissions, tmp_path / "out").wait() == 0
        assert _left_over(tmp_path) == [moved.name, other.name]
        os.rename(moved, running)


def _kernels(place) -> list:
    return list(place.glob("ste-grade-*/ste-*/kernel.json"))


def test_only_what_changed_is_graded_again(submissions, tmp_path, monkeypatch):
    out = tmp_path / "out"
    first = grade(submissions, out, seed=7)
    asked: list[str] = []
    run = engine.LocalWorkers.run

    def watched(self, tasks):
        asked.extend(task.learner for task in tasks.values())
        return run(self, tasks)

    monkeypatch.setattr(engine.LocalWorkers, "run", watched)
    again = grade(submissions, out)
    assert asked == [] and again.seed == 7
    hand_in(submissions, "wrong_plain_sign", RIGHT)
    changed = grade(submissions, out)
    assert asked == ["wrong_plain_sign"]
    assert by_learner(changed)["wrong_plain_sign"].result.score == 10
    assert by_learner(first)["wrong_plain_sign"].result.score < 10


def test_a_failure_of_ours_is_tried_again_reported_and_never_a_grade(tmp_path, monkeypatch):
    hand_in(tmp_path / "class", "ada", RIGHT)
    out = tmp_path / "out"
    monkeypatch.setenv("PYTHONPATH", str(_broken_kernels(tmp_path)))
    document = tmp_path / "out" / "grades.json"
    assert main([str(tmp_path / "class"), "--out", str(out)]) == 1
    (row,) = json.loads(document.read_text())["submissions"]
    assert (row["status"], row["score"]) == ("error", None)
    assert "no fault of the submission" in row["message"]
    monkeypatch.delenv("PYTHONPATH")
    assert main([str(tmp_path / "class"), "--out", str(out)]) == 0
    (row,) = json.loads(document.read_text())["submissions"]
    assert row["score"] == 10
    # A changed submission that cannot be graded keeps the grade it had.
    hand_in(tmp_path / "class", "ada", RIGHT + "\n# changed\n")
    monkeypatch.setenv("PYTHONPATH", str(_broken_kernels(tmp_path)))
    assert main([str(tmp_path / "class"), "--out", str(out)]) == 1
    (row,) = json.loads(document.read_text())["submissions"]
    assert row["score"] == 10 and "earlier grade" in row["message"]


def _broken_kernels(tmp_path):
    """A folder that, on the workers' path, keeps kernels from starting."""
    place = tmp_path / "broken"
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(
        "import subprocess\n"
        "start = subprocess.Popen.__init__\n"
        "def fail(self, command, *args, **kwargs):\n"
        "    if 'ste_kernel' in str(command):\n"
        "        raise OSError('no more processes')\n"
        "    start(self, command, *args, **kwargs)\n"
        "subprocess.Popen.__init__ = fail\n"
    )
    return place


def test_a_check_that_cannot_be_run_is_no_grade(monkeypatch):
    check = {"title": "Values", "message": "ValueError: x", "outcome": "error", "score": 0}
    monkeypatch.setattr(workers, "grade_one", lambda task: Result("graded", checks=[check]))
    result = workers.grade_task(Task("ada", "04_ste", "x", b"", 1, "none"))
    assert (result.status, result.score) == ("error", None)
    assert "Values: ValueError: x" in result.message and "our fault" in result.message


def test_a_seed_below_zero_is_bad_usage(submissions, tmp_path, capsys):
    assert main([str(submissions), "--out", str(tmp_path / "out"), "--seed", "-1"]) == 2
    assert "from 0 on, not -1" in capsys.readouterr().err


def test_a_worker_that_dies_costs_no_submission_its_grade(submissions):
    """Twice, as when the system runs out of memory."""
    killed: list[int] = []

    def on_progress(done, total, item):
        ours = psutil.Process().children()
        workers = [p for p in ours if "spawn_main" in " ".join(p.cmdline())]
        if done in (1, 3) and workers:
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.append(done)

    grades = grade(submissions, jobs=2, on_progress=on_progress)
    assert killed and len(grades.graded) == len(NAMES)
    assert {item.result.status for item in grades.graded} == {"graded", "not_attempted"}


def test_another_exercise_in_the_same_folder_keeps_the_first(tmp_path, capsys):
    out = tmp_path / "out"
    hand_in(tmp_path / "one", "ada", RIGHT)
    assert main([str(tmp_path / "one"), "--out", str(out)]) == 0
    hand_in(tmp_path / "two", "bob", "x = 1\n", stem="01_sign")
    assert main([str(tmp_path / "two"), "--out", str(out), "--exercise", "01_sign"]) == 0
    rows = json.loads((out / "grades.json").read_text())["submissions"]
    assert [(r["learner"], r["exercise"]) for r in rows] == [("ada", "04_ste"), ("bob", "01_sign")]
    assert rows[0]["score"] == 10
    assert (out / "feedback" / "ada.html").exists()
    assert main(["--out", str(out), "--override", "ada", "04_ste", "9"]) == 0


def test_the_output_does_not_go_among_the_submissions(submissions, capsys):
    assert main([str(submissions), "--out", str(submissions)]) == 2
    assert "give another one" in capsys.readouterr().err


def test_after_a_run_that_was_interrupted_a_learner_can_be_forgotten(tmp_path, capsys):
    book = Gradebook(tmp_path / "gradebook.sqlite")
    book.store("ada", "04_ste", "a", Result("graded"))
    book.close()
    assert main(["--out", str(tmp_path), "--forget", "ada"]) == 0
    again = Gradebook(tmp_path / "gradebook.sqlite")
    assert again.find("ada", "04_ste", "a") is None
    again.close()


def test_who_is_forgotten_is_named_nowhere(tmp_path, capsys):
    out = tmp_path / "out"
    path = hand_in(tmp_path / "class", "ada", RIGHT)
    hand_in(tmp_path / "class", "bob", RIGHT)
    os.symlink("/etc/hostname", path.parent / "secretlink.ipynb")
    assert main([str(tmp_path / "class"), "--out", str(out)]) == 0
    assert "ada" in (out / "grades.json").read_text()
    assert main(["--out", str(out), "--forget", "ada"]) == 0
    for file in out.rglob("*.*"):
        assert b"ada" not in file.read_bytes(), file.name


def test_a_second_grader_on_one_gradebook_is_turned_away(submissions, tmp_path, capsys):
    book = Gradebook(tmp_path / "out" / "gradebook.sqlite")
    try:
        assert main([str(submissions), "--out", str(tmp_path / "out")]) == 1
        assert "Another grader is using the gradebook" in capsys.readouterr().err
    finally:
        book.close()


def test_a_folder_that_cannot_be_written_gives_a_sentence(submissions, tmp_path, capsys):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    assert main([str(submissions), "--out", str(blocked)]) == 1
    said = capsys.readouterr().err
    assert "cannot be written" in said and "Traceback" not in said


def test_a_read_only_folder_gives_a_sentence():
    """Root writes anywhere: there, an ordinary user is asked."""
    code = """if True:
        import os, pathlib, sys
        from straight_through.grading.gradebook import Gradebook, GradebookError
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            Gradebook(pathlib.Path(sys.argv[1]))
        except GradebookError as error:
            print(error)
    """
    with tempfile.TemporaryDirectory(dir="/tmp") as out:
        os.chmod(out, 0o555)
        command = [sys.executable, "-c", code, f"{out}/gradebook.sqlite"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot be written" in run.stdout


def test_a_full_disk_gives_a_sentence_and_keeps_the_gradebook(tmp_path, monkeypatch):
    book = Gradebook(tmp_path / "gradebook.sqlite")
    book.store("ada", "04_ste", "a", Result("graded"))
    book._database.execute("PRAGMA max_page_count = 5")  # SQLite's own "disk full"
    with pytest.raises(GradebookError, match="disk is full"):
        for place in range(1000):
            book.store(f"learner{place}", "04_ste", "b", Result("graded", "x" * 2000))
    book.close()
    again = Gradebook(tmp_path / "gradebook.sqlite")
    assert again.find("ada", "04_ste", "a") == Result("graded")
    again.close()


def test_a_file_that_is_no_gradebook_is_left_alone(tmp_path):
    path = tmp_path / "gradebook.sqlite"
    path.write_bytes(b"my shopping list, which is longer than a hundred bytes " * 9)
    before = path.read_bytes()
    with pytest.raises(GradebookError, match="no gradebook"):
        Gradebook(path)
    assert path.read_bytes() == before


def test_the_seed_belongs_to_the_class(tmp_path):
    book = Gradebook(tmp_path / "gradebook.sqlite")
    drawn = book.seed(None)
    book.close()
    again = Gradebook(tmp_path / "gradebook.sqlite")
    assert again.seed(None) == drawn
    assert again.seed(5) == 5 and again.seed(None) == 5
    again.close()


def test_submissions_run_at_the_same_time(tmp_path):
    slow = "import time\ntime.sleep(12)\n" + RIGHT
    for learner in ("ada", "bob"):
        hand_in(tmp_path / "class", learner, slow)
    done = []
    grades = grade(
        tmp_path / "class",
        jobs=2,
        limits=Limits(cell=40),
        on_progress=lambda *_: done.append(time.monotonic()),
    )
    assert [item.result.score for item in grades.graded] == [10, 10]
    # One after the other, more than the twelve seconds would lie between the two.
    assert done[1] - done[0] < 12


def test_a_task_needs_no_file():
    assert Task("ada", "04_ste", "ada/04_ste.ipynb", b"{}", 1, "none").raw == b"{}"


def test_a_result_without_a_sandbox_is_never_hidden_behind_a_later_run(tmp_path, capsys):
    out = tmp_path / "out"
    hand_in(tmp_path / "one", "ada", RIGHT)
    assert main([str(tmp_path / "one"), "--out", str(out), "--sandbox", "none"]) == 0
    hand_in(tmp_path / "two", "ada", "x = 1\n", stem="01_sign")
    assert main([str(tmp_path / "two"), "--out", str(out)]) == 0
    document = json.loads((out / "grades.json").read_text())
    assert document["isolation"] == "none"
    assert [row["isolation"] for row in document["submissions"]] == ["bubblewrap", "none"]
    assert "WITHOUT a sandbox" in (out / "report.html").read_text()
    assert capsys.readouterr().out.count("Isolation: none") == 2


def test_reports_can_be_written_again_whatever_exercise_is_named(tmp_path, capsys):
    out = tmp_path / "out"
    hand_in(tmp_path / "class", "ada", RIGHT)
    assert main([str(tmp_path / "class"), "--out", str(out)]) == 0
    assert main(["--out", str(out), "--exercise", "03_rounding"]) == 0


def test_a_folder_keeps_its_lock_until_it_is_empty(tmp_path, monkeypatch):
    """Who is killed while cleaning up leaves what the next run can remove."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    remove, seen = shutil.rmtree, []

    def watched(path, **options):
        seen.extend(sorted(p.name for p in place.iterdir()))
        remove(path, **options)

    with scratch.folder() as folder:
        place = Path(folder)
        (place / "cache").mkdir()
        (place / "notebook.ipynb").touch()
        monkeypatch.setattr(shutil, "rmtree", watched)
    assert seen[-1] == "lock" and "cache" in seen
    assert not place.exists()
