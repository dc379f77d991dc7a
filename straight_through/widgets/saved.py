"""Explorers in saved notebooks: a picture and words, nothing that needs a kernel."""

_LIVE = "application/vnd.jupyter.widget-view+json"


def still(notebook) -> None:
    """Leave the PNG and the text of each explorer in ``notebook``, an nbformat node, in place.

    A saved live view shows "model not found" when the file is opened again, and GitHub refuses
    notebooks with part of a widget's state. An output with nothing but a live view is removed.
    """
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(_LIVE, None)
            output.get("metadata", {}).pop(_LIVE, None)
        if "outputs" in cell:
            cell.outputs = [o for o in cell.outputs if o.get("data", True)]
