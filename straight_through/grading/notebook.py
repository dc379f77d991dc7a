"""nbval on a prepared notebook: our example cells are compared, the learner's are only run."""

import re
from collections import defaultdict

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

from straight_through.checks import Outcome
from straight_through.checks.plugin import GRADED, OUTCOMES
from straight_through.grading.kernel import KernelSubmission, WatchedKernel
from straight_through.grading.messages import clean
from straight_through.grading.prepare import below, defines
from straight_through.submission import Failure, SubmissionStopped

KERNEL: pytest.StashKey[WatchedKernel] = pytest.StashKey()
RUN: pytest.StashKey["NotebookPlugin"] = pytest.StashKey()
CELL_FILE = re.compile(r" \(\d+\.py, line \d+\)")  # a kernel's name for a cell
# What a frame of a traceback begins with: in a cell, or elsewhere.
HEADING = re.compile(
    r"^[ \t]*(?:(?:(?:Cell|Input) In ?\[[^\]\n]*\], line |File [^\n]*ipykernel_\d+[/\\]\d+\.py:)"
    r"(?P<cell>\d{1,6})|File )[^\n]*$",
    re.MULTILINE,
)
ARROW = re.compile(r"^[ \t]*-+> \d{1,6}(?: ([^\n]*))?$", re.MULTILINE)  # the line that raised


class SubmissionFile(IPyNbFile):
    """A prepared notebook, run in the kernel that the grader holds."""

    def setup(self):
        self.kernel = self.config.stash[KERNEL]

    def teardown(self):
        pass  # the hidden checks ask the same kernel; the grader ends it

    def collect(self):
        self.nb = nbformat.read(str(self.path), as_version=4)
        for number, cell in enumerate(self.nb.cells):
            options = defaultdict(bool, check=cell.metadata.ste.role == "example")
            yield SubmissionCell.from_parent(
                self, name=f"Cell {number}", cell_num=number, cell=cell, options=options
            )


