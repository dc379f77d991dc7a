"""Grading on a Dask cluster: a real scheduler, two worker processes, one of them killed mid-run."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from classroom import CASES, EXPECTED, by_learner, hand_in

from straight_through.grading import grade, workers
from straight_through.grading.engine import Grades
from straight_through.grading.runner import Result, Task
from straight_through.grading.workers import ClusterError, ClusterWorkers

Client = pytest.importorskip("distributed").Client

NAMES = sorted(EXPECTED)[:8]


@pytest.fixture
def cluster(tmp_path):
    """The scheduler's address, and the two workers' processes."""
    file = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", *common]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    processes = [subprocess.Popen(start, **quiet)]
    try:
        _wait(lambda: _address(file))
        command = [sys.executable, "-m", "distributed.cli.dask_worker", *common]
        command += ["--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path)]
        processes += [subprocess.Popen(command, **quiet) for _ in range(2)]
        with Client(_address(file), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
        yield _address(file), processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _address(file) -> str:
    """What the scheduler has written, once it is complete."""
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):
        return ""


def _wait(condition, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_worker_dies_and_every_verdict_is_right(cluster, tmp_path):
    address, processes = cluster
    for name in NAMES:
        hand_in(tmp_path / "class", name, (CASES / f"{name}.py").read_text())
    seen = []

    def kill_one(done, total, item):
        seen.append(item.found.learner)
        if len(seen) == 2:
            os.kill(processes[0].pid, signal.SIGKILL)

    grades = grade(tmp_path / "class", seed=7, scheduler=address, on_progress=kill_one)
    assert isinstance(grades, Grades) and grades.complete and len(seen) == len(NAMES)
    for name, item in by_learner(grades).items():
        case = EXPECTED[name]
        assert (item.result.score == 10) == case["full_marks"], name
        assert item.result.misconceptions[:1] == [case["misconception"]] * (not case["full_marks"])


def test_no_scheduler_there_gives_a_sentence():
    with pytest.raises(ClusterError, match="no Dask scheduler at tcp://127.0.0.1:9"):
        ClusterWorkers("tcp://127.0.0.1:9")


def test_a_scheduler_without_workers_gives_a_sentence(cluster, monkeypatch):
    address, processes = cluster
    for process in processes:
        process.kill()
        process.wait()
    monkeypatch.setattr(workers, "WORKER", 3)
    with pytest.raises(ClusterError, match="has no workers: start some with `dask worker"):
        # One that was killed may count for a moment.
        _wait(lambda: _refused(address), 30)
        ClusterWorkers(address)


def _refused(address: str) -> bool:
    try:
        ClusterWorkers(address).__exit__(None, None, None)
    except ClusterError:
        return True
    return False


def test_a_failure_of_ours_is_tried_again_on_a_cluster_too(monkeypatch):
    results = [Result("error", "no more processes"), Result("graded")]
    monkeypatch.setattr(workers, "grade_one", lambda task: results.pop(0))
    assert workers._grade_there(Task("ada", "04_ste", "x", b"", 1, "none")).status == "graded"
