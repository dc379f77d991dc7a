"""Hostile submissions: none changes another's grade, harms the host, or stops the batch."""

import json
import os
import site
import socket
import subprocess
import threading
import time
from types import SimpleNamespace

import psutil
import pytest
import zmq
from attacks import (
    DIRTY,
    DIRTY_CELL,
    FORGE,
    FORGED,
    FULL_DISK,
    LEFT_BEHIND,
    NOT_PERMITTED,
    PATCHED,
    PROBE,
    STOPPED,
)
from classroom import LIMITS, RIGHT, by_learner, cell, hand_in, notebook
from jupyter_client.session import Session

from straight_through import course
from straight_through.checks.visible import HIDDEN
from straight_through.grading import grade, messages
from straight_through.grading.kernel import WatchedKernel
from straight_through.grading.sandbox import Limits
from straight_through.grading.watch import leftovers, own_memory
from straight_through.submission import SubmissionStopped

PATIENT = Limits(cell=60, total=180)  # for a probe that walks through all files there are
MARK = f"3600.{os.getpid()}"  # a time to sleep, which tells our leftovers from others
SECRET = f"secret-{os.getpid()}"


def probe(folder, out, port: int, sandboxed: bool) -> str:
    paths = [HIDDEN / "test_04_ste.py", course.ROOT / "solutions" / "04_ste.ipynb"]
    paths += [course.PACKAGE / "surrogates.py", out / "gradebook.sqlite", folder / "right"]
    facts = {
        "PATHS": [str(path) for path in paths],
        "NAMES": ["test_04_ste.py", "problems.py", "04_ste.ipynb", "gradebook.sqlite"],
        "PORT": port,
        "GRADER": os.getpid(),
        "SECRET": SECRET.encode(),
        "SITE": site.getsitepackages()[0],
        "SANDBOXED": sandboxed,
    }
    return "".join(f"{name} = {value!r}\n" for name, value in facts.items()) + PROBE


@pytest.fixture(scope="module")
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def grades(place):
    folder, out = place
    every = {
        **FORGED,
        **PATCHED,
        **NOT_PERMITTED,
        **{name: source for name, (source, _) in STOPPED.items()},
    }
    for learner, source in every.items():
        hand_in(folder, learner, source)
    hand_in(folder, "right", RIGHT)
    hand_in(folder, "zzz_right_at_the_end", RIGHT)
    hand_in(folder, "full_disk", RIGHT + FULL_DISK)
    hand_in(folder, "left_behind", RIGHT + LEFT_BEHIND.replace("MARK", MARK))
    hand_in(folder, "dirty", DIRTY)
    dirty = notebook(RIGHT)
    dirty.cells.append(cell(DIRTY_CELL))
    hand_in(folder, "dirty_cell", dirty)
    return grade(folder, out, seed=5, limits=LIMITS, jobs=2)


@pytest.fixture(scope="module")
def graded(grades):
    return by_learner(grades)


@pytest.fixture
def probed(grades, place, port, tmp_path, monkeypatch):
    """What the probe says that worked, where a class was graded before."""

    def run(isolation: str) -> str:
        hand_in(tmp_path, "probe", probe(*place, port, sandboxed=isolation == "bubblewrap"))
        monkeypatch.setenv("STE_TEST_SECRET", SECRET)
        graded = grade(tmp_path, isolation=isolation, limits=PATIENT, jobs=1)
        return by_learner(graded)["probe"].result.notes[0]

    return run


def test_no_attack_finds_a_way_out(probed):
    assert "0 worked:" in probed("bubblewrap")


def test_the_same_attacks_work_without_a_sandbox(probed):
    """So the test above would see a hole."""
    note = probed("none")
    for name in ("not its own", "by its name", "network", "grader's process", "a secret"):
        assert name in note


@pytest.mark.parametrize("learner", ["right", "zzz_right_at_the_end", "full_disk", "left_behind"])
def test_a_right_answer_has_its_marks_whatever_happens_around_it(graded, learner):
    result = graded[learner].result
    assert (result.status, result.score, result.message) == ("graded", 10, "")


@pytest.mark.parametrize("learner", FORGED)
def test_a_forged_reply_earns_nothing_and_is_no_error_of_ours(graded, learner):
    result = graded[learner].result
    assert result.status in ("crashed", "timeout"), result
    assert result.score == 0
    assert result.message.startswith("Stopped while ")


@pytest.mark.parametrize("learner", PATCHED)
def test_a_wrong_answer_earns_no_point_more_for_what_it_patches(graded, learner):
    result = graded[learner].result
    assert result.status in ("graded", "crashed", "timeout")
    assert result.score <= 4
    assert not [check for check in result.checks if check["outcome"] == "error"]


@pytest.mark.parametrize("learner", STOPPED)
def test_who_uses_too_much_is_stopped_and_told_why(graded, learner):
    result = graded[learner].result
    assert result.status in ("crashed", "timeout") and result.score == 0
    assert STOPPED[learner][1] in result.message


@pytest.mark.parametrize("learner", NOT_PERMITTED)
def test_no_submission_starts_a_process_or_hides_memory(graded, learner):
    result = graded[learner].result
    assert (result.status, result.score, result.misconceptions) == ("graded", 0, ["raises"])
    assert "PermissionError" in result.message


def test_the_batch_is_complete(grades, place):
    assert grades.complete
    json.dumps([item.result.checks for item in grades.graded], ensure_ascii=False).encode()


