"""From a learner's file to the notebook that is run: repaired, every repair recorded.

The prepared notebook has our setup first, then the learner's cells in their order without outputs
and without nbval markers, then our example cells with our reference outputs. The learner's own
cells earn nothing and cost nothing.
"""

import ast
import functools
import re
import textwrap
import warnings
from collections import defaultdict
from dataclasses import dataclass, field

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from straight_through import course
from straight_through.checks.solutions import SOLUTIONS, role
from straight_through.grading.cells import Cell, parse
from straight_through.grading.magics import RUNS_PYTHON, as_python, without_useless
from straight_through.submission import stub_names

MARKER = re.compile(r"^\s*#+\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.MULTILINE)
# IPython cuts off leading blank lines, and counts the others from there.
BLANK = re.compile(r"\A[ \t]*\n(?=(?:[ \t]*\n)*([ \t]*)(?!%%)\S)")
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


# A result is compared as it is shown: as IPython does by itself, not as the learner set it up.
SHOWN_PLAINLY = """import IPython.core.formatters
IPython.get_ipython().display_formatter = IPython.core.formatters.DisplayFormatter()"""


@dataclass
class Prepared:
    """A notebook ready to run. Its code cells are labelled as the learner would name them."""

    notebook: nbformat.NotebookNode
    stubs: set[str]
    repairs: list[str] = field(default_factory=list)
    undefined: set[str] = field(default_factory=set)
    mistaken: str = ""  # which other notebook of the course was handed in, as a sentence


# ---- what a cell defines


def python(source: str) -> str:
    """What of a cell's source is Python, line by line; "" for a cell in another language."""
    if found := RUNS_PYTHON.match(source):
        source = "\n" * found[0].count("\n") + source[found.end() :]
    if source.lstrip().startswith("%%"):
        return ""
    source = textwrap.dedent(source)  # as IPython does
    return source if _tree(source) else as_python(source)


def _tree(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a learner's "\d" is no business of ours
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def defines(source: str, name: str) -> bool:
    """True if the cell defines ``name`` at its top level, or would if it had no syntax error."""
    if name not in source:
        return False
    source = python(source)
    tree = _tree(source)
    if tree is None:
        return re.search(rf"^(def\s+{name}\b|{name}\s*=)", source, re.MULTILINE) is not None
    return name in _bound(tree.body)


def _bound(statements: list[ast.stmt]) -> set[str]:
    """The names that statements define at their top level."""
    names, waiting = set(), list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            names.add(getattr(node, "name", ""))
            continue  # what is defined inside of it is not defined at the top
        if isinstance(node, ast.alias):
            names.add(node.asname or node.name.split(".")[0])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting.extend(ast.iter_child_nodes(node))
    return names - {""}


def _needed(statements: list[ast.stmt], names: list[str]) -> set[str]:
    """What the definitions of ``names`` read, directly or by way of other definitions."""
    where, needed, waiting = defaultdict(list), set(), list(names)
    for statement in statements:
        for name in _bound([statement]):
            where[name].append(statement)
    while waiting:
        for statement in where.pop(waiting.pop(), ()):
            read = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
            waiting += read - needed
            needed |= read
    return needed


def below(source: str, line: int, names: list[str]) -> str | None:
    """What stands below the statement at ``line``, if one of ``names`` is defined only there.

    Lines keep their numbers. None if nothing is to be had below it: then the cell ends there.
    """
    tree = _tree(python(source))
    statements = tree.body if tree else []
    done = [node for node in statements if _first_line(node) <= line]
    rest = statements[len(done) :]
    if not done or not (_bound(rest) - _bound(done)).intersection(names):
        return None
    above = _first_line(rest[0]) - 1
    lines = textwrap.dedent(source).split("\n")
    return "\n".join(["#"] * above + lines[above:])


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", []))])


def _is_stub(source: str, name: str) -> bool:
    return name in stub_names(python(source))


def _without_stub(source: str, name: str) -> str:
    """The source with the lines of the untouched stub left blank: all others keep their number."""
    lines = source.split("\n")
    tree = _tree(python(source))
    for node in tree.body if tree else []:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = _first_line(node)
            lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines)


# ---- which cells answer


def _marked(cells: list[Cell], name: str, repairs: list[str]) -> list[Cell]:
    """The cells that carry the function's grade_id; if none does, its cell id."""
    found = [cell for cell in cells if cell.grade_id == name]
    if not found and (found := [cell for cell in cells if cell.id == name]):
        repairs.append(f"found {name} by its cell's id: its nbgrader mark is lost")
    return found


def _answers(cells: list[Cell], name: str, repairs: list[str]) -> list[Cell]:
    """The cells that answer one function: by grade_id, then cell id, then the def they contain."""
    marked = _marked(cells, name, repairs)
    code = [cell for cell in cells if cell.cell_type == "code"]
    defining = [cell for cell in code if defines(cell.source, name)]
    written = [cell for cell in defining if not _is_stub(cell.source, name)]
    if not written:  # the answer may stand in a cell that is no code cell any more
        others = [cell for cell in cells if cell.cell_type != "code"]
        lost = [cell for cell in others if cell in marked and defines(_unfenced(cell), name)]
        for cell in lost or [cell for cell in others if _holds_answer(cell, name)]:
            cell.source, cell.cell_type = _unfenced(cell), "code"
            defining.append(cell)
            repairs.append(f"turned the answer cell of {name} back into a code cell")
    if defining and not any(cell is one for cell in defining for one in marked):
        repairs.append(f"found {name} by its definition: its cell has lost its mark")
    return [
        cell
        for cell in cells
        if cell.cell_type == "code" and any(cell is one for one in [*marked, *defining])
    ]


def _unfenced(cell: Cell) -> str:
    """The source of a cell without the fence that marks code in Markdown."""
    found = FENCE.search(cell.source)
    return found[1] if found else cell.source


def _holds_answer(cell: Cell, name: str) -> bool:
    source = _unfenced(cell)
    return defines(source, name) and not _is_stub(source, name)


def _settle(answers: list[Cell], name: str, repairs: list[str]) -> tuple[bool, bool]:
    """Whether the function is still a stub, and whether it is defined anywhere at all."""
    defining = [cell for cell in answers if defines(cell.source, name)]
    stubs = [cell for cell in defining if _is_stub(cell.source, name)]
    written = [cell for cell in defining if not _is_stub(cell.source, name)]
    if written and stubs:
        for cell in stubs:  # an untouched stub yields to an answer given elsewhere
            cell.source = _without_stub(cell.source, name)
        repairs.append(f"left out an untouched stub of {name}: another cell defines it")
    if len(written) > 1:
        repairs.append(f"{name} is defined in {len(written)} cells: the last one counts")
    return bool(stubs) and not written, bool(defining)


# ---- another notebook of the course


def _mistaken(cells: list[Cell], exercise: course.Exercise) -> str:
    """What a notebook without any graded function is instead; "" if it is none of ours."""
    wanted = f"hand in exercises/{exercise.stem}.ipynb"
    for other in course.load().exercises:
        names = {function.name for function in other.functions}
        if other.stem != exercise.stem and any(_is_for(cell, names) for cell in cells):
            return f"This is another exercise, exercises/{other.stem}.ipynb: {wanted}."
    written = {cell.source.strip() for cell in cells}
    for path in sorted((course.ROOT / "notebooks").glob("*.ipynb")):
        lesson = {cell.source.strip() for cell in nbformat.read(path, as_version=4).cells}
        if 2 * len(lesson & written) > len(lesson):
            return f"This is a lesson, notebooks/{path.name}, and not its exercise: {wanted}."
    return ""


def _is_for(cell: Cell, names: set[str]) -> bool:
    return cell.grade_id in names or cell.id in names


# ---- what is run


def _clean(cell: Cell, number: int, repairs: list[str]) -> None:
    """Strip what would change how the grader runs or compares a cell."""
    if MARKER.search(cell.source):
        cell.source = MARKER.sub("", cell.source)
        repairs.append(f"removed an nbval marker from cell {number}")
    cell.source = BLANK.sub(r"\1#\n", cell.source)
    left_out = []
    if found := RUNS_PYTHON.match(cell.source):  # what it runs is all that counts
        cell.source = "#" + "\n" * found[0].count("\n") + cell.source[found.end() :]
        left_out.append(f"%%{found[1]}")
    # Another language is not ours to read, and what looks like a magic may be part of a text.
    if not (cell.source.lstrip().startswith("%%") or _tree(textwrap.dedent(cell.source))):
        cell.source, more = without_useless(cell.source)
        left_out += more
    for name in left_out:
        repairs.append(f"left out {name} in cell {number}: it has no use in grading")


@functools.cache
def our_cells(stem: str) -> tuple[str, tuple]:
    """Our setup source and our example cells, from the solution notebook."""
    setup, examples = [], []
    for cell in nbformat.read(SOLUTIONS / f"{stem}.ipynb", as_version=4).cells:
        grade_id, _ = role(cell) if cell.cell_type == "code" else ("", False)
        if grade_id.startswith("setup"):
            setup.append(cell.source)
        elif grade_id.startswith("example"):
            examples.append(cell)
    return "\n".join(setup), tuple(examples)


def prepare(raw: bytes, exercise: course.Exercise) -> Prepared:
    """The notebook to run for a learner's file; Unreadable if the file is no notebook."""
    repairs: list[str] = []
    cells = parse(raw, repairs)
    stubs, undefined, answers = set(), set(), {}
    for function in exercise.functions:
        answers[function.name] = _answers(cells, function.name, repairs)
        stub, defined = _settle(answers[function.name], function.name, repairs)
        stubs |= {function.name} if stub else set()
        undefined |= set() if defined else {function.name}
    setup, examples = our_cells(exercise.stem)
    run = [new_code_cell(setup, metadata={"ste": {"role": "setup", "label": "our setup"}})]
    code = {number: cell for number, cell in enumerate(cells, 1) if cell.cell_type == "code"}
    for number, cell in code.items():
        _clean(cell, number, repairs)
    helpers = _helpers(setup, list(code.values()), list(answers))
    for (number, cell), helps in zip(code.items(), helpers, strict=True):
        answered = [name for name, found in answers.items() if any(cell is c for c in found)]
        mark = {"role": "learner", "label": f"cell {number}", "functions": answered}
        run.append(new_code_cell(cell.source, metadata={"ste": {**mark, "helps": helps}}))
    for example in examples:
        run.append(_example(example, setup))
    prepared = new_notebook(cells=run)
    nothing = undefined == set(answers)
    mistaken = _mistaken(cells, exercise) if nothing else ""
    return Prepared(prepared, stubs, repairs, undefined, mistaken)


def _helpers(setup: str, cells: list[Cell], functions: list[str]) -> list[list[str]]:
    """For each cell the names that answers need and that no cell before it defines."""
    trees = [_tree(python(source)) for source in [setup, *(cell.source for cell in cells)]]
    ours, *bodies = [tree.body if tree else [] for tree in trees]
    needed = _needed([statement for body in bodies for statement in body], functions)
    known, helpers = _bound(ours) | set(functions), []
    for body in bodies:
        names = _bound(body)
        helpers.append(sorted((names & needed) - known))
        known |= names
    return helpers


def _example(cell, setup: str) -> nbformat.NotebookNode:
    """Our example with our result. Its imports come first: the learner may have reused a name."""
    mark = {
        "role": "example",
        "id": role(cell)[0],
        "label": "our example",
        **cell.metadata.get("ste", {}),
    }
    source = f"{setup}\n{SHOWN_PLAINLY}\n{cell.source}"
    results = [output for output in cell.outputs if output.output_type == "execute_result"]
    return new_code_cell(source, metadata={"ste": mark}, outputs=results, execution_count=1)
