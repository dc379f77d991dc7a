"""Waits with everything imported, and is forked to become a submission's kernel in its sandbox.

bubblewrap has made the sandbox; the fork joins all its namespaces and gives up every privilege
before it reads anything that a learner wrote. This process itself stays outside, computes nothing
(JAX cannot be forked after that), and holds nothing that a submission must not see.
"""

import contextlib
import ctypes
import errno
import gc
import json
import os
import signal
import socket
import sys

import jax
import numpy
import ste_kernel

LONGEST = 2**16  # bytes of a request
# linux/sched.h. A sandbox has its own of each but, where the system allows no others, of ``user``.
NAMESPACES = {
    **{"user": 0x10000000, "mnt": 0x20000, "pid": 0x20000000, "net": 0x40000000},
    **{"ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000},
}
NEEDED = {"mnt", "pid", "net", "ipc"}
# linux/prctl.h
NO_NEW_PRIVILEGES, DROP_BOUNDING, AMBIENT, CLEAR_AMBIENT, SUBREAPER = 38, 24, 47, 4, 36
CAPABILITY_VERSION = 0x20080522
LIFELINE = 3  # the sandbox ends when nobody holds this open
_libc = ctypes.CDLL(None, use_errno=True)


def serve(control: socket.socket) -> None:
    """Fork for each request, until the grader closes its end. A reply is an errno, or 0."""
    outside = _namespaces("self")
    # A sandbox is gone when its last process is reaped: here, at once, by the system.
    _prctl(SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()  # so that a fork does not copy what its collector looks at
    control.send(b"ready")
    while True:
        request, received, _, _ = socket.recv_fds(control, LONGEST, 1)
        if not request:
            return
        if os.fork() == 0:
            _as_a_fork(_enter, control, json.loads(request), received[0], outside)
        os.close(received[0])


def _as_a_fork(step, *arguments) -> None:
    """Whatever happens, a fork never returns into the loop of its parent."""
    try:
        step(*arguments)
    finally:
        os._exit(0)


def _namespaces(process) -> dict[str, str]:
    return {name: os.readlink(f"/proc/{process}/ns/{name}") for name in NAMESPACES}


def _enter(control: socket.socket, request: dict, lifeline: int, outside: dict) -> None:
    """Join the sandbox of a process. Only a child is in its namespace of processes."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:  # if memory runs out, this goes first
            file.write("1000")
        sandbox = os.pidfd_open(request["sandbox"])
        inside = _namespaces(request["sandbox"])
        held = [int(name) for name in os.listdir("/proc/self/fd")]
        flags = sum(NAMESPACES[name] for name in inside if inside[name] != outside[name])
        _call("setns", sandbox, flags)
    except OSError as error:
        gone = isinstance(error, FileNotFoundError)  # its entry in /proc
        control.send(str(errno.ESRCH if gone else error.errno).encode())
        return
    control.send(b"0")
    os.dup2(lifeline, LIFELINE)
    for number in held:
        if number > LIFELINE:
            with contextlib.suppress(OSError):  # the listing itself is closed already
                os.close(number)
    null = os.open("/dev/null", os.O_RDWR)  # the sandbox's own, instead of the host's
    for number in range(LIFELINE):
        os.dup2(null, number)
    os.close(null)
    if os.fork() == 0:
        _as_a_fork(_become, request, outside)


def _become(request: dict, outside: dict[str, str]) -> None:
    """The kernel, as if it had been started inside."""
    inside = _namespaces("self")
    if any(inside[name] == outside[name] for name in NEEDED):
        os._exit(1)  # whatever went wrong: not one line of a learner's runs out here
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    _drop_privileges()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        jax.config.update("jax_compilation_cache_dir", None)
    guest = os.path.dirname(ste_kernel.__file__)
    sys.path[:] = [os.environ["PYTHONPATH"] if entry == guest else entry for entry in sys.path]
    sys.argv = ["ste_kernel", "-f", request["connection"]]
    numpy.random.seed()  # or all forks would draw the same
    ste_kernel.main(sandboxed=True)


def _drop_privileges() -> None:
    """Joining a namespace of users gives all capabilities in it."""
    last = int(open("/proc/sys/kernel/cap_last_cap").read())
    for capability in range(last + 1):
        _prctl(DROP_BOUNDING, capability)
    _prctl(AMBIENT, CLEAR_AMBIENT)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)  # of this process
    _call("capset", header, (ctypes.c_uint32 * 6)())  # effective, permitted, inheritable, twice
    _prctl(NO_NEW_PRIVILEGES, 1)


def _prctl(option: int, value: int) -> None:
    _call("prctl", *(ctypes.c_ulong(number) for number in (option, value, 0, 0, 0)))


def _call(name: str, *arguments) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