@pytest.mark.parametrize("learner", ["dirty", "dirty_cell"])
def test_messages_hold_neither_escapes_nor_half_characters(graded, learner):
    result = graded[learner].result
    said = [result.message, *result.notes, *(check["message"] for check in result.checks)]
    assert any("red" in text for text in said)
    for text in said:
        assert text.replace("\n", "").isprintable()
        text.encode()


def test_markup_in_a_message_stays_plain_text(graded):
    messages = [check["message"] for check in graded["dirty"].result.checks]
    assert any("<script>alert(1)</script>" in message for message in messages)


def test_nothing_that_a_submission_started_outlives_it(graded):
    assert _left() == []


def _left() -> list[int]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if MARK in (process.info["cmdline"] or []):
            found.append(process.pid)
    return found


def test_a_process_that_left_its_family_is_found_by_its_environment(tmp_path):
    """Where the system does not refuse new processes."""
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run(["setsid", "-f", "sleep", MARK], env=environment, check=True)
    until = time.monotonic() + 10
    while not (found := leftovers(str(tmp_path))) and time.monotonic() < until:
        time.sleep(0.05)  # it may be between two programs
    for process in found:
        process.kill()
    assert len(found) == 1


# ---- without a sandbox


def test_without_a_sandbox_limits_and_cleaning_up_still_hold(tmp_path):
    hand_in(tmp_path, "right", RIGHT + LEFT_BEHIND.replace("MARK", MARK))
    hand_in(tmp_path, "memory", STOPPED["numpy_memory"][0])
    hand_in(tmp_path, "endless", "while True:\n    pass\n")
    deep = "import os\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\n"
    hand_in(tmp_path, "deep", RIGHT + deep)
    before = set(os.listdir("/tmp"))
    graded = by_learner(grade(tmp_path, isolation="none", limits=LIMITS, jobs=2))
    assert graded["right"].result.score == graded["deep"].result.score == 10
    assert "GB of memory" in graded["memory"].result.message
    assert graded["endless"].result.status == "timeout"
    assert _left() == []
    assert not [name for name in set(os.listdir("/tmp")) - before if _is_ours(name)]


def _is_ours(name: str) -> bool:
    return os.path.isdir(f"/tmp/{name}/d")


# ---- the grader's own process

FLOODS = {
    "output": FORGE
    + """
socket = kernel.iopub_thread.socket
parts = [b"stream", b"<IDS|MSG>", b"x" * 64, b"{}", b"{}", b"{}", b"x" * 7_000_000]
while True:
    socket.send_multipart(parts)
""",
    "buffers": FORGE
    + """
forge(lambda: (b'{"ok": true, "result": {"static": 1}}', [b"x" * 2**22] * 100))
""",
    "one reply": FORGE
    + """
forge(lambda: (b'{"ok": true, "result": {"static": "' + b"x" * 2**28 + b'"}}', []))
""",
    "an endless message": FORGE
    + """
import zmq
async def handler(stream, ident, parent):
    for part in [*ident, b"<IDS|MSG>"]:
        stream.send(part, zmq.SNDMORE)
    while True:
        zmq.Socket.send(stream, b"x" * 4_000_000, zmq.SNDMORE)
kernel.shell_handlers["ste_request"] = handler
""",
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_neither_fills_nor_blocks_the_grader(flood):
    limits = Limits(cell=6, request=4, total=20, memory=2**30)
    kernel = WatchedKernel(limits=limits)
    begin, before, most = time.monotonic(), own_memory(), [0]
    done = threading.Event()

    def measure():
        while not done.wait(0.02):
            most[0] = max(most[0], own_memory() - before)

    sampler = threading.Thread(target=measure)
    sampler.start()
    try:
        with pytest.raises(SubmissionStopped):
            request = kernel.execute_cell_input(FLOODS[flood], allow_stdin=False)
            kernel.await_reply(request)
            content = {"name": "ste_quantize", "op": "about"}
            kernel.request(content, [])
            raise AssertionError("the flood was not noticed")
    finally:
        kernel.close()
        done.set()
        sampler.join()
    assert time.monotonic() - begin < limits.total + 10
    assert most[0] < 600 * 2**20


# ---- reading a message


class FakeSocket:
    """Says that a message is there, and gives ``parts`` until they are used up."""

    def __init__(self, parts, more: bool):
        self._parts, self._more = list(parts), more

    def poll(self, timeout):
        return 1

    def recv(self, flags=0):
        assert flags & zmq.NOBLOCK, "this would block without end"
        if not self._parts:
            raise zmq.Again
        return self._parts.pop(0)

    def getsockopt(self, option):
        return self._more


@pytest.mark.parametrize(
    ("parts", "more"),
    [
        ([], True),
        ([b"a"], True),
        ([b"x"] * 10**5, True),
        ([b"x" * 2**22] * 9, True),
        ([b"a"], False),
    ],
)
def test_reading_a_message_ends_whatever_is_sent(parts, more):
    channel = SimpleNamespace(socket=FakeSocket(parts, more), session=Session(key=b"key"))
    with pytest.raises((messages.Forged, ValueError)):
        messages.receive(channel, timeout=5)


def test_text_keeps_its_letters_and_loses_what_cannot_be_printed():
    assert messages.clean("caf\u00e9 \u4f60\n\u03b1") == "caf\u00e9 \u4f60\n\u03b1"
    assert messages.clean("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x07") == "red link\ufffd"
    assert messages.clean("a\u202eb\u2066c\x00d\ud800e\x9b31mf") == "a\ufffdb\ufffdc\ufffdd\ufffdef"
    assert len(messages.clean("x" * 10**7)) <= messages.LONGEST
