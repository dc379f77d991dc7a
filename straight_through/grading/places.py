"""What of the host a sandbox shows: the system's programs and the interpreter, never the course."""

import os
import site
import sys
import sysconfig
from pathlib import Path

from straight_through import course

SYSTEM = "bin sbin lib lib32 lib64 libexec share local/bin local/lib local/lib64 local/share"


def system() -> list[str]:
    """What programs need of the system: no homes, no data, no /etc but a few public files."""
    tops = [f"/{name}" for name in SYSTEM.split() if "/" not in name]
    return tops + [f"/usr/{name}" for name in SYSTEM.split()]


def interpreter() -> list[str]:
    """The files without which this interpreter does not run, outermost only."""
    paths = sysconfig.get_paths()
    places = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    places |= {os.path.dirname(sys.executable), os.path.dirname(os.path.realpath(sys.executable))}
    # Never a whole prefix: an environment may have been made in the folder of the course itself.
    for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
        places |= {f"{prefix}/{name}" for name in ("bin", "lib", "lib64", "pyvenv.cfg")}
    outermost: list[str] = []
    for place in sorted(places | {os.path.realpath(place) for place in places}, key=len):
        if os.path.exists(place) and not _within(place, [*outermost, *system()]):
            outermost.append(place)
    return outermost


def _within(place: str, folders) -> bool:
    return any(place == folder or place.startswith(f"{folder}/") for folder in folders)


def hidden(shown: list[str]) -> list[str]:
    """Where the checks and the answers would be seen among the places that are shown.

    A place may be reached in several ways (lib64 is a link to lib): each of them is hidden.
    """
    secret = {course.PACKAGE, course.ROOT / "tests" / "hidden", course.ROOT / "solutions"}
    secret |= {Path(folder) / "straight_through" for folder in site.getsitepackages()}
    found = set()
    for path in {os.path.realpath(path) for path in secret if path.is_dir()}:
        for place in shown:
            if _within(path, [os.path.realpath(place)]):
                found.add(place + path.removeprefix(os.path.realpath(place)))
    return sorted(found)
