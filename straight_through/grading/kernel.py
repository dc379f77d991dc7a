"""A submission's kernel as the grader holds it: started, watched, asked, and ended.

Whatever the submission does, waiting for it ends: at its deadline, when its process dies, when it
uses too much. Then ``SubmissionStopped`` says which and why, once and for all that follows.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from queue import Empty

import psutil
import zmq
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel

from straight_through import wire
from straight_through.grading import messages, watch
from straight_through.grading.sandbox import SOCKETS, WRITABLE, Limits, SandboxSpecs
from straight_through.submission import Submission, SubmissionStopped

SLICE = 0.2  # seconds between two looks at a silent kernel
WATCH = 0.02  # seconds between two looks at what it uses
START = 60  # seconds that a kernel may take to be ready
THREADS = 32  # for each process that a submission may have
CHANNELS = ("shell", "iopub")  # the grader opens no others
# Of what the kernel sends, the grader's process keeps at most this much waiting.
SOCKET_OPTIONS = {
    zmq.MAXMSGSIZE: messages.MAX_BYTES,  # of one part of a message
    zmq.RCVHWM: 2000,
    zmq.LINGER: 0,
    zmq.RECONNECT_IVL: -1,  # a socket that was replaced by something else is not followed
}
ENDED = "its process ended at once"
UNREAD = 256 * 2**20  # bytes that the grader's process may grow by while a submission runs


class StartFailed(RuntimeError):
    """The kernel did not start: a reason of ours, not the submission's."""


