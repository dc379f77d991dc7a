"""The command ``ste grade``."""

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from straight_through.grading import export
from straight_through.grading.collect import UsageError
from straight_through.grading.engine import LEVELS, Grades, grade
from straight_through.grading.gradebook import GradebookError
from straight_through.grading.sandbox import SandboxMissing

OK, OURS, USAGE = 0, 1, 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ste grade", description="Grade one notebook or a folder of learners' notebooks."
    )
    parser.add_argument("submissions", type=Path, help="a notebook, or <learner>/<NN_topic>.ipynb")
    parser.add_argument("--out", type=Path, required=True, help="folder for grades and gradebook")
    parser.add_argument("--exercise", action="append", help="only this one, as NN_topic")
    parser.add_argument("--roster", type=Path, help="CSV file of who should have handed in")
    parser.add_argument("--seed", type=int, help="what the inputs are drawn from")
    parser.add_argument("--jobs", type=int, help="submissions at once (default: processors)")
    parser.add_argument("--sandbox", choices=LEVELS, default="bubblewrap")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Returns 0 if every submission got a verdict, 1 if some could not be graded for a reason of
    ours, 2 for bad usage."""
    arguments = _parser().parse_args(argv)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # for the workers, before they import JAX
    bar = tqdm(total=None, unit="submission", disable=None, file=sys.stderr)

    def progress(done: int, total: int, item) -> None:
        bar.total, bar.n = total, done
        bar.set_postfix_str(f"{item.found.learner}: {item.result.status}"[:40])
        bar.refresh()

    try:
        grades = grade(
            arguments.submissions,
            arguments.out,
            exercises=arguments.exercise,
            roster=arguments.roster,
            seed=arguments.seed,
            jobs=arguments.jobs,
            isolation=arguments.sandbox,
            on_progress=progress,
        )
        export.write(grades, arguments.out)
    except (UsageError, SandboxMissing) as error:
        bar.close()
        print(f"ste grade: {error}", file=sys.stderr)
        return USAGE
    except (GradebookError, OSError) as error:
        bar.close()
        print(f"ste grade: {error}", file=sys.stderr)
        return OURS
    except KeyboardInterrupt:
        bar.close()
        print("\nste grade: stopped; run it again to go on from here.", file=sys.stderr)
        return OURS
    bar.close()
    print(summary(grades, arguments.out))
    return OK if grades.complete else OURS


def summary(grades: Grades, out: Path) -> str:
    """A few lines for the terminal."""
    statuses = Counter(item.result.status for item in grades.graded)
    counted = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    labels = Counter(label for item in grades.graded for label in item.result.misconceptions[:1])
    lines = [f"{len(grades.graded)} submissions: {counted}."]
    if labels:
        most = ", ".join(f"{label} ({count})" for label, count in labels.most_common(5))
        lines.append(f"Most frequent: {most}.")
    lines.append(f"Isolation: {grades.isolation}. Seed: {grades.seed}. Written to {out}.")
    return "\n".join(lines)
