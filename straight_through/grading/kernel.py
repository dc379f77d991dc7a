"""A submission's kernel as the grader holds it: started, watched, asked, and ended.

Whatever the submission does, waiting for it ends: at its deadline, when its process dies, when it
uses too much. Then ``SubmissionStopped`` says which and why, once and for all that follows.
"""

import shutil
import tempfile
import threading
import time
from pathlib import Path
from queue import Empty

import psutil
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel

from straight_through import wire
from straight_through.grading.sandbox import Limits, SandboxSpecs
from straight_through.submission import Submission, SubmissionStopped

SLICE = 0.2  # seconds between two looks at a silent kernel
WATCH = 0.05  # seconds between two looks at what it uses


class StartFailed(RuntimeError):
    """The kernel did not start: a reason of ours, not the submission's."""


class WatchedKernel(RunningKernel):
    """nbval's kernel in our sandbox, with deadlines and a watchdog."""

    def __init__(self, isolation="bubblewrap", limits: Limits | None = None, **sandbox):
        self.limits = limits or Limits()
        self.stopped: SubmissionStopped | None = None
        self.doing = "starting"
        self.cpu_seconds = 0.0  # of everything that ran inside, as last seen
        self.deadline = time.monotonic() + self.limits.total
        self.folder = Path(tempfile.mkdtemp(prefix="ste-"))
        try:
            self._start({"isolation": isolation, "folder": str(self.folder), **sandbox})
        except BaseException as error:
            self.close()
            raise StartFailed(f"The sandboxed kernel did not start: {error}") from error
        self._watchdog = threading.Thread(target=self._watch, daemon=True)
        self._watchdog.start()

    def _start(self, sandbox: dict) -> None:
        folder = sandbox["folder"]
        self.km = KernelManager(
            kernel_name="graded",
            kernel_spec_manager=SandboxSpecs(config_of_provisioner=sandbox),
            # A TCP port would not reach into the sandbox, which has no network.
            transport="ipc",
            ip=f"{folder}/s",
            connection_file=f"{folder}/kernel.json",
        )
        self.km.start_kernel()
        self.kc = self.km.client()
        self.kc.start_channels()
        self.kc.wait_for_ready(timeout=60)
        self._process = psutil.Process(self.km.provisioner.pid)

    # ---- the watchdog

    def _tree(self) -> list[psutil.Process]:
        return [self._process, *self._process.children(recursive=True)]

    def _watch(self) -> None:
        while self.stopped is None and getattr(self, "km", None) is not None:
            try:
                tree = self._tree()
                self.cpu_seconds = max(self.cpu_seconds, sum(_cpu(process) for process in tree))
                memory = sum(_resident(process) for process in tree)
                reason = self._excess(len(tree), memory)
            except psutil.Error:
                return  # it is gone; whoever waits for it finds out
            if reason:
                self.stop_because("crashed", reason)
            time.sleep(WATCH)

    def _excess(self, processes: int, memory: int) -> str | None:
        if memory > self.limits.memory:
            return f"it used more than {self.limits.memory / 2**30:.3g} GB of memory"
        if processes > self.limits.processes:
            return f"it started more than {self.limits.processes} processes"
        used = sum(_bytes(path) for path in self.folder.rglob("*"))
        if used > self.limits.disk:
            return f"it wrote more than {self.limits.disk / 2**20:.3g} MB"
        return None

    def stop_because(self, status: str, reason: str) -> SubmissionStopped:
        """Remember why, end the process with everything it started, and say so."""
        if self.stopped is None:
            self.stopped = SubmissionStopped(status, f"Stopped while {self.doing}: {reason}.")
            self.kill()
        return self.stopped

    def kill(self) -> None:
        try:
            tree = self._tree()
        except (psutil.Error, AttributeError):
            tree = []
        for process in tree:
            try:
                process.kill()
            except psutil.Error:
                pass

    # ---- what nbval calls

    def get_message(self, stream, timeout=None):
        """A message, or ``Empty`` after ``timeout``; a kernel that died or is late is stopped."""
        until = time.monotonic() + (self.limits.total if timeout is None else timeout)
        while True:
            if self.stopped is not None:
                raise self.stopped
            left = min(until, self.deadline) - time.monotonic()
            try:
                return super().get_message(stream, timeout=max(0.0, min(SLICE, left)))
            except Empty:
                if not self.is_alive():
                    raise self.stop_because("crashed", "the process ended") from None
                if time.monotonic() >= self.deadline:
                    seconds = f"{self.limits.total:.3g} s in all"
                    raise self.stop_because("timeout", f"it took more than {seconds}") from None
                if time.monotonic() >= until:
                    raise
            except SubmissionStopped:
                raise
            except Exception as error:  # a forged or broken message
                reason = f"it sent a message that cannot be read ({type(error).__name__})"
                raise self.stop_because("crashed", reason) from None

    def await_reply(self, msg_id, timeout=None):
        limit = self.limits.cell if timeout is None else timeout
        until = time.monotonic() + limit
        while True:
            try:
                message = self.get_message("shell", timeout=max(0.0, until - time.monotonic()))
            except Empty:
                raise self.stop_because("timeout", f"it took more than {limit:.3g} s") from None
            if message["parent_header"].get("msg_id") == msg_id:
                return message

    def is_alive(self) -> bool:
        return self.stopped is None and super().is_alive()

    def interrupt(self) -> None:
        self.stop_because("timeout", "it had to be interrupted")

    # ---- requests of the checks

    def request(self, content: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        """Send a request and wait for its reply, at most as long as the limits allow."""
        if self.stopped is not None:
            raise self.stopped
        message = self.kc.session.send(
            self.kc.shell_channel.socket, "ste_request", content, buffers=buffers
        )
        self.doing = f"calling {content['name']}"
        reply = self.await_reply(message["header"]["msg_id"], self.limits.request)
        self._forget_output()
        raw = [bytes(part) for part in reply.get("buffers", [])]
        if sum(map(len, raw)) > wire.MAX_BYTES or not isinstance(reply.get("content"), dict):
            raise self.stop_because("crashed", "it sent a reply that is too long")
        return reply["content"], raw

    def _forget_output(self) -> None:
        """What a function prints while it is checked is of no interest, but must not pile up."""
        try:
            while True:
                self.kc.get_iopub_msg(timeout=0)
        except Empty:
            pass
        except Exception as error:
            reason = f"it sent a message that cannot be read ({type(error).__name__})"
            raise self.stop_because("crashed", reason) from None

    # ---- the end

    def close(self) -> None:
        """End everything and leave nothing behind."""
        self.kill()
        manager, self.km = getattr(self, "km", None), None
        client = getattr(self, "kc", None)
        if client is not None:
            client.stop_channels()
        if manager is not None and manager.has_kernel:
            manager.shutdown_kernel(now=True)
        if manager is not None:
            manager.context.destroy(linger=0)
        shutil.rmtree(self.folder, ignore_errors=True)


def _resident(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system


def _bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


class KernelSubmission(Submission):
    """Graded functions that live in a watched kernel."""

    def __init__(self, kernel: WatchedKernel, seed: int, stubs, cell_failures):
        super().__init__(seed, stubs, cell_failures)
        self._kernel = kernel
        self.notes: list[str] = []  # what happened in the learner's cells

    def _transport(self, request, buffers):
        return self._kernel.request(request, buffers)
