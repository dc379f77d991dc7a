"""The sandbox: what a kernel in it sees and may do, and how it gets there."""

import ast
import contextlib
import os
import runpy
import select
import signal
import site
import subprocess

import psutil
import pytest
from classroom import ended

from straight_through import course
from straight_through.checks.visible import HIDDEN
from straight_through.grading import places, sandbox, watch, zygote
from straight_through.grading.kernel import StartFailed, WatchedKernel
from straight_through.grading.sandbox import Limits, bubblewrap

ALL_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")


@contextlib.contextmanager
def started(**options):
    kernel = WatchedKernel(**options)
    try:
        yield kernel
    finally:
        kernel.close()


def ask(kernel, expression: str):
    """What an expression is inside, as a learner's cell would see it."""
    source = f"raise ValueError(repr({expression}))"
    kernel.await_reply(kernel.execute_cell_input(source, allow_stdin=False))
    while (message := kernel.get_message("iopub", 5))["msg_type"] != "error":
        pass
    return ast.literal_eval(message["content"]["evalue"])


@pytest.fixture(scope="module")
def kernel():
    with started() as kernel:
        yield kernel


# ---- what a kernel has, though it is a fork of a process outside


def test_it_shares_no_namespace_with_the_grader(kernel):
    for name in ALL_NAMESPACES:
        inside = ask(kernel, f"__import__('os').readlink('/proc/self/ns/{name}')")
        assert inside == os.readlink(f"/proc/{kernel.km.provisioner.inside}/ns/{name}")
        assert inside != os.readlink(f"/proc/self/ns/{name}")


def test_it_has_no_privilege_and_can_get_none(kernel):
    status = dict(
        line.split(":", 1) for line in ask(kernel, "open('/proc/self/status').read()").splitlines()
    )
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, kind
    assert int(status["NoNewPrivs"]) == 1
    assert int(status["Seccomp"]) == 2  # a filter


OPEN = """
import os, socket, stat
held = []
for number in range(1024):
    try:
        link, mode = os.readlink(f"/proc/self/fd/{number}"), os.fstat(number).st_mode
    except OSError:
        continue
    kind = link.split(":[")[0]
    if stat.S_ISSOCK(mode):
        one = socket.socket(fileno=os.dup(number))
        kind = f"{one.family.name} {one.type.name}"
    held.append("pidfd" if "pidfd" in link else kind)
"""


def test_it_holds_nothing_of_the_host_open(kernel):
    kernel.await_reply(kernel.execute_cell_input(OPEN, allow_stdin=False))
    held = set(ask(kernel, "sorted(set(held))"))
    # The grader's zygote listens on a SOCK_SEQPACKET.
    mine = {"/dev/null", "pipe", "AF_UNIX SOCK_STREAM", "AF_INET SOCK_STREAM"}
    assert not [kind for kind in held - mine if not kind.startswith(("anon_inode", "/scratch/"))]


def test_its_memory_map_shows_the_interpreter_and_nothing_of_the_course(kernel):
    package = str(course.PACKAGE)
    assert ask(kernel, f"[l for l in open('/proc/self/maps') if {package!r} in l]") == []


def test_it_inherits_the_sandboxs_environment_alone(kernel, monkeypatch):
    expected = sandbox.guest_environment(kernel.limits, sandbox.SCRATCH, sandbox.GUEST)
    inside = ask(kernel, "dict(__import__('os').environ)")
    assert {name: inside.get(name) for name in expected} == expected
    added = set(inside) - set(expected)  # by IPython and JAX, for what they start
    assert not added & set(os.environ) - {"PATH", "TERM", "PAGER", "CLICOLOR", "GIT_PAGER"}


def test_nothing_of_the_course_but_its_shadow_can_be_imported(kernel):
    names = "n for n, m in __import__('sys').modules.items() if n != '__main__' and"
    assert ask(kernel, f"[{names} n.startswith('straight_through')]") == []
    package = str(course.PACKAGE)
    assert ask(kernel, f"[{names} {package!r} in str(getattr(m, '__file__', ''))]") == []
    assert ask(kernel, "__import__('straight_through').__file__").startswith(sandbox.GUEST)
    assert all("/ste-" not in entry for entry in ask(kernel, "__import__('sys').path"))


def test_kernels_of_one_process_draw_different_numbers():
    drawn = "(__import__('numpy').random.rand(), __import__('random').random())"
    with started() as one, started() as other:
        mine, theirs = ask(one, drawn), ask(other, drawn)
    assert mine[0] != theirs[0] and mine[1] != theirs[1]