class WatchedKernel(RunningKernel):
    """nbval's kernel in our sandbox, with deadlines and a watchdog."""

    def __init__(self, isolation="bubblewrap", limits: Limits | None = None, **sandbox):
        self.limits = limits or Limits()
        self.stopped: SubmissionStopped | None = None
        self.doing = "starting"
        self.cpu_seconds = 0.0  # of everything that ran inside, as last seen
        self.folder = tempfile.mkdtemp(prefix="ste-")
        self.deadline = time.monotonic() + START
        self._ready = False
        self._oom_kills = watch.oom_kills()
        self._isolated = isolation == "bubblewrap"
        self._context = zmq.Context()
        self._processes: list[psutil.Process] = []  # killing these ends everything inside
        try:
            given = {"isolation": isolation, "folder": self.folder, "limits": self.limits}
            self._start({**given, **sandbox})
        except Exception as error:
            self.close()
            gone = isinstance(error, psutil.NoSuchProcess)
            reason = ENDED if gone else str(error)
            raise StartFailed(f"The sandboxed kernel did not start: {reason}") from error
        except BaseException:
            self.close()
            raise
        self._ready = True
        self.deadline = time.monotonic() + self.limits.total
        self._before = watch.own_memory()
        threading.Thread(target=self._watch, daemon=True).start()

    # ---- the start

    def _start(self, sandbox: dict) -> None:
        self.km = KernelManager(
            kernel_name="graded",
            kernel_spec_manager=SandboxSpecs(config_of_provisioner=sandbox),
            # A TCP port would not reach into the sandbox, which has no network.
            transport="ipc",
            ip=f"{SOCKETS if self._isolated else self.folder}/s",
            connection_file=f"{self.folder}/kernel.json",
        )
        self.km.start_kernel()
        outer = psutil.Process(self.km.provisioner.pid)
        self._processes = [outer]
        if self._isolated:
            inner = psutil.Process(self.km.provisioner.inside)
            self._processes.insert(0, inner)
            self._meter = watch.NamespaceMeter(inner.pid, WRITABLE, self.limits.processes)
            sockets = f"{self._meter.root}{SOCKETS}/s"
        else:
            self._meter = watch.TreeMeter(outer, self.folder)
            sockets = f"{self.folder}/s"
        self._connect(sockets)
        for process in watch.family(outer):  # if the host runs out of memory, these go first
            with suppress(OSError), open(f"/proc/{process.pid}/oom_score_adj", "w") as file:
                file.write("1000")

    def _connect(self, sockets: str) -> None:
        for channel in CHANNELS:
            while not _listens(f"{sockets}-{getattr(self.km, f'{channel}_port')}"):
                self._wait_a_little()
        for option, value in SOCKET_OPTIONS.items():
            self._context.setsockopt(option, value)
        self.kc = self.km.client(context=self._context, ip=sockets)
        self.kc.start_channels(stdin=False, hb=False, control=False)
        while True:  # until what it publishes arrives
            request = self.kc.kernel_info()
            self.await_reply(request, START)
            with suppress(Empty):
                return self.await_idle(request, 1)

    def _wait_a_little(self) -> None:
        if not self.km.is_alive():
            raise RuntimeError(ENDED)
        if time.monotonic() > self.deadline:
            raise RuntimeError(f"it was not ready after {START} s")
        time.sleep(0.01)

    # ---- the watchdog

    def _watch(self) -> None:
        while self.stopped is None and self._processes:
            try:
                usage = self._meter.read()
            except (OSError, psutil.Error):
                return  # it is gone; whoever waits for it finds out
            self.cpu_seconds = max(self.cpu_seconds, usage.cpu_seconds)
            reason = self._excess(usage)
            if reason:
                self.stop_because("crashed", reason)
            time.sleep(WATCH)

    def _excess(self, usage: watch.Usage) -> str | None:
        limits = self.limits
        if usage.processes > limits.processes:
            return f"it started more than {limits.processes} processes"
        if usage.threads > THREADS * limits.processes:
            return f"it started more than {THREADS * limits.processes} threads"
        if usage.memory > limits.memory:
            return f"it used more than {limits.memory / 2**30:.3g} GB of memory"
        if not self._isolated and usage.disk > limits.disk:
            return f"it wrote more than {limits.disk / 2**20:.3g} MB"
        if usage.files > watch.MOST_FILES:
            return f"it made more than {watch.MOST_FILES} files"
        if watch.own_memory() - self._before > UNREAD:
            return "it sent more than can be read"
        return None

    def stop_because(self, status: str, reason: str) -> SubmissionStopped:
        """Remember why, end the process with everything it started, and say so."""
        if self.stopped is None:
            self.stopped = SubmissionStopped(status, f"Stopped while {self.doing}: {reason}.")
            self.kill()
        return self.stopped

    def ended(self) -> SubmissionStopped:
        """The process is gone. Where memory ran out, that may be another's fault, or ours."""
        if watch.oom_kills() > self._oom_kills:
            return self.stop_because("error", "the machine ran out of memory")
        return self.stop_because("crashed", "the process ended")

    def kill(self) -> None:
        """End everything that the submission started."""
        if self._isolated:
            # From the inside out: bwrap ends by itself when what it holds has ended, and until
            # then it is there to reap that.
            for process in self._processes:
                _end([process], wait_for=self._processes[-1:])
            return
        doomed = list(self._processes)
        with suppress(psutil.Error, IndexError):
            doomed = watch.family(doomed[0])
        doomed += watch.leftovers(self.folder)
        _end(doomed, wait_for=doomed)

    # ---- what nbval calls

    def get_message(self, stream, timeout=None):
        """A message, or ``Empty`` after ``timeout``; a kernel that died or is late is stopped."""
        until = time.monotonic() + (self.limits.total if timeout is None else timeout)
        channel = self.kc.iopub_channel if stream == "iopub" else self.kc.shell_channel
        while True:
            self._check_time()
            left = until - time.monotonic()
            message = self._read(channel, max(0.0, min(SLICE, left)))
            if message is not None and stream == "iopub":
                message = messages.published(message)
            if message is not None:
                return message
            if left <= 0 and stream == "iopub" and self._ready:
                raise self.stop_because("crashed", "it never said that it was done")
            if left <= 0:
                raise Empty

    def _read(self, channel, timeout: float) -> dict | None:
        """The next message if there is one. Nothing in it is to be trusted."""
        try:
            return messages.receive(channel, timeout)
        except Empty:
            if timeout and not self.is_alive():
                raise self.ended() from None
            return None
        except Exception as error:  # forged, or cut off
            reason = f"it sent a message that cannot be read ({type(error).__name__})"
            raise self.stop_because("crashed", reason) from None

    def _check_time(self) -> None:
        if self.stopped is not None:
            raise self.stopped
        if time.monotonic() >= self.deadline:
            raise self.stop_because(
                "timeout", f"it took more than {self.limits.total:.3g} s in all"
            )

    def await_reply(self, msg_id, timeout=None):
        limit = self.limits.cell if timeout is None else timeout
        until = time.monotonic() + limit
        while True:
            message = None
            with suppress(Empty):
                message = self.get_message("shell", timeout=max(0.0, until - time.monotonic()))
            if message is not None and messages.answers(message, msg_id):
                return message
            if time.monotonic() >= until:
                raise self.stop_because("timeout", f"it took more than {limit:.3g} s")

    def is_alive(self) -> bool:
        return self.stopped is None and super().is_alive()

    def interrupt(self) -> None:
        raise self.stop_because("timeout", "it had to be interrupted")

    def stop(self) -> None:
        raise self.stop_because("crashed", "it could not go on")

    # ---- requests of the checks

    def request(self, content: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        """Send a request and wait for its reply, at most as long as the limits allow."""
        self._check_time()
        message = self.kc.session.send(
            self.kc.shell_channel.socket, "ste_request", content, buffers=buffers
        )
        self.doing = f"calling {content['name']}"
        reply = self.await_reply(message["header"]["msg_id"], self.limits.request)
        while self._read(self.kc.iopub_channel, 0) is not None:
            self._check_time()  # what a function prints while it is checked must not pile up
        return reply["content"], [bytes(part) for part in reply.get("buffers", [])]

    # ---- the end

    def close(self) -> None:
        """End everything and leave nothing behind."""
        self.kill()
        self._processes = []
        with suppress(AttributeError):
            self.kc.stop_channels()
        self._context.destroy(linger=0)
        manager = getattr(self, "km", None)
        if manager is not None and manager.has_kernel:
            manager.shutdown_kernel(now=True)
        if manager is not None:
            manager.context.destroy(linger=0)
        with suppress(RecursionError):
            shutil.rmtree(self.folder, ignore_errors=True)
        if os.path.lexists(self.folder):  # without a sandbox: a tree too deep for Python to walk
            subprocess.run(["rm", "-rf", "--", self.folder], capture_output=True)


def _end(doomed: list[psutil.Process], wait_for: list[psutil.Process]) -> None:
    for process in doomed:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(wait_for, timeout=5)


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
        probe.connect(path)
        return True
    return False


class KernelSubmission(Submission):
    """Graded functions that live in a watched kernel."""

    def __init__(self, kernel: WatchedKernel, seed: int, stubs):
        super().__init__(seed, stubs, {})
        self._kernel = kernel
        self.notes: list[str] = []  # what happened in the learner's cells

    def _transport(self, request, buffers):
        reply, raw = self._kernel.request(request, buffers)
        if reply.get("ok") is not True:
            return {"ok": False, "failure": messages.failure(reply.get("failure"))}, []
        if request["op"] == "about":
            return {"ok": True, "defined": reply.get("defined") is True}, []
        try:
            wire.check_answer(request, wire.decode(reply.get("result"), raw))
        except wire.WireError as error:
            raise self._kernel.stop_because("crashed", f"it answered with {error}") from None
        return {"ok": True, "result": reply["result"]}, raw
