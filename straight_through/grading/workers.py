"""Where submissions are graded: processes of this machine, or an existing Dask cluster.

Both map the same function over the same tasks and yield results as they come. What fails for a
reason of ours is tried once more: here by itself, after all others; on a cluster at once, by the
same worker, or by another if that one is gone. If it fails again, the result says ``error``.
"""

import multiprocessing
import os
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from straight_through.grading import scratch
from straight_through.grading.orphan import begin
from straight_through.grading.runner import Result, Task, grade_one

TRIES = 2
WORKER = 20  # seconds to wait for the first worker of a cluster
GONE = "The process that graded this ended before it was done; this is no fault of the submission."


class ClusterError(RuntimeError):
    """The Dask cluster cannot be used; the message says why and what to do."""


class LocalWorkers:
    """``jobs`` processes of this machine, with their temporary files in ``folder``.

    Spawned, never forked: a fork of a process that has used JAX may hang.
    """

    def __init__(self, jobs: int, folder: str):
        self.jobs, self.folder = jobs, folder
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.jobs, context, begin, (self.folder,))

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def run(self, tasks: dict[int, Task]) -> Iterator[tuple[int, Result]]:
        """Yield (key, result) for every task, in the order in which they end.

        What failed is tried again by itself: where a worker died, that costs the others nothing.
        """
        failed: dict[int, Task] = {}
        for key, result in self._run(tasks, self.jobs):
            if result.status == "error":
                failed[key] = tasks[key]
            else:
                yield key, result
        yield from self._run(failed, 1)

    def _run(self, tasks: dict[int, Task], most: int) -> Iterator[tuple[int, Result]]:
        """Each task once, at most so many at a time: those are lost when a worker dies."""
        waiting, running = list(tasks.items())[::-1], {}
        while waiting or running:
            while waiting and len(running) < most:
                key, task = waiting.pop()
                running[self._submit(task)] = key
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), _result(future)

    def _submit(self, task: Task) -> Future:
        try:
            return self._pool.submit(grade_task, task)
        except BrokenProcessPool:  # one whose worker died takes no more work
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._new_pool()
            return self._pool.submit(grade_task, task)


def grade_task(task: Task) -> Result:
    """The result for one submission. A check that failed for a reason of ours makes no grade."""
    result = grade_one(task)
    broken = [check for check in result.checks if check["outcome"] == "error"]
    if not broken:
        return result
    said = f"{broken[0]['title']}: {broken[0]['message']}".rstrip(".")
    return Result("error", f"A check could not be run ({said}); this is our fault.")


def _result(future: Future) -> Result:
    try:
        return future.result()
    except BrokenProcessPool:
        return Result("error", GONE)
    except Exception as error:
        return Result("error", f"{type(error).__name__}: {error}.")


_one_at_a_time = threading.Lock()


def _grade_there(task: Task) -> Result:
    """On a cluster's worker, whatever number of threads it has: pytest runs once a process."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    with _one_at_a_time, scratch.folder() as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            result = grade_task(task)
            return grade_task(task) if result.status == "error" else result
        finally:
            tempfile.tempdir = before


class ClusterWorkers:
    """The workers of a Dask cluster, which must have this course and bubblewrap installed."""

    def __init__(self, address: str):
        try:
            from distributed import Client
        except ImportError:
            raise ClusterError(
                "--scheduler needs the package distributed: pip install '.[cluster]'."
            ) from None
        try:
            self._client = Client(address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(
                f"There is no Dask scheduler at {address} ({error}): start one with "
                "`dask scheduler`, and give the address that it prints."
            ) from None

        try:
            self._client.wait_for_workers(1, timeout=WORKER)
        except TimeoutError:
            self._client.close()
            raise ClusterError(
                f"The Dask scheduler at {address} has no workers: start some with "
                f"`dask worker {address}`."
            ) from None

    def __enter__(self) -> "ClusterWorkers":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._client.close()

    def run(self, tasks: dict[int, Task]) -> Iterator[tuple[int, Result]]:
        """Yield (key, result) for every task. A worker that dies hands its tasks to another."""
        from distributed import as_completed as completed

        # Dask itself starts a task again whose worker died; ``retries`` is for what raised.
        futures = {
            self._client.submit(_grade_there, task, pure=False, retries=TRIES - 1): key
            for key, task in tasks.items()
        }
        for future in completed(list(futures), loop=self._client.loop):
            error = future.exception()
            if error is None:
                yield futures[future], future.result()
            else:
                said = GONE if type(error).__name__ == "KilledWorker" else repr(error)
                yield futures[future], Result("error", said)
