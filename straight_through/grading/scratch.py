"""The temporary folder of a run. What a killed grader has left there, the next one removes.

A run holds a lock on its folder. The system lets go of it when the process ends, however that is:
a folder whose lock can be had belongs to nobody.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "ste-grade-"
LOCK = "lock"


@contextlib.contextmanager
def folder() -> Iterator[str]:
    """A folder for all temporary files of a run and its workers; it is gone at the end."""
    _sweep(Path(tempfile.gettempdir()))
    made = Path(tempfile.mkdtemp(prefix=PREFIX))
    # Under its own name only once it is locked: another grader may be sweeping.
    waiting = made / "not yet locked"
    with waiting.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting.rename(made / LOCK)
        try:
            yield str(made)
        finally:
            _remove(made)


def _sweep(place: Path) -> None:
    for left in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if left.lstat().st_uid == os.geteuid() and _is_nobodys(left):
                _remove(left)


def _remove(folder: Path) -> None:
    """The lock goes last: who is killed before that leaves a folder that the next run removes."""
    for path in folder.iterdir():
        if path.name == LOCK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _is_nobodys(left: Path) -> bool:
    handle = os.open(left / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
