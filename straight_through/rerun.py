"""Runs notebooks and saves their outputs: ``make notebooks``, after a lesson or a figure changed.

Usage: python -m straight_through.rerun [NOTEBOOK ...]; without arguments all of notebooks/ and
solutions/.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from straight_through.course import ROOT
from straight_through.widgets.saved import still


def rerun(path: Path) -> None:
    """Execute the notebook at ``path`` in a fresh kernel and save it. Errors stop it unsaved."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    still(notebook)
    # The version of whoever ran it says nothing about the lesson.
    notebook.metadata["language_info"] = {"name": "python"}
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def main(argv: list[str]) -> None:
    paths = [Path(name).resolve() for name in argv]
    paths = paths or [
        p for f in ("notebooks", "solutions") for p in sorted((ROOT / f).glob("*.ipynb"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STE_PROGRESS"] = f"{folder}/progress.json"
        for path in paths:
            rerun(path)
            print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


if __name__ == "__main__":
    main(sys.argv[1:])
