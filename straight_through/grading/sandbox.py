"""Where a submission runs: its own namespaces, no network, nothing of the host but the interpreter.

``SandboxProvisioner`` is a Jupyter kernel provisioner, so any Jupyter client can start a kernel in
it. Isolation "bubblewrap" needs the program bwrap; "none" only limits the process.
"""

import functools
import os
import platform
import re
import select
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Bool, Dict, Instance, Unicode

from straight_through import course
from straight_through.grading import places, zygote

INSIDE = Path(__file__).parent / "inside"
SCRATCH = "/scratch"
GUEST = "/ste"
CACHE = "/cache"
SOCKETS = "/run/ste"
WRITABLE = (SCRATCH, "/tmp", "/dev/shm", SOCKETS)  # all of it is memory, and gone at the end
SMALL = 64 * 2**20  # bytes of each of them but the scratch folder
# What bubblewrap runs as the sandbox's first process, which no signal from inside can end: it
# ends, and all others with it, when its input does.
HELD = "held"
HOLD = ["sh", "-c", f"echo {HELD}; exec cat >/dev/null"]
MACHINES = ("x86_64", "aarch64")
OLDEST = (5, 8)  # Linux: from here on a process can join all namespaces of another at once
START = 20  # seconds that making a sandbox may take
# What a root grader's submission could read of the host in /proc.
MASKED = [f"/proc/{name}" for name in "kcore keys kmsg slabinfo timer_list vmallocinfo".split()]
MASKED += [f"/proc/{name}" for name in "kpagecgroup kpagecount kpageflags pagetypeinfo".split()]


@dataclass(frozen=True)
class Limits:
    """What one submission may use: bytes, and seconds of wall time."""

    memory: int = 2 * 2**30  # the whole process tree
    disk: int = 256 * 2**20
    output: int = 2**20  # a cell
    cell: float = 30
    request: float = 10
    total: float = 120
    processes: int = 64


class SandboxMissing(RuntimeError):
    """bubblewrap is not there or cannot work here."""


def sandbox_problem() -> str | None:
    """Why bubblewrap cannot be used here, in one sentence; None if it can."""
    if platform.system() != "Linux" or _version(platform.release()) < OLDEST:
        return (
            f"The sandbox needs Linux {'.'.join(map(str, OLDEST))} or newer, and this is "
            f"{platform.system()} {platform.release()}: give --sandbox none to run the submissions "
            "without protection."
        )
    if platform.machine() not in MACHINES:
        return (
            f"The sandbox knows the system calls of {' and '.join(MACHINES)}, and this is "
            f"{platform.machine()}: give --sandbox none to run the submissions without protection."
        )
    program = shutil.which("bwrap")
    if program is None:
        return (
            "The sandbox needs the program bwrap (package bubblewrap), which is not installed: "
            "install it, or give --sandbox none to run the submissions without protection."
        )
    probe = [program, "--unshare-all", "--ro-bind", "/", "/", "true"]
    result = subprocess.run(probe, capture_output=True, env={}, text=True)
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        return (
            f"bubblewrap cannot make namespaces here ({reason}): allow user namespaces, or give "
            "--sandbox none to run the submissions without protection."
        )
    return None


def _version(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)[:2]))


@functools.cache
def _more_isolation(program: str) -> tuple[str, ...]:
    """Options that older versions of bubblewrap do not have."""
    options = subprocess.run([program, "--help"], capture_output=True, text=True, env={})
    known = "--disable-userns" in options.stdout + options.stderr
    return ("--unshare-user", "--disable-userns") if known else ()