def test_two_kernels_do_not_see_each_other():
    with started() as one, started() as other:
        ask(one, "open('/tmp/mine', 'w').write('x')")
        assert ask(other, "__import__('os').path.exists('/tmp/mine')") is False
        assert one.km.provisioner.inside != other.km.provisioner.inside
        for kernel in (one, other):  # the sandbox's first process, and the kernel itself
            running = "[n for n in __import__('os').listdir('/proc') if n.isdigit()]"
            assert len(ask(kernel, running)) == 2


# ---- a fork that goes wrong


@pytest.fixture
def own_zygote(monkeypatch):
    """A zygote for this test alone."""
    monkeypatch.setattr(zygote, "_current", None)
    yield
    if zygote._current is not None:
        zygote._current.close()


def forked(process: int, connection: str = "/none"):
    """Ask for a kernel in the sandbox of ``process``; the reading end of its lifeline."""
    with started():  # so that there is a zygote
        pass
    reading, writing = os.pipe()
    try:
        request = {"connection": connection, "folder": "/", "environment": {"PYTHONPATH": "/"}}
        zygote._current.fork(process, writing, **request)
    finally:
        os.close(writing)
    return reading


def test_a_process_that_is_in_no_sandbox_is_not_joined(own_zygote):
    with pytest.raises(zygote.ZygoteError, match="Invalid argument"):
        forked(os.getpid())


