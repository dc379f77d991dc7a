"""The command ``ste grade``."""

import argparse
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from straight_through.grading import export, gradescope, lms, manual, marks, page, report, reports
from straight_through.grading.collect import NothingFound, UsageError
from straight_through.grading.engine import LEVELS, Grades, grade
from straight_through.grading.gradebook import GradebookError
from straight_through.grading.sandbox import SandboxMissing
from straight_through.grading.sources import printable
from straight_through.grading.workers import ClusterError

OK, OURS, USAGE = 0, 1, 2
MOST = 5  # misconceptions that the terminal names
DERIVED = ("marks.csv", "moodle.csv", "canvas.csv", "gradescope")  # made on request, in --out


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ste grade",
        description="Grade one notebook or a class, and write grades and reports into --out.",
        epilog="Without SUBMISSIONS, the grades that are in --out already are written anew, for "
        "example into the files of an LMS.",
    )
    add = parser.add_argument
    add(
        "submissions",
        type=Path,
        nargs="?",
        metavar="SUBMISSIONS",
        help="a notebook, a folder <learner>/<NN_topic>.ipynb, nbgrader's submitted/, or a bulk "
        "download of Moodle or Canvas, zipped or not",
    )
    add("--out", type=Path, required=True, metavar="DIR", help="folder for grades and gradebook")
    add("--exercise", action="append", metavar="NN_topic", help="only this one; can be repeated")
    add("--roster", type=Path, metavar="FILE", help="CSV file of who should have handed in")
    add("--seed", type=int, metavar="N", help="what the inputs are drawn from")
    add("--jobs", type=int, metavar="N", help="submissions at once (default: processors)")
    add("--scheduler", metavar="ADDR", help="address of a Dask scheduler, instead of --jobs")
    add("--sandbox", choices=LEVELS, default="bubblewrap", help="none: for your own work only")
    group = parser.add_argument_group("marks for an LMS, written into --out")
    add = group.add_argument
    add("--weights", type=Path, metavar="FILE", help="TOML file: one mark out of several exercises")
    add("--moodle", type=Path, metavar="FILE", help="fill this grading worksheet of Moodle")
    add("--canvas", type=Path, metavar="FILE", help="fill this gradebook export of Canvas")
    add("--canvas-column", metavar="TEXT", help="which assignment: a part of its title, or its id")
    add("--gradescope", action="store_true", help="a results.json for each learner")
    group = parser.add_argument_group("by hand, without SUBMISSIONS; kept when you grade again")
    add = group.add_argument
    add("--override", nargs=3, metavar=("LEARNER", "NN_topic", "SCORE"), help="or SCORE auto")
    add("--comment", metavar="TEXT", help="goes with --override, and to the learner")
    add("--forget", metavar="LEARNER", help="delete what is stored about a learner")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Returns 0 if every submission got a verdict, 1 if some could not be graded for a reason of
    ours, 2 for bad usage."""
    arguments = _parser().parse_args(argv)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # for the workers, before they import JAX
    try:
        return _run(arguments)
    except (UsageError, SandboxMissing, ClusterError) as error:
        print(f"ste grade: {error}", file=sys.stderr)
        return USAGE
    except (GradebookError, OSError) as error:
        print(f"ste grade: {error}", file=sys.stderr)
        return OURS
    except KeyboardInterrupt:
        print("\nste grade: stopped; run it again to go on from here.", file=sys.stderr)
        return OURS


def _run(arguments: argparse.Namespace) -> int:
    by_hand = arguments.override or arguments.forget
    if arguments.submissions and by_hand:
        raise UsageError("--override and --forget change what is in --out: leave out SUBMISSIONS.")
    if arguments.comment is not None and not arguments.override:
        raise UsageError("--comment goes with --override LEARNER NN_topic SCORE.")
    # The files of an LMS are read first: a long run must not end with "no such file".
    scheme = marks.read(arguments.weights) if arguments.weights else None
    moodle = lms.Moodle(arguments.moodle) if arguments.moodle else None
    canvas, stems = None, arguments.exercise
    if arguments.canvas:
        weighted = list(scheme.weights) if scheme else arguments.exercise
        canvas = lms.Canvas(arguments.canvas, arguments.canvas_column, weighted)
    if arguments.submissions:
        if arguments.submissions.resolve() == arguments.out.resolve():
            raise UsageError("--out is the folder of the submissions: give another one.")
        try:
            grades = _grade(arguments)
        except NothingFound as nothing:
            if not arguments.gradescope:
                raise
            return _nothing_for_gradescope(nothing, arguments.out)
        stems = sorted({item.found.exercise for item in grades.graded})
        grades = manual.with_earlier(grades, arguments.out)
    elif arguments.forget and not (arguments.out / "grades.json").exists():
        print(manual.forget(arguments.out, arguments.forget))  # a first run that was interrupted
        return OK
    else:
        grades = _by_hand(arguments)
    export.write(grades, arguments.out)
    reports.write(grades, arguments.out)
    print(summary(grades, arguments.out))
    _hand_over(grades, arguments, scheme or marks.points(grades, stems), moodle, canvas)
    return OK if grades.complete else OURS


def _grade(arguments: argparse.Namespace) -> Grades:
    with tqdm(total=None, unit="submission", disable=None, file=sys.stderr) as bar:

        def progress(done: int, total: int, item) -> None:
            bar.total, bar.n = total, done
            bar.set_postfix_str(printable(f"{item.found.learner}: {item.result.status}")[:40])
            bar.refresh()

        return grade(
            arguments.submissions,
            arguments.out,
            exercises=arguments.exercise,
            roster=arguments.roster,
            seed=arguments.seed,
            jobs=arguments.jobs,
            isolation=arguments.sandbox,
            scheduler=arguments.scheduler,
            on_progress=progress,
        )


def _by_hand(arguments: argparse.Namespace) -> Grades:
    out = arguments.out
    if arguments.override:
        print(manual.override(out, *arguments.override, arguments.comment))
    grades = manual.reread(out)
    if arguments.forget:
        print(manual.forget(out, arguments.forget))
        grades.graded = [i for i in grades.graded if i.found.learner != arguments.forget]
        mine = f"{arguments.forget}/"
        grades.skipped = tuple(line for line in grades.skipped if not line.startswith(mine))
        for name in DERIVED:  # they can be written again
            path = out / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return grades


def _hand_over(grades: Grades, arguments, scheme, moodle, canvas) -> None:
    """Marks into the files that were asked for; what could not be filled in is said."""
    out = arguments.out
    every = marks.marks(grades, scheme) if arguments.weights or moodle or canvas else []
    if arguments.weights:
        export.write_text(out / "marks.csv", export.mark_table(every))
        print(f"Wrote {out / 'marks.csv'}.")
    for name, target in (("moodle.csv", moodle), ("canvas.csv", canvas)):
        if target is None:
            continue
        filled = target.fill(every)
        export.write_bytes(out / name, filled.content)
        print(f"Wrote {out / name}: {filled.count} marks in the column {filled.column!r}.")
        for problem in filled.problems:
            print(printable(f"  not filled in: {problem}"))
    if arguments.gradescope:
        people: dict[str, list] = {}
        for item in grades.graded:
            people.setdefault(item.found.learner, []).append(item)
        for learner, name in page.file_names(list(people)).items():
            content = gradescope.results(people[learner])
            if content is not None:
                export.write_json(out / "gradescope" / name / "results.json", content)
        print(f"Wrote {out / 'gradescope'}.")


def _nothing_for_gradescope(nothing: NothingFound, out: Path) -> int:
    """There the learner is told, and can hand in again: nobody else is looking."""
    (name,) = page.file_names([nothing.learner]).values()
    export.write_json(out / "gradescope" / name / "results.json", gradescope.nothing(nothing.told))
    print(printable(f"{nothing.told} Wrote {out / 'gradescope' / name / 'results.json'}."))
    return OK


def summary(grades: Grades, out: Path) -> str:
    """A few lines for the terminal."""
    statuses = Counter(item.result.status for item in grades.graded)
    counted = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    shared = report.ranked([export.record(item) for item in grades.graded])
    several = "s" if len(grades.graded) != 1 else ""
    lines = [f"{len(grades.graded)} submission{several}: {counted}."]
    if shared:
        most = ", ".join(f"{item.label} ({item.share})" for item in shared[:MOST])
        lines.append(f"Most frequent: {most}.")
    lines += [f"Does not count: {line}." for line in export.skipped(grades)]
    lines.append(f"Isolation: {grades.level}. Seed: {grades.seed}.")
    lines.append(f"Look at {out / 'report.html'}; the grades are in {out / 'grades.csv'}.")
    return "\n".join(lines)
