"""The process that kernels are forked from: one for each grading process, started when needed.

Importing JAX and IPython takes longer than most checks. It is done once, in a process that has
seen nothing but an interpreter and the few files that a sandbox shows anyway.
"""

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

PROGRAM = Path(__file__).parent / "inside" / "ste_zygote.py"
READY = 60  # seconds that the imports may take
FORK = 20  # seconds that a fork may take


class ZygoteError(RuntimeError):
    """No kernel could be forked; the message says why."""


class Zygote:
    """Forks kernels. ``environment`` is what its imports see, ``guest`` a folder of our files that
    may be removed once it is ready."""

    def __init__(self, environment: dict[str, str]):
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-s", "-P", str(PROGRAM), str(theirs.fileno())]
        nothing = subprocess.DEVNULL
        with theirs:
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd="/",
                pass_fds=[theirs.fileno()],
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
            )
        if self._answer(READY) != b"ready":
            self.close()
            raise ZygoteError("the process that kernels are forked from did not start")

    def fork(self, sandbox: int, lifeline: int, **request) -> None:
        """Make a kernel in the sandbox that process ``sandbox`` is in.

        ``lifeline`` is a file descriptor that the kernel holds until it ends.
        """
        with suppress(OSError):
            text = json.dumps({"sandbox": sandbox, **request}).encode()
            socket.send_fds(self._control, [text], [lifeline])
        answer = self._answer(FORK)
        if answer != b"0":
            number = int(answer) if answer.isdigit() else 0
            reason = os.strerror(number) if number else "no answer"
            self.close()
            raise ZygoteError(f"a kernel cannot enter its sandbox ({reason})")

    def _answer(self, seconds: float) -> bytes:
        with suppress(OSError):
            if select.select([self._control], [], [], seconds)[0]:
                return self._control.recv(100)
        return b""

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._control.close()
        self._process.kill()
        self._process.wait()


_lock = threading.Lock()
_current: Zygote | None = None


def running(make_guest, environment) -> Zygote:
    """The zygote of this process; a new one if there is none or it has ended.

    Args:
        make_guest: copies our few files into the folder it is given, and returns their place.
        environment: the environment of the imports, by that place.
    """
    global _current
    with _lock:
        if _current is None or not _current.alive:
            end()
            with tempfile.TemporaryDirectory(prefix="ste-") as folder:
                _current = Zygote(environment(make_guest(folder)))
        return _current


@atexit.register
def end() -> None:
    """End the zygote of this process, if there is one."""
    if _current is not None:
        _current.close()
