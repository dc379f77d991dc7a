"""What a submission costs: ``ste grade`` beside nbgrader and otter, on the same notebooks.

All grade the cases of tests/cases with equivalent tests, in the same run. The peers run without a
sandbox and one submission after the other, as they do; ours with full isolation and two jobs. Wall
and CPU seconds and memory are those of all processes that were started.

otter needs an environment of its own: give its interpreter with --otter.
"""

import argparse
import resource
import shutil
import tempfile
import threading
import time
from pathlib import Path

import psutil
from graders import EXPECTED, Nbgrader, Otter, Ours


def cpu() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(item.ru_utime + item.ru_stime for item in usage)


class Peak:
    """The largest memory that all processes below this one had together, in MB."""

    def __enter__(self):
        self.mb, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._over.wait(0.2):
            used = 0
            for process in psutil.Process().children(recursive=True):
                try:
                    used += process.memory_info().rss
                except psutil.Error:
                    pass
            self.mb = max(self.mb, used / 2**20)

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def names_of(count: int) -> list[str]:
    every = sorted(EXPECTED)
    return [f"{every[i % len(every)]}.{i // len(every)}" for i in range(count)]


def measure(grader, count: int) -> tuple[float, float, float]:
    """Wall seconds and CPU seconds a submission, and peak memory in MB."""
    begin, used = time.perf_counter(), cpu()
    with Peak() as peak:
        grader.run()
    wall, used = time.perf_counter() - begin, cpu() - used + grader.unseen_cpu()
    return wall / count, used / count, peak.mb


def show(grader, count: int, figures) -> None:
    wall, used, mb = figures
    right = f"{grader.right()}/{count}"
    print(f"{grader.title:22}{count:6}{wall:14.2f}{used:13.2f}{mb:10.0f}{right:>9}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=len(EXPECTED), help="submissions")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--otter", help="interpreter of an environment with otter-grader and jax")
    parser.add_argument("--growth", type=int, nargs="*", default=[], help="ours at these counts")
    arguments = parser.parse_args()
    count, names = arguments.count, names_of(arguments.count)
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    print(f"{'':22}{'count':>6}{'wall s each':>14}{'CPU s each':>13}{'peak MB':>10}{'right':>9}")
    try:
        graders = [Ours(folder, names, arguments.jobs), Nbgrader(folder, names)]
        if arguments.otter:
            graders.append(Otter(folder, names, arguments.otter))
        walls = []
        for grader in graders:
            figures = measure(grader, count)
            walls.append(figures[0])
            show(grader, count, figures)
        for grader, wall in list(zip(graders, walls, strict=True))[1:]:
            print(f"throughput: {wall / walls[0]:.2f} times that of {grader.title}")
        if not arguments.otter:
            print("otter was not measured: give --otter PYTHON")
        for size in arguments.growth:
            grader = Ours(folder / f"growth-{size}", names_of(size), arguments.jobs)
            show(grader, size, measure(grader, size))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
