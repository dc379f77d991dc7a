"""``ste release``: what a class gets, without solutions, hidden checks and misconceptions.

Nothing is left out by a list of what is secret: only what is named here is copied.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from straight_through import build, course
from straight_through.checks.visible import COUNTS, hidden_at_hand, hidden_tests

FILES = (
    *("pyproject.toml", "constraints.txt", "environment.yml", "Makefile"),
    *("LICENSE", "LICENSE-CONTENT", "CITATION.cff", "docs/how-checks-work.md", "docs/glossary.md"),
)
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")

README = """\
# {title}

An interactive course in notebooks on gradients for discrete values, in JAX.

Open a terminal in this folder and type

```sh
make lab
```

This makes an environment in the folder `.venv`, installs the course into it, and opens JupyterLab
on the first lesson. You need Python 3.11 or newer, `make`, about 1.5 GB of disk, and a network for
the first time only. With conda: `conda env create -f environment.yml`,
`conda activate straight-through`, `ste lab`.

## What to do

Read and run the lessons in `notebooks/`. Each ends with a link to its exercise.

You hand in these notebooks from `exercises/`, the only folder that you edit:

{exercises}

In each you write a function and run `check(...)`: it shows what is right, and for the first thing
that is not, what was called, what came back and what was expected. `hint(...)` gives the next hint.
More checks run when your work is graded; `check` says how many. What they look at stands in the
text of the exercise.

Keep the names of files and functions as they are, and save before you hand in. Cells and outputs of
your own do no harm. Your progress is kept in `.ste/progress.json` on your machine and goes nowhere
else.

To start an exercise again, copy it from the folder that you were given.

If something is wrong with the installation, `.venv/bin/ste doctor` says what to do.
[How the checks work](docs/how-checks-work.md) has the details.
"""


def exercises(wanted: list[str] | None) -> list[course.Exercise]:
    """The exercises to give out; UsageError where a solution or its hidden checks are missing."""
    contents = course.load()
    chosen = [contents.exercise(stem) for stem in wanted] if wanted else list(contents.exercises)
    for exercise in chosen:
        if not solution(exercise).is_file() or not hidden_at_hand(exercise.stem):
            raise course.UsageError(
                f"The solution or the hidden checks of {exercise.stem} are not here. A class is "
                "given out from the complete course, not from a bundle."
            )
    return chosen


def solution(exercise: course.Exercise) -> Path:
    return course.ROOT / "solutions" / exercise.file_name


def empty(out: Path) -> Path:
    """A folder that holds nothing yet, so that nothing of an earlier run is handed out with it."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise course.UsageError(f"{out} is not empty: give a new folder with --out.")
    out.mkdir(parents=True, exist_ok=True)
    return out


def bundle(out: Path, wanted: list[str] | None = None) -> list[course.Exercise]:
    """Write the class bundle into ``out``."""
    chosen = exercises(wanted)
    empty(out)
    for name in FILES:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(course.ROOT / name, out / name)
    shutil.copytree(course.PACKAGE, out / "straight_through", ignore=LEFT_BEHIND)
    (out / "notebooks").mkdir()
    for lesson in [*(lesson.stem for lesson in course.load().lessons), "playground"]:
        shutil.copyfile(
            course.ROOT / "notebooks" / f"{lesson}.ipynb", out / "notebooks" / f"{lesson}.ipynb"
        )
    (out / "exercises").mkdir()
    for exercise in chosen:  # built anew: nobody's edits are handed out
        (out / "exercises" / exercise.file_name).write_bytes(build.built(solution(exercise)))
    counts = {
        exercise.stem: {
            f.name: len(hidden_tests(exercise.stem, f.name)) for f in exercise.functions
        }
        for exercise in chosen
    }
    (out / "straight_through" / COUNTS.name).write_text(json.dumps(counts, indent=1) + "\n")
    lines = [f"* `exercises/{e.file_name}`: {e.title}, {e.points} points" for e in chosen]
    text = README.format(title=course.load().title, exercises="\n".join(lines))
    (out / "README.md").write_text(text, encoding="utf-8")
    return chosen


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="ste release",
        description="Write what a class gets: lessons, exercises and the package, without "
        "solutions and hidden checks.",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    add("--exercise", action="append", metavar="NN_topic", help="only this one; can be repeated")
    add("--nbgrader", action="store_true", help="a course for nbgrader instead")
    add("--seed", type=int, metavar="N", help="with --nbgrader: what the inputs are drawn from")
    arguments = parser.parse_args(argv)
    if arguments.nbgrader:
        from straight_through.grading import nbgrader_course

        chosen = nbgrader_course.write(arguments.out, arguments.exercise, arguments.seed)
        print(f"Wrote {arguments.out}: one nbgrader assignment for each of the following.")
        print("It holds the solutions and the hidden checks: do not give this folder to a class.")
    else:
        chosen = bundle(arguments.out, arguments.exercise)
        print(f"Wrote {arguments.out}. Give this folder to the class; it has the exercises:")
    for exercise in chosen:
        print(f"  {exercise.stem}: {exercise.title}, {exercise.points} points")
    return 0


if __name__ == "__main__":
    sys.exit(main())
