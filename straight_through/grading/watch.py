"""How much a submission uses: processes, memory, time, files.

Two ways to find out. In the sandbox its own /proc lists everything that runs there, however it
was started, and is read through the root of the namespace's first process. Without a sandbox only
the family tree of the kernel is known.
"""

import os
from contextlib import suppress
from dataclasses import dataclass

import psutil

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
MOST_FILES = 20_000  # each takes memory of the host, even an empty one


@dataclass
class Usage:
    """What is in use now; ``cpu_seconds`` of what still runs, ``memory`` and ``disk`` in bytes."""

    processes: int = 0
    threads: int = 0
    memory: int = 0
    disk: int = 0
    files: int = 0
    cpu_seconds: float = 0.0


class NamespaceMeter:
    """Measures a sandbox from outside. ``init`` is the host's id of its first process.

    Of more than ``most`` processes only the number is read: while they multiply, no time is to be
    lost.
    """

    def __init__(self, init: int, filesystems: tuple[str, ...], most: int):
        self.root, self._most = f"/proc/{init}/root", most
        self._filesystems = [self.root + place for place in filesystems]

    def read(self) -> Usage:
        """Raises OSError when the sandbox is gone."""
        usage = Usage()
        names = [name for name in os.listdir(f"{self.root}/proc") if name.isdigit()]
        usage.processes = usage.threads = len(names)
        if len(names) > self._most:
            return usage
        for name in names:
            with suppress(OSError, ValueError, IndexError):
                self._add(usage, f"{self.root}/proc/{name}/stat")
        for place in self._filesystems:
            status = os.statvfs(place)
            usage.disk += (status.f_blocks - status.f_bfree) * status.f_frsize
            usage.files += status.f_files - status.f_ffree
        usage.memory += usage.disk  # these filesystems live in memory
        return usage

    @staticmethod
    def _add(usage: Usage, path: str) -> None:
        with open(path, "rb") as file:
            text = file.read()
        fields = text[text.rindex(b")") + 2 :].split()  # from field 3 of proc(5) on
        usage.cpu_seconds += sum(map(int, fields[11:15])) / TICKS
        usage.threads += int(fields[17]) - 1
        usage.memory += int(fields[21]) * PAGE


class TreeMeter:
    """Measures a process with its descendants, and the folder that they may write to."""

    def __init__(self, process: psutil.Process, folder: str):
        self._process, self._folder = process, folder

    def read(self) -> Usage:
        """Raises psutil.Error when the process is gone."""
        usage = Usage()
        for process in family(self._process):
            usage.processes += 1
            with suppress(psutil.Error), process.oneshot():
                times = process.cpu_times()
                usage.cpu_seconds += sum(times[:4])
                usage.threads += process.num_threads()
                usage.memory += process.memory_info().rss
        self._folders(usage)
        return usage

    def _folders(self, usage: Usage) -> None:
        waiting = [self._folder]
        while waiting and usage.files <= MOST_FILES:
            with suppress(OSError), os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    usage.files += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    usage.disk += entry.stat(follow_symlinks=False).st_size


def family(process: psutil.Process) -> list[psutil.Process]:
    """The process and its descendants; raises psutil.Error when it is gone."""
    return [process, *process.children(recursive=True)]


def oom_kills() -> int:
    """How many processes of this machine were ended for want of memory, since it was started."""
    with suppress(OSError), open("/proc/vmstat") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("oom_kill "))
    return 0


def own_memory() -> int:
    """Resident bytes of this process, which holds the messages that a submission sends."""
    return psutil.Process().memory_info().rss


def leftovers(folder: str) -> list[psutil.Process]:
    """Processes that left the family tree but still carry the submission's environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.environ().get("HOME") == folder:
                found.append(process)
    return found
