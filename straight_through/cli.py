"""The command ``ste``. Each command imports what it needs only when it runs."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from straight_through import __version__, course


def lab_command(notebook: str, extra: list[str]) -> list[str]:
    """The command that opens a notebook of the course in JupyterLab, with this Python.

    The address is set rather than a file to open, so that --no-browser prints the same page.
    """
    if not (course.ROOT / notebook).exists():
        raise course.UsageError(f"{notebook} is not in {course.ROOT}. Download the course again.")
    command = [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={course.ROOT}",
        f"--LabApp.default_url=/lab/tree/{notebook}",
    ]
    # JupyterLab refuses to run as root unless told so; in a container there is nobody else.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return [*command, *extra]


def _open_lab(notebook: str, extra: list[str]) -> int:
    command = lab_command(notebook, extra)
    # A kernel called python3 in the home folder must not hide the one of this environment.
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    # No question about news (it needs a network), and no menus of nbgrader, which a learner does
    # not need. A plain `jupyter lab` still has both.
    _put_first("JUPYTER_CONFIG_PATH", course.PACKAGE / "lab_config")
    # JupyterLab's own terminal finds `ste`.
    _put_first("PATH", Path(sys.executable).parent)
    if os.name == "posix":
        os.execv(command[0], command)  # Ctrl-C and signals reach JupyterLab itself
    return subprocess.call(command)


def _put_first(variable: str, folder: Path) -> None:
    """Put a folder before the others of an environment variable such as PATH."""
    others = os.environ.get(variable)
    os.environ[variable] = os.pathsep.join([str(folder), others] if others else [str(folder)])


def lab(args: argparse.Namespace) -> int:
    return _open_lab("notebooks/00_start.ipynb", args.extra)


def explore(args: argparse.Namespace) -> int:
    return _open_lab("notebooks/playground.ipynb", args.extra)


def check(args: argparse.Namespace) -> int:
    from straight_through import home, progress

    exercise = _exercise(args.what)
    path = course.ROOT / "exercises" / exercise.file_name
    if not path.exists():
        raise course.UsageError(f"{path} is gone. Bring it back: ste reset {exercise.stem}")
    verdicts = home.check_notebook(path)
    print("\n\n".join(str(verdict) for verdict in verdicts))
    mine = progress.load()
    for verdict in verdicts:
        mine.record_check(exercise.stem, verdict.function, verdict.passed, verdict.misconceptions)
    mine.save()
    return 0 if verdicts and all(verdict.passed for verdict in verdicts) else 1


def hint(args: argparse.Namespace) -> int:
    from straight_through import progress

    exercise, function = _exercise(args.what), args.what
    if function not in [graded.name for graded in exercise.functions]:
        # A whole exercise was named: its first function that does not pass yet.
        results = {f.name: progress.load().check(exercise.stem, f.name) for f in exercise.functions}
        still_open = [name for name, result in results.items() if not (result and result["passed"])]
        function = (still_open or list(results))[0]
    print(progress.hint(function, args.number))
    return 0


def reset(args: argparse.Namespace) -> int:
    from straight_through import build

    path, backup = build.reset(_exercise(args.what).stem)
    print(f"{path.name} is as it was at the start.")
    if backup:
        print(f"Your work is kept in {backup.relative_to(course.ROOT)}.")
    return 0


def progress(args: argparse.Namespace) -> int:
    from straight_through import progress

    print(progress.table())
    return 0


def doctor(args: argparse.Namespace) -> int:
    from straight_through import machine

    report = machine.doctor()
    print(report)
    return 0 if report.passed else 1


def verify(args: argparse.Namespace) -> int:
    from straight_through.verify import main

    return main(args.extra)


def grade(args: argparse.Namespace) -> int:
    from straight_through.grading.main import main

    return main(args.extra)


def release(args: argparse.Namespace) -> int:
    from straight_through.grading.release import main

    return main(args.extra)


def _exercise(what: str) -> course.Exercise:
    """The exercise meant by a stem, a file name or the name of one of its functions."""
    contents = course.load()
    if any(what == f.name for exercise in contents.exercises for f in exercise.functions):
        return contents.exercise_of(what)
    return contents.exercise(Path(what).name.removesuffix(".ipynb"))


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="ste", description="Straight Through, the course.")
    top.add_argument("--version", action="version", version=f"straight-through {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(run: Callable, text: str, passes_on: bool = False) -> argparse.ArgumentParser:
        # One that passes its arguments on leaves --help to the program that gets them.
        sub = commands.add_parser(
            run.__name__, help=text, description=text, add_help=not passes_on, allow_abbrev=False
        )
        sub.set_defaults(run=run, passes_on=passes_on)
        return sub

    command(lab, "open the course in JupyterLab; options go to JupyterLab", passes_on=True)
    command(explore, "open the playground of widgets in JupyterLab", passes_on=True)
    sub = command(check, "run the visible checks on one of your exercises")
    sub.add_argument("what", metavar="NN_topic", help="the exercise, for example 04_ste")
    sub = command(hint, "give the next hint, or hint N")
    sub.add_argument("what", metavar="NN_topic|function", help="the exercise, or its function")
    sub.add_argument("number", metavar="N", nargs="?", type=int, help="1 is the first")
    sub = command(reset, "restore one exercise; your work is kept as a copy")
    sub.add_argument("what", metavar="NN_topic", help="the exercise, for example 04_ste")
    command(progress, "show which exercises are done")
    command(doctor, "say whether this machine can run the course, and what to do if not")
    command(verify, "prove the checks: stubs fail, solutions pass, mistakes are named", True)
    command(grade, "grade submissions: ste grade SUBMISSIONS --out DIR", True)
    command(release, "write what a class gets: ste release --out DIR", True)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command. 0: done; 1: something failed that the output explains; 2: bad usage."""
    top = parser()
    args, args.extra = top.parse_known_args(argv)
    if args.extra and not args.passes_on:
        top.error(f"unrecognized arguments: {' '.join(args.extra)}")
    try:
        return args.run(args)
    except course.UsageError as error:
        print(f"ste: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