def bubblewrap(folder: str, limits: Limits, cache: str = "", warming: bool = False) -> list[str]:
    """The bwrap command in front of a kernel's own; ``folder`` holds its connection file.

    Nothing of the host can be written to. ``cache`` is a folder of compiled code, which only our
    own solution fills (``warming``): what a submission could write there, the next would run.
    """
    environment = guest_environment(limits, SCRATCH, GUEST, CACHE if cache else "")
    program = shutil.which("bwrap") or "bwrap"
    command = [program, "--unshare-all", *_more_isolation(program), "--die-with-parent"]
    command += ["--as-pid-1", "--new-session", "--cap-drop", "ALL", "--hostname", "submission"]
    # Options apply in order: what is mounted later hides what was there before. To root, the
    # settings of the host's kernel in /proc/sys are ordinary files.
    command += ["--proc", "/proc"]
    command += ["--dev", "/dev"]
    # Bound like this, nothing can be opened. Memory shared through /dev/zero counts as nobody's.
    for place in filter(os.path.exists, (*MASKED, "/dev/zero")):
        command += ["--ro-bind", "/dev/null", place]
    command += ["--remount-ro", "/proc", "--remount-ro", "/dev"]
    for place in WRITABLE:
        size = limits.disk if place == SCRATCH else SMALL
        command += ["--size", str(size), "--tmpfs", place]
    shown = []
    for place in places.system():
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            shown.append(place)
    shown += places.interpreter()
    for place in shown:
        command += ["--ro-bind", place, place]
    for place in ("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"):
        command += ["--ro-bind-try", place, place]
    for place in places.hidden(shown):
        command += ["--tmpfs", place, "--remount-ro", place]
    command += _guest_files()
    if cache:
        command += ["--bind" if warming else "--ro-bind", cache, CACHE]
    command += ["--ro-bind", folder, folder, "--remount-ro", "/", "--clearenv"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return [*command, "--chdir", SCRATCH, "--"]


def _guest_files() -> list[str]:
    """Our few files inside: the kernel, the wire format, the operations, the package's shadow."""
    files = {
        "ste_kernel.py": INSIDE / "ste_kernel.py",
        "ste_seccomp.py": INSIDE / "ste_seccomp.py",
        "ste_wire.py": course.PACKAGE / "wire.py",
        "ste_operations.py": course.PACKAGE / "operations.py",
        "straight_through": INSIDE / "straight_through",
    }
    examples = course.PACKAGE / "examples.py"
    binds = []
    for name, source in files.items():
        binds += ["--ro-bind", str(source), f"{GUEST}/{name}"]
    if examples.is_file():
        binds += ["--ro-bind", str(examples), f"{GUEST}/straight_through/examples.py"]
    return binds


def guest_environment(limits: Limits, home: str, path: str, cache: str = "") -> dict[str, str]:
    """All that a submission's process inherits."""
    compiled = {
        "JAX_COMPILATION_CACHE_DIR": cache,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    return {
        **(compiled if cache else {}),
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin",
        "HOME": home,
        "IPYTHONDIR": f"{home}/.ipython",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "LANG": "C.UTF-8",
        "PYTHONPATH": path,
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "JAX_PLATFORMS": "cpu",
        "MPLBACKEND": "Agg",
        "STE_LIMIT_MEMORY": str(limits.memory),
        "STE_LIMIT_DISK": str(limits.disk),
        "STE_LIMIT_OUTPUT": str(limits.output),
        "STE_LIMIT_SECONDS": str(int(limits.total) + 120),
        "STE_LIMIT_CPU": str(int(2 * limits.total) + 60),
    }


class SandboxProvisioner(LocalProvisioner):
    """Starts a kernel in the sandbox: bubblewrap makes one, and a fork of our zygote joins it.

    ``folder`` is its private folder on the host, ``cache`` one with compiled code; ``warming``
    lets our own solution fill that.
    """

    isolation = Unicode("bubblewrap", config=True)
    limits = Instance(Limits, (), config=True)
    folder = Unicode("", config=True)
    cache = Unicode("", config=True)
    warming = Bool(False, config=True)
    inside = 0  # host's id of the sandbox's first process: when it ends, all others in it do

    async def pre_launch(self, **kwargs):
        kwargs = await super().pre_launch(**kwargs)
        kwargs["stdin"] = kwargs["stdout"] = kwargs["stderr"] = subprocess.DEVNULL
        if self.isolation == "none":
            guest = _guest_folder(self.folder)
            # No cache: one submission could write what the next one runs.
            kwargs["env"] = guest_environment(self.limits, self.folder, guest)
            kwargs["cwd"] = self.folder
        return kwargs

    async def launch_kernel(self, cmd, **kwargs):
        if self.isolation == "none":
            return await super().launch_kernel(cmd, **kwargs)
        waiting, lifeline = os.pipe()
        try:
            wrapper = bubblewrap(self.folder, self.limits, self.cache, self.warming)
            streams = {"stdin": waiting, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            info = await super().launch_kernel(
                [*wrapper, *HOLD], **{**kwargs, **streams, "env": {}}
            )
            self._wait_for_the_sandbox()
            self._fork(lifeline)
        finally:
            os.close(waiting)
            os.close(lifeline)
        return info

    def _wait_for_the_sandbox(self) -> None:
        """Until its program runs: only then is everything mounted, and nothing else left."""
        with self.process.stdout as said:
            ready = select.select([said], [], [], START)[0]
            line = said.readline().decode(errors="replace").strip() if ready else "no answer"
        if line != HELD:
            raise RuntimeError(f"bubblewrap could not make the sandbox ({line or 'it ended'})")
        for first in psutil.Process(self.process.pid).children():
            self.inside = first.pid
            return
        raise psutil.NoSuchProcess(self.process.pid)

    def _fork(self, lifeline: int) -> None:
        cache = CACHE if self.cache else ""
        zygote.running(
            _guest_folder, lambda guest: guest_environment(self.limits, SCRATCH, guest, CACHE)
        ).fork(
            self.inside,
            lifeline,
            connection=self.parent.connection_file,
            folder=SCRATCH,
            environment=guest_environment(self.limits, SCRATCH, GUEST, cache),
        )


def _guest_folder(folder: str) -> str:
    """Where there is no sandbox, copies of our few files in ``folder``."""
    guest = Path(folder) / "guest"
    if not guest.exists():
        guest.mkdir()
        for source, place in zip(_guest_files()[1::3], _guest_files()[2::3], strict=True):
            target = guest / os.path.relpath(place, GUEST)
            copy = shutil.copytree if os.path.isdir(source) else shutil.copy
            copy(source, target)
    return str(guest)


class SandboxSpecs(KernelSpecManager):
    """A kernel spec that is made, not found: nothing on the host or in the notebook names it."""

    config_of_provisioner = Dict()

    def get_kernel_spec(self, kernel_name):
        return KernelSpec(
            argv=[sys.executable, "-s", "-m", "ste_kernel", "-f", "{connection_file}"],
            display_name="Graded submission",
            language="python",
            metadata={
                "kernel_provisioner": {
                    "provisioner_name": "straight-through-sandbox",
                    "config": self.config_of_provisioner,
                }
            },
        )
