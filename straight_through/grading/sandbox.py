"""Where a submission runs: its own namespaces, no network, nothing of the host but the interpreter.

``SandboxProvisioner`` is a Jupyter kernel provisioner, so any Jupyter client can start a kernel in
it. Isolation "bubblewrap" needs the program bwrap; "none" only limits the process.
"""

import os
import shutil
import site
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Bool, Dict, Unicode

from straight_through import course

INSIDE = Path(__file__).parent / "inside"
SCRATCH = "/scratch"
GUEST = "/ste"
CACHE = "/cache"


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


def _interpreter_folders() -> list[str]:
    """The folders without which this interpreter does not run, outermost only."""
    places = {sys.prefix, sys.base_prefix, sys.exec_prefix, sysconfig.get_paths()["stdlib"]}
    places |= {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}
    places.add(str(Path(sys.executable).resolve().parent.parent))
    ordered = sorted({os.path.realpath(place) for place in places} | places, key=len)
    outermost: list[str] = []
    for place in ordered:
        inside = any(place == kept or place.startswith(kept + "/") for kept in outermost)
        if not inside and place not in ("/", "/usr") and os.path.isdir(place):
            outermost.append(place)
    return outermost


def _package_folders() -> list[str]:
    """Where the course itself is installed as files that the sandbox would otherwise show."""
    folders = [course.PACKAGE, *(Path(p) / "straight_through" for p in site.getsitepackages())]
    return sorted({str(folder) for folder in folders if folder.is_dir()})


def bubblewrap(folder: str, limits: Limits, cache: str = "", warming: bool = False) -> list[str]:
    """The bwrap command in front of a kernel's own; ``folder`` holds its sockets.

    ``cache`` is a folder of compiled code. A submission may only read it: what one could write
    there, the next would run.
    """
    environment = guest_environment(limits, SCRATCH, GUEST, CACHE if cache else "")
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--die-with-parent"]
    command += ["--new-session", "--cap-drop", "ALL", "--hostname", "submission"]
    # Options apply in order: what is mounted later hides what was there before.
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--size", str(2**26), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    command += ["--size", str(2**26), "--tmpfs", "/tmp"]
    for place in ("/usr", "/lib", "/lib64", "/bin", "/sbin"):
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            command += ["--ro-bind", place, place]
    for place in ("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"):
        command += ["--ro-bind-try", place, place]
    shown = _interpreter_folders()
    for place in shown:
        command += ["--ro-bind", place, place]
    for place in _package_folders():  # the checks and the answers stay out of reach
        if any(place.startswith(folder + "/") for folder in [*shown, "/usr"]):
            command += ["--tmpfs", place, "--remount-ro", place]
    command += _guest_files()
    command += ["--size", str(limits.disk), "--tmpfs", SCRATCH, "--chdir", SCRATCH]
    if cache:
        command += ["--bind" if warming else "--ro-bind", cache, CACHE]
    command += ["--bind", folder, folder, "--remount-ro", "/", "--clearenv"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    return [*command, "--"]


def _guest_files() -> list[str]:
    """Our few files inside: the kernel, the wire format, the operations, the package's shadow."""
    files = {
        "ste_kernel.py": INSIDE / "ste_kernel.py",
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
        "STE_LIMIT_DISK": str(limits.disk),
        "STE_LIMIT_OUTPUT": str(limits.output),
        "STE_LIMIT_CPU": str(int(2 * limits.total) + 60),
    }


class SandboxProvisioner(LocalProvisioner):
    """Starts a kernel in the sandbox.

    ``folder`` is its private folder on the host, ``cache`` one with compiled code; ``warming``
    lets our own solution fill that.
    """

    isolation = Unicode("bubblewrap", config=True)
    folder = Unicode("", config=True)
    cache = Unicode("", config=True)
    warming = Bool(False, config=True)

    async def pre_launch(self, **kwargs):
        kwargs = await super().pre_launch(**kwargs)
        limits = Limits()
        if self.isolation == "bubblewrap":
            wrapper = bubblewrap(self.folder, limits, self.cache, self.warming)
            kwargs["cmd"] = [*wrapper, *kwargs["cmd"]]
            kwargs["env"] = {}
        else:
            path = _unprotected_path(self.folder)
            kwargs["env"] = guest_environment(limits, self.folder, path, self.cache)
            kwargs["cwd"] = self.folder
        kwargs["stdout"] = kwargs["stderr"] = subprocess.DEVNULL
        kwargs["stdin"] = subprocess.DEVNULL
        return kwargs


def _unprotected_path(folder: str) -> str:
    """Without a sandbox our few files are copied beside the submission."""
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
