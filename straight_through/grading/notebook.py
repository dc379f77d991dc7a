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
from straight_through.submission import Failure, SubmissionStopped

KERNEL: pytest.StashKey[WatchedKernel] = pytest.StashKey()
CELL_FILE = re.compile(r" \(\d+\.py, line \d+\)")  # a kernel's name for a cell
LINE = re.compile(r"Cell In\[[^\]\n]*\], line (\d{1,6})|File <[^>\n]*>:(\d{1,6})")
ARROW = re.compile(r"^[ \t]*-+> (\d{1,6})(?: ([^\n]*))?$", re.MULTILINE)  # in a traceback


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
                raise kernel.stop_because("crashed", "the process ended")
            super().runtest()
        except NbCellError as error:
            if mark.role != "example":
                self._note(submission, mark)
                return
            self._outcome("failed", *self._difference(error))
        except SubmissionStopped as stopped:
            if mark.role == "example":
                self._outcome("not_run", stopped.message)
        else:
            if mark.role == "example":
                self._outcome("passed")

    def compare_outputs(self, test, ref, skip_compare=None):
        """Only the result counts: a function that prints is not wrong."""
        results = [output for output in test if output["output_type"] == "execute_result"]
        return super().compare_outputs(results[:2], ref, skip_compare)

    def format_output_compare(self, key, left, right):
        pass  # nbval's comparison line by line may take hours, and nobody reads it here

    def _failure(self) -> Failure | None:
        for output in self.test_outputs or []:
            if output["output_type"] == "error":
                line, text = self._place("\n".join(output["traceback"]))
                said = CELL_FILE.sub("", output["evalue"][:600])
                return Failure(output["ename"], said, line, text)
        return None

    def _place(self, trace: str) -> tuple[int | None, str]:
        """The line that raised, by its number in its cell, and its text."""
        shown = ARROW.findall(trace)
        if shown:  # an example raises in the learner's cell; the traceback shows the line itself
            return int(shown[-1][0]), clean(shown[-1][1].strip(), 200)
        found = LINE.findall(trace)
        if not found:
            return None, ""
        line = int(next(filter(None, found[-1])))
        source = self.cell.source.split("\n")
        return line, clean(source[line - 1].strip(), 200) if 0 < line <= len(source) else ""

    def _note(self, submission: KernelSubmission, mark) -> None:
        failure = self._failure() or Failure("Error", "")
        submission.notes.append(f"{mark.label} raised {failure.sentence}")
        for name in mark.get("functions", []):
            submission.cell_failures[name] = failure

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
    """Collects a prepared notebook with the classes above instead of nbval's own."""

    def __init__(self, kernel: WatchedKernel, submission: KernelSubmission, outcomes: list):
        self.kernel, self.submission, self.outcomes = kernel, submission, outcomes

    def pytest_configure(self, config):
        config.stash[KERNEL] = self.kernel
        config.stash[GRADED] = self.submission
        config.stash[OUTCOMES] = self.outcomes

    def pytest_collect_file(self, file_path, parent):
        if file_path.suffix == ".ipynb":
            return SubmissionFile.from_parent(parent, path=file_path)
        return None
