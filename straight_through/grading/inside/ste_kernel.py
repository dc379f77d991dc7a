"""The kernel that a submission runs in: an ordinary IPython kernel that also answers requests.

It runs inside the sandbox, next to copies of the wire format and the operations; nothing else of
the course is there. A request is a Jupyter message of type ``ste_request`` on the shell channel,
its arrays travel as the message's raw buffers.
"""

import os
import resource
import signal
import sys

import ste_operations  # JAX is imported here, before any learner code
import ste_seccomp
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp


def _limit() -> None:
    """Limits of this process and all it starts; what the whole tree uses, the grader watches."""
    for name, value in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", int(os.environ.get("STE_LIMIT_DISK", 2**28))),
        ("RLIMIT_NOFILE", 1024),
        ("RLIMIT_NPROC", 4096),
        ("RLIMIT_MEMLOCK", 0),  # nor pages that a socket keeps after they were unmapped
        ("RLIMIT_CPU", int(os.environ.get("STE_LIMIT_CPU", 300))),
    ):
        _set(name, value)


def _set(name: str, value: int) -> None:
    """Set a limit for good: not even root can raise it again inside the sandbox."""
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _limit_address_space() -> None:
    """A bound that honest code never meets, so that one huge array fails at once."""
    try:
        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    memory = int(os.environ.get("STE_LIMIT_MEMORY", 2**31))
    _set("RLIMIT_AS", mapped + 4 * memory + 2**32)


MESSAGE = 1000  # what a message costs, however short
LONGEST = 50_000  # characters of one text in a result or an error
# What counts as output. A cell's result or its error is sent however much was printed before.
LOUD = {"stream", "display_data", "update_display_data", "clear_output"}
_serve, _failure = ste_operations.serve, ste_operations.failure


class GradedKernel(IPythonKernel):
    """Caps a cell's output, ends no process on ``exit()``, and serves the grader's requests."""

    msg_types = [*IPythonKernel.msg_types, "ste_request"]

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._targets = {}
        self._written = 0
        most = int(os.environ.get("STE_LIMIT_OUTPUT", 2**20))
        self.shell.ask_exit = _no_exit
        send = self.session.send

        def capped(stream, msg_or_type, content=None, *args, **kwargs):
            kind = msg_or_type if isinstance(msg_or_type, str) else msg_or_type.get("msg_type")
            said = content if content is not None else msg_or_type.get("content")
            if isinstance(said, dict) and kind != "ste_reply":
                said.update(_cut(said))
            if kind in LOUD:
                self._written += _size(said) + MESSAGE
                if self._written > most:
                    return None  # the rest of what this cell prints and shows is dropped
            return send(stream, msg_or_type, content, *args, **kwargs)

        self.session.send = capped

    async def execute_request(self, *args, **kwargs):
        self._written = 0
        return await super().execute_request(*args, **kwargs)

    async def ste_request(self, stream, ident, parent):
        self._written = 0
        buffers = [bytes(part) for part in parent.get("buffers", [])]
        try:
            reply, out = _serve(parent["content"], buffers, self._targets, self.shell.user_ns)
        except BaseException as error:  # a KeyboardInterrupt of the learner's own
            reply, out = {"ok": False, "failure": _failure(error)}, []
        self.session.send(stream, "ste_reply", reply, parent, ident=ident, buffers=out)


def _cut(value):
    """``value`` with each text shortened, and of a list the end, where an error says what.

    Half a character (a lone surrogate) would keep the whole message from being sent.
    """
    if isinstance(value, str):
        return value[:LONGEST].encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(item) for item in value[-100:]]
    return value


def _no_exit():
    raise SystemExit("exit() was called")


def _size(content) -> int:
    """Characters in a message's content, near enough."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, dict):
        return sum(_size(value) for value in content.values())
    if isinstance(content, list | tuple):
        return sum(_size(value) for value in content)
    return 8


def main(sandboxed: bool = False) -> None:
    """Run the kernel whose connection file the command line names. Nothing is undone: limits and
    forbidden calls last as long as the process."""
    _limit()
    _limit_address_space()
    if not ste_seccomp.restrict() and sandboxed:
        return  # not one line of a learner's runs without it
    # A grader that is killed at the wrong moment cannot end this process: it ends by itself.
    signal.alarm(int(os.environ.get("STE_LIMIT_SECONDS", 300)))
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    IPKernelApp.launch_instance(kernel_class=GradedKernel)


if __name__ == "__main__":
    main()