class SubmissionCell(IPyNbCell):
    """One cell. A learner's cell that raises is noted; one of our examples is a check."""

    def runtest(self):
        mark = self.cell.metadata.ste
        kernel, submission = self.parent.kernel, self.config.stash[GRADED]
        kernel.doing = f"running {mark.label}"
        try:
            if not kernel.is_alive():
                raise kernel.ended()
            if mark.role != "example":
                self._run_learners(submission, mark)
                return
            self._run_cell()
        except NbCellError as error:
            self._outcome("failed", *self._difference(error))
        except SubmissionStopped as stopped:
            if mark.role == "example":
                self._outcome("not_run", stopped.message)
            self.config.stash[RUN].stopped_in.append(mark)
        else:
            self._outcome("passed")

    def _run_cell(self) -> None:
        try:
            super().runtest()
        except RuntimeError:  # nbval's word for a kernel that ended just now
            raise self.parent.kernel.ended() from None

    def _run_learners(self, submission: KernelSubmission, mark) -> None:
        """Run a learner's cell. A statement that raises above the definition of a graded function,
        or of what one needs, is skipped: the function is graded for what it does, and raises
        itself if it misses it."""
        functions = mark.get("functions", [])
        names = functions or mark.get("helps", [])
        while True:
            try:
                return self._run_cell()
            except NbCellError:
                failure, line = self._failure() or Failure("Error", ""), self._top_line()
            submission.notes.append(f"{mark.label} raised {failure.sentence}")
            rest = below(self.cell.source, line, names)
            if rest is None:
                submission.cell_failures.update(dict.fromkeys(functions, failure))
                return
            text = clean(self.cell.source.split("\n")[line - 1].strip(), 80)
            lost = [name for name in names if defines(rest, name)][:3]
            self.config.stash[RUN].repairs.append(
                f"skipped line {line} of {mark.label}, `{text}`, which raised {failure.type}: "
                f"{' and '.join(lost)} {'are' if lost[1:] else 'is'} defined below it"
            )
            self.cell.source = rest

    def compare_outputs(self, test, ref, skip_compare=None):
        """Only the result counts: a function that prints is not wrong."""
        results = [output for output in test if output["output_type"] == "execute_result"]
        return super().compare_outputs(results[:2], ref, skip_compare)

    def format_output_compare(self, key, left, right):
        pass  # nbval's comparison line by line may take hours, and nobody reads it here

    def _error(self) -> dict | None:
        """What the cell raised, as the kernel told it."""
        every = self.test_outputs or []
        return next((one for one in every if one["output_type"] == "error"), None)

    def _failure(self) -> Failure | None:
        error = self._error()
        if error is None:
            return None
        line, text = self._place("\n".join(error["traceback"]))
        return Failure(error["ename"], CELL_FILE.sub("", error["evalue"][:600]), line, text)

    def _place(self, trace: str) -> tuple[int | None, str]:
        """The learner's line that raised, by its number in its cell, and its text.

        It is in the last frame that is of a cell: what a library did below it is not theirs.
        """
        headings = list(HEADING.finditer(trace))
        own = [one for one in headings if one["cell"]]
        if self.cell.metadata.ste.role == "example":
            own = own[1:]  # the first is the example, which is ours
        if not own:
            return None, ""
        line = int(own[-1]["cell"])
        end = next((one.start() for one in headings if one.start() > own[-1].start()), len(trace))
        shown = ARROW.search(trace, own[-1].end(), end)
        if shown:  # an example raises in the learner's cell: the traceback shows the line itself
            return line, clean((shown[1] or "").strip(), 200)
        source = self.cell.source.split("\n")
        return line, clean(source[line - 1].strip(), 200) if 0 < line <= len(source) else ""

    def _top_line(self) -> int:
        """The line of the cell's own statement that raised, whatever it called; 0 if unknown."""
        error = self._error()
        headings = HEADING.finditer("\n".join(error["traceback"]) if error else "")
        return next((int(one["cell"]) for one in headings if one["cell"]), 0)

    def _difference(self, error: NbCellError) -> tuple[str, str, str]:
        """Message, result and expected result of an example that is not right."""
        failure = self._failure()
        expected = _result(self.cell.outputs)
        if failure is not None:
            return f"The example raised {failure.sentence}", "", expected
        return "The example gives another result.", _result(self.test_outputs or []), expected

    def _outcome(self, outcome: str, message: str = "", returned: str = "", expected: str = ""):
        mark = self.cell.metadata.ste
        self.config.stash[OUTCOMES].append(
            Outcome(
                id=mark.id,
                title=mark.get("title", "The worked example"),
                outcome=outcome,
                points=mark.get("points", 0),
                message=message,
                called=self.cell.source.strip().split("\n")[-1] if outcome == "failed" else "",
                returned=returned[:300],
                expected=expected[:300],
            )
        )


def _result(outputs) -> str:
    for output in outputs:
        if output["output_type"] == "execute_result":
            return str(output["data"].get("text/plain", ""))
    return "no result"


class NotebookPlugin:
    """Collects a prepared notebook with the classes above instead of nbval's own.

    Afterwards ``repairs`` tells what was skipped, and ``stopped_in`` the marks of the cells that
    could not end; the first of them is the one that the run was stopped in.
    """

    def __init__(self, kernel: WatchedKernel, submission: KernelSubmission, outcomes: list):
        self.kernel, self.submission, self.outcomes = kernel, submission, outcomes
        self.repairs: list[str] = []
        self.stopped_in: list = []

    def pytest_configure(self, config):
        config.stash[KERNEL] = self.kernel
        config.stash[GRADED] = self.submission
        config.stash[OUTCOMES] = self.outcomes
        config.stash[RUN] = self

    def pytest_collect_file(self, file_path, parent):
        if file_path.suffix == ".ipynb":
            return SubmissionFile.from_parent(parent, path=file_path)
        return None