@pytest.mark.parametrize("shared", ["net", "ipc", "pid"])
def test_no_kernel_runs_where_one_namespace_is_the_hosts(own_zygote, tmp_path, shared):
    others = [f"--unshare-{name}" for name in ("user", "net", "ipc", "pid") if name != shared]
    command = [
        "bwrap",
        "--die-with-parent",
        *others,
        "--dev-bind",
        "/",
        "/",
        "sh",
        "-c",
        "echo; exec sleep 60",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        (inside,) = psutil.Process(process.pid).children()
        connection = tmp_path / "kernel.json"
        reading = forked(inside.pid, str(connection))
        with os.fdopen(reading, "rb") as lifeline:
            ended = select.select([lifeline], [], [], 5)[0]
            assert ended and lifeline.read() == b""  # a kernel would hold its end open
    finally:
        process.kill()
        process.communicate()


def test_after_its_zygote_is_gone_the_next_kernel_gets_another(own_zygote):
    with started() as kernel:
        before = zygote._current._process.pid
        os.kill(before, signal.SIGKILL)
        zygote._current._process.wait()
        assert ask(kernel, "1 + 1") == 2  # a kernel lives without the process it came from
    with started() as kernel:
        assert ask(kernel, "1 + 1") == 2
        assert zygote._current._process.pid != before


def test_a_zygote_that_does_not_answer_is_no_fault_of_the_submission(own_zygote, monkeypatch):
    with started():
        os.kill(zygote._current._process.pid, signal.SIGSTOP)
    with monkeypatch.context() as impatient, pytest.raises(StartFailed, match="no answer"):
        impatient.setattr(zygote, "FORK", 0.5)
        WatchedKernel()
    with started() as kernel:
        assert ask(kernel, "1 + 1") == 2


def test_a_sandbox_that_cannot_be_made_says_why(monkeypatch):
    shown = [*places.interpreter(), "/no/such/place"]
    monkeypatch.setattr(places, "interpreter", lambda: shown)
    with pytest.raises(StartFailed, match="/no/such/place"):
        WatchedKernel()


def test_a_kernel_that_ends_takes_its_sandbox_with_it():
    with started() as kernel:
        kernel.execute_cell_input("import os\nos._exit(0)", allow_stdin=False)
        psutil.wait_procs([psutil.Process(kernel.km.provisioner.pid)], timeout=10)
        assert not kernel.is_alive()


def test_the_zygote_ends_with_the_process_that_started_it(tmp_path):
    code = (
        "from straight_through.grading import zygote\n"
        "from straight_through.grading.kernel import WatchedKernel\n"
        "WatchedKernel().close()\n"
        "print(zygote._current._process.pid, flush=True)\n"
        "import os, signal\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    result = subprocess.run([os.sys.executable, "-c", code], capture_output=True, text=True)
    with contextlib.suppress(psutil.NoSuchProcess):  # it may be gone already
        assert ended([psutil.Process(int(result.stdout))])


def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with started():
        pass
    assert list(tmp_path.iterdir()) == []


def test_without_a_filter_of_system_calls_no_kernel_runs(own_zygote, monkeypatch, tmp_path):
    broken = tmp_path / "ste_seccomp.py"
    broken.write_text("def restrict():\n    return False\n")
    ours = str(sandbox.INSIDE / "ste_seccomp.py")
    files = [str(broken) if file == ours else file for file in sandbox._guest_files()]
    monkeypatch.setattr(sandbox, "_guest_files", lambda: files)
    with pytest.raises(StartFailed, match="process ended"):
        WatchedKernel()


# After each of these steps of a start its sandbox may be gone, whatever ended it.
STEPS = {
    "made": (sandbox.SandboxProvisioner, "_wait_for_the_sandbox", lambda self: self.inside),
    "entered": (zygote.Zygote, "fork", lambda self, inside, lifeline: inside),
    "measured": (watch.NamespaceMeter, "__init__", lambda self, inside, places, most: inside),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_sandbox_that_ends_while_it_starts_is_said_so(monkeypatch, step):
    owner, name, inside = STEPS[step]
    original = getattr(owner, name)

    def and_end(*arguments, **request):
        original(*arguments, **request)
        first = psutil.Process(inside(*arguments))
        assert first.parent().name() == "bwrap"
        first.kill()
        first.wait(timeout=10)

    monkeypatch.setattr(owner, name, and_end)
    with pytest.raises(StartFailed, match="its process ended at once|No such process"):
        WatchedKernel()


def test_a_sandbox_that_ends_before_anything_enters_it_is_said_so(monkeypatch):
    monkeypatch.setattr(sandbox, "HOLD", ["sh", "-c", f"echo {sandbox.HELD}"])
    with pytest.raises(StartFailed, match="its process ended at once|No such process"):
        WatchedKernel()


def test_the_machines_are_those_that_the_filter_knows():
    known = runpy.run_path(str(sandbox.INSIDE / "ste_seccomp.py"))["MACHINES"]
    assert set(sandbox.MACHINES) == set(known)
    for machine in known.values():  # one number for one call
        numbers = [*machine["denied"].values(), *machine["pretended"].values()]
        assert len(set(numbers)) == len(numbers)


def test_a_machine_whose_system_calls_are_unknown_is_named(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert "this is riscv64" in sandbox.sandbox_problem()


@pytest.mark.parametrize(("system", "release"), [("Darwin", "24.1.0"), ("Linux", "4.18.0-553.el8")])
def test_a_system_that_cannot_do_this_is_named(monkeypatch, system, release):
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.release", lambda: release)
    problem = sandbox.sandbox_problem()
    assert f"needs Linux 5.8 or newer, and this is {system} {release}" in problem
    assert "--sandbox none" in problem


# ---- the command of the sandbox


def test_an_installed_course_is_hidden_however_it_is_reached(tmp_path, monkeypatch):
    packages = tmp_path / "env" / "lib" / "python3" / "site-packages"
    (packages / "straight_through").mkdir(parents=True)
    (tmp_path / "env" / "lib64").symlink_to("lib")
    (tmp_path / "link").symlink_to("env")
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(packages)])
    shown = [str(tmp_path / name) for name in ("env/lib", "env/lib64", "link")]
    hidden = places.hidden(shown)
    inside = "python3/site-packages/straight_through"
    assert hidden == [
        str(tmp_path / "env" / "lib" / inside),
        str(tmp_path / "env" / "lib64" / inside),
        str(tmp_path / "link" / "lib" / inside),
    ]


def test_an_installed_course_is_empty_inside(tmp_path, monkeypatch):
    packages = tmp_path / "env" / "lib"
    (packages / "straight_through").mkdir(parents=True)
    (packages / "straight_through" / "answers.py").write_text("")
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(packages)])
    shown = places.interpreter() + [str(packages)]
    monkeypatch.setattr(places, "interpreter", lambda: shown)
    with started() as kernel:
        answer = ask(kernel, f"__import__('os').listdir({str(packages / 'straight_through')!r})")
    assert answer == []


def test_an_environment_in_the_courses_own_folder_shows_nothing_of_the_course(monkeypatch):
    for name in ("prefix", "exec_prefix"):
        monkeypatch.setattr("sys." + name, str(course.ROOT))
    shown = places.interpreter()
    for secret in (course.PACKAGE, HIDDEN, course.ROOT / "solutions", course.ROOT / ".ste"):
        assert not any(str(secret).startswith(place) for place in shown)


def test_the_command_writes_to_nothing_of_the_host():
    command = bubblewrap("/folder", Limits(), cache="/compiled")
    assert "--bind" not in command and "--dev-bind" not in command
    assert {"--unshare-all", "--die-with-parent", "--clearenv", "--cap-drop"} <= set(command)
    assert "--bind" in bubblewrap("/folder", Limits(), cache="/compiled", warming=True)
