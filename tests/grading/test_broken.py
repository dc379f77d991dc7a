"""Whatever became of a notebook on its way, a right answer in it is found, and repairs are told."""

import copy
import json
import textwrap

import nbformat
import pytest
from classroom import RIGHT as GRADED_RIGHT
from classroom import by_learner, cell, hand_in, notebook

from straight_through import course
from straight_through.grading import cells, grade
from straight_through.grading.cells import Unreadable
from straight_through.grading.prepare import below, prepare
from straight_through.grading.sandbox import Limits

EXERCISE = course.load().exercise("04_ste")
RIGHT = "def ste_quantize(x):\n    return float((x > 0) - (x < 0))\n"  # plain Python, run here
STUB = "def ste_quantize(x):\n    raise NotImplementedError"
WRONG = "def ste_quantize(x):\n    return x\n"


def as_dict(answer: str = RIGHT) -> dict:
    return json.loads(nbformat.writes(notebook(answer)))


def prepared(content):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return prepare(raw, EXERCISE)


def answer_cell(content: dict) -> dict:
    return next(one for one in content["cells"] if one.get("id") == "ste_quantize")


def code(*sources: str) -> dict:
    """A notebook with nothing but these code cells."""
    made = as_dict()
    made["cells"] = [nbformat.v4.new_code_cell(source) for source in sources]
    return made


def in_effect(result) -> dict:
    """What the learner's cells define when they are run, with NotImplementedError for a stub."""
    names: dict = {}
    for one in result.notebook.cells:
        if one.metadata.ste.role == "learner":
            try:
                exec(one.source, names)
            except Exception:
                continue
    return names


def gives(result, value) -> bool:
    return in_effect(result)["ste_quantize"](value) == value


# ---- the file


ENCODINGS = {
    "utf-8": (lambda text: text.encode(), None),
    "byte order mark": (lambda text: b"\xef\xbb\xbf" + text.encode(), "byte order mark"),
    "cp1252": (lambda text: text.encode("cp1252"), "Windows-1252"),
    "utf-16": (lambda text: text.encode("utf-16"), "UTF-16"),
    "Windows line ends in the file": (lambda text: text.replace("\n", "\r\n").encode(), None),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_file_in_any_encoding_is_read(encoding):
    encode, repair = ENCODINGS[encoding]
    content = as_dict(WRONG + "# caf\u00e9\n")
    result = prepared(encode(json.dumps(content, ensure_ascii=False, indent=1)))
    assert any("caf\u00e9" in one.source for one in result.notebook.cells)
    assert (repair is None and not result.repairs) or any(repair in r for r in result.repairs)


NO_NOTEBOOKS = {
    "nothing": (b"", "empty"),
    "blanks": (b" \n\t\n", "empty"),
    "a mark and nothing": (b"\xef\xbb\xbf", "empty"),
    "a web page": (b"<!DOCTYPE html><html>Sign in</html>", "web page"),
    "a Git LFS pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "git lfs pull",
    ),
    "a conflict": (b'{"cells": [\n<<<<<<< HEAD\n', "merge conflict"),
    "a zip file": (b"PK\x03\x04\x00\x00\x00\x00", "zip"),
    "a program": (b"import jax\n", "begins with 'import jax'"),
    "half a notebook": (b'{"cells": [', "cut off"),
    "a list": (b"[]", "JSON"),
    "a number": (b"1", "JSON"),
    "deep nesting": (b"[" * 100_000, "begins with"),
    "deep nesting, closed": (b'{"cells":' * 100_000 + b"1" + b"}" * 100_000, "begins with"),
    "no cells": (b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "no cells"),
    "cells of another kind": (b'{"cells": {"a": 1}, "nbformat": 4, "nbformat_minor": 5}', "cells"),
    "format 2": (b'{"worksheets": [], "nbformat": 2}', "format 3 or 4"),
    "a format that is text": (b'{"cells": [], "nbformat": "four"}', "'four'"),
    "a broken format 3": (b'{"worksheets": 5, "nbformat": 3, "nbformat_minor": 0}', "format 3"),
    "noise": (bytes(range(256)) * 40, "begins with"),
}


@pytest.mark.parametrize("name", NO_NOTEBOOKS)
def test_what_is_no_notebook_is_named_in_one_plain_line(name):
    raw, part = NO_NOTEBOOKS[name]
    with pytest.raises(Unreadable) as caught:
        prepared(raw)
    said = str(caught.value)
    assert part in said and said.endswith(".") and said.isprintable() and len(said) < 250


def test_too_many_cells_or_too_much_code_are_not_read():
    many = code(*["1"] * 2000)
    with pytest.raises(Unreadable, match="2000 cells"):
        prepared(many)
    with pytest.raises(Unreadable, match="characters of code"):
        prepared(code(RIGHT, "a\n" * 300_000))


def test_what_follows_a_whole_notebook_is_left_out_and_told():
    once = json.dumps(as_dict()).encode()
    for raw in (once + b"\0" * 4096, once + once, once + b"\n]}"):
        result = prepared(raw)
        assert gives(result, 1.0)
        assert any("follow the end" in repair for repair in result.repairs)
    assert prepared(once + b"\n\n").repairs == []


def _with_output(text: str) -> bytes:
    content = as_dict()
    content["cells"][0]["source"] = 'the words "outputs": [ in a text \\" and \\'
    output = {"output_type": "stream", "name": "stdout", "text": [text, '"}]\\"', "["]}
    answer_cell(content)["outputs"] = [output, output]
    return json.dumps(content).encode()


def test_a_giant_loses_its_outputs_and_is_read(tmp_path):
    path = tmp_path / "giant.ipynb"
    path.write_bytes(_with_output("x" * (cells.MAX_BYTES // 2)))
    raw = cells.read_bytes(path)
    assert len(raw) < 10_000
    result = prepared(raw)
    assert gives(result, 1.0)
    assert any("outputs" in repair and "50 MB" in repair for repair in result.repairs)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"cells": ["' + b"x" * 2000 + b'"]}',
        b'{"outputs": [' + b"[" * 2000,
        b'{"outputs": ["' + b'\\"' * 2000,
        b'"' + b'\\"' * 2000,
    ],
)
def test_a_giant_that_is_large_without_its_outputs_is_not_read(raw, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "MAX_BYTES", 1000)
    path = tmp_path / "giant.ipynb"
    path.write_bytes(raw)
    with pytest.raises(Unreadable, match="Clear the outputs"):
        cells.read_bytes(path)
    monkeypatch.setattr(cells, "MAX_READ", 1500)
    path.write_bytes(_with_output("x" * 2000))
    with pytest.raises(Unreadable, match="Clear the outputs"):
        cells.read_bytes(path)


def test_another_notebook_of_the_course_is_named():
    lesson = prepared((course.ROOT / "notebooks" / "04_ste.ipynb").read_bytes())
    assert "a lesson, notebooks/04_ste.ipynb" in lesson.mistaken
    other = prepared((course.ROOT / "exercises" / "01_sign.ipynb").read_bytes())
    assert "another exercise, exercises/01_sign.ipynb" in other.mistaken
    assert all("hand in exercises/04_ste.ipynb" in one.mistaken for one in (lesson, other))
    assert prepared(code("def ste_quantise(x):\n    return x\n")).mistaken == ""
    assert prepared(as_dict()).mistaken == "" and prepared(as_dict(STUB)).mistaken == ""


# ---- the notebook


@pytest.mark.parametrize("minor", range(6))
def test_every_minor_format_is_read(minor):
    content = as_dict()
    content["nbformat_minor"] = minor
    if minor < 5:
        for one in content["cells"]:
            del one["id"]
    result = prepared(content)
    assert gives(result, 1.0) and not result.stubs
    assert bool(result.repairs) == (minor < 5)


def test_format_3_is_upgraded():
    old = nbformat.convert(notebook(RIGHT), 3)
    result = prepared(nbformat.writes(old, version=3).encode())
    assert gives(result, 1.0)
    assert any("format 3" in repair for repair in result.repairs)


def mangle(change, answer: str = RIGHT) -> dict:
    content = as_dict(answer)
    change(content)
    return content


def _set(content, key, value):
    content[key] = value


MANGLED = {
    "no ids": lambda c: [one.pop("id") for one in c["cells"]],
    "one id for all": lambda c: [one.update(id="same") for one in c["cells"]],
    "ids that are numbers": lambda c: [one.update(id=7) for one in c["cells"]],
    "no metadata": lambda c: [one.pop("metadata") for one in c["cells"]],
    "metadata that is a list": lambda c: [one.update(metadata=[1]) for one in c["cells"]],
    "nbgrader mark that is a list": lambda c: [
        one.update(metadata={"nbgrader": []}) for one in c["cells"]
    ],
    "grade_id that is a number": lambda c: [
        one.update(metadata={"nbgrader": {"grade_id": 3}}) for one in c["cells"]
    ],
    "notebook metadata that is a number": lambda c: _set(c, "metadata", 5),
    "no notebook metadata": lambda c: c.pop("metadata"),
    "minor that is text": lambda c: _set(c, "nbformat_minor", "x"),
    "a format with a point": lambda c: _set(c, "nbformat", 4.0),
    "a format in quotes": lambda c: _set(c, "nbformat", "4"),
    "no format": lambda c: (c.pop("nbformat"), c.pop("nbformat_minor")),
    "a foreign kernel": lambda c: _set(c["metadata"], "kernelspec", {"name": "conda-env-x-py"}),
    "a kernel that is text": lambda c: _set(c["metadata"], "kernelspec", "julia"),
    "widget state": lambda c: _set(c["metadata"], "widgets", {"x": "no state"}),
    "cells in reverse": lambda c: c["cells"].reverse(),
    "only the answer": lambda c: _set(c, "cells", [answer_cell(c)]),
    "everything twice": lambda c: _set(c, "cells", c["cells"] + copy.deepcopy(c["cells"])),
    "cells that are none": lambda c: c["cells"].extend([None, 3, "text", [], {}]),
    "cells of unknown type": lambda c: c["cells"].append(
        {"cell_type": "heading", "source": "x", "id": "x"}
    ),
    "source as a list": lambda c: answer_cell(c).update(source=RIGHT.splitlines(keepends=True)),
    "source with parts that are no text": lambda c: answer_cell(c).update(source=[RIGHT, None, 1]),
    "Windows line ends": lambda c: answer_cell(c).update(source=RIGHT.replace("\n", "\r\n")),
    "old Mac line ends": lambda c: answer_cell(c).update(source=RIGHT.replace("\n", "\r")),
    "NUL and half a character": lambda c: answer_cell(c).update(source="# \0 \ud83d\n" + RIGHT),
    "a mark inside": lambda c: answer_cell(c).update(source="\ufeff" + RIGHT),
    "answer as Markdown": lambda c: answer_cell(c).update(cell_type="markdown"),
    "answer as fenced Markdown": lambda c: answer_cell(c).update(
        cell_type="markdown", source=f"My answer:\n```python\n{RIGHT}```\n"
    ),
    "answer as a raw cell without a mark": lambda c: answer_cell(c).update(
        cell_type="raw", id="x", metadata={}
    ),
    "a huge number": lambda c: answer_cell(c).update(execution_count=10**4000),
    "outputs of a wrong form": lambda c: answer_cell(c).update(outputs={"a": [None]}),
    "huge outputs": lambda c: answer_cell(c).update(
        outputs=[{"output_type": "stream", "name": "stdout", "text": "x" * 5_000_000}]
    ),
    "VS Code's metadata": lambda c: [
        one.update(metadata={"vscode": {"languageId": "python"}}) for one in c["cells"]
    ],
    "Colab's metadata": lambda c: [
        one.update(metadata={"id": "aB3", "colab": {"base_uri": "https://x"}}, id=f"cell{i}")
        for i, one in enumerate(c["cells"])
    ],
}
SILENT = {  # nothing is changed or chosen for the learner
    *("notebook metadata that is a number", "no notebook metadata", "a huge number"),
    *("a foreign kernel", "a kernel that is text", "cells in reverse", "only the answer"),
    *("cells of unknown type", "source as a list", "source with parts that are no text"),
    *("outputs of a wrong form", "huge outputs"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", MANGLED)
def test_a_mangled_notebook_still_answers(name):
    result = prepared(mangle(MANGLED[name]))
    assert gives(result, 1.0)
    assert not result.stubs and not result.undefined
    assert len(result.repairs) == len(set(result.repairs))
    assert bool(result.repairs) == (name not in SILENT)
    nbformat.validate(result.notebook)
    nbformat.writes(result.notebook).encode()


def test_the_learners_cells_bring_no_outputs_and_no_metadata():
    content = as_dict()
    answer_cell(content)["metadata"]["tags"] = ["raises-exception", "nbval-skip"]
    answer_cell(content)["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "already run"}
    ]
    for one in prepared(content).notebook.cells:
        assert set(one.metadata) == {"ste"}
        assert one.metadata.ste.role == "example" or one.outputs == []


# ---- which cell answers


WHERE = {
    # the code cells in their order; all of them must leave the right answer
    "above the stub": [RIGHT, STUB],
    "below the stub": [STUB, RIGHT],
    "between two stubs": [STUB, RIGHT, STUB],
    "the last definition wins": [WRONG, RIGHT],
    "assigned": [STUB, RIGHT.replace("ste_quantize", "mine") + "ste_quantize = mine\n", STUB],
    "assigned in a tuple": [
        STUB,
        RIGHT.replace("ste_quantize", "mine") + "a, (ste_quantize, b) = 1, (mine, 2)\n",
        STUB,
    ],
    "assigned with a walrus": [
        STUB,
        RIGHT.replace("ste_quantize", "mine") + "print(ste_quantize := mine)\n",
        STUB,
    ],
    "imported under the name": [
        STUB,
        RIGHT.replace("ste_quantize", "mine")
        + "import sys, types\nsys.modules['m'] = types.SimpleNamespace(mine=mine)\n"
        "from m import mine as ste_quantize\n",
        STUB,
    ],
    "under a condition": [
        STUB,
        "if True:\n" + "".join(f"    {line}\n" for line in RIGHT.split("\n")),
        STUB,
    ],
    "in try": [
        STUB,
        "try:\n" + "".join(f"    {line}\n" for line in RIGHT.split("\n")) + "finally:\n    pass\n",
        STUB,
    ],
    "a class": [
        STUB,
        RIGHT.replace("ste_quantize", "mine")
        + "class ste_quantize:\n    def __new__(cls, x):\n        return mine(x)\n",
        STUB,
    ],
    "with a stub of its own before": [STUB + "\n\n" + RIGHT, STUB],
    "indented": ["".join(f"    {line}\n" for line in RIGHT.split("\n")), STUB],
    "after a magic": ["%%time\n" + RIGHT.replace("\n", "\n"), STUB],
}


@pytest.mark.parametrize("name", WHERE)
def test_an_answer_is_found_wherever_it_stands(name):
    result = prepared(code(*WHERE[name]))
    assert not result.stubs and not result.undefined
    if name not in ("after a magic", "indented"):  # which plain Python does not run
        assert gives(result, 1.0) and gives(result, -1.0)
    if STUB in WHERE[name]:
        assert any("untouched stub" in repair for repair in result.repairs)


def test_only_the_stub_is_left_out_of_its_cell_and_lines_keep_their_numbers():
    result = prepared(code("import math\n\n" + STUB + "\n\nhelper = math.pi\n", RIGHT))
    names = in_effect(result)
    assert names["helper"] > 3
    left = result.notebook.cells[1].source.split("\n")
    assert left[0] == "import math" and left[5] == "helper = math.pi"


def test_a_copy_kept_as_text_is_not_run():
    content = as_dict()
    old = copy.deepcopy(answer_cell(content))
    old.update(cell_type="markdown", source=WRONG)
    content["cells"].append(old)
    result = prepared(content)
    assert WRONG not in [one.source for one in result.notebook.cells]


@pytest.mark.parametrize(
    "source",
    [
        STUB,
        'def ste_quantize(x):\n    """Doc."""\n    ...\n',
        "def ste_quantize(x):\n    pass\n",
        "%%time\n" + STUB,
        "%matplotlib widget\n" + STUB,
        "import jax\n" + STUB + "\n",
    ],
)
def test_an_untouched_stub_is_known(source):
    assert prepared(code(source)).stubs == {"ste_quantize"}


@pytest.mark.parametrize(
    "source",
    [
        "def inner():\n    def ste_quantize(x):\n        return x\n",
        "def inner():\n    ste_quantize = 1\n",
        "class A:\n    def ste_quantize(self, x):\n        return x\n",
        "ste_quantize(3)\n",
        "x = ste_quantize\n",
        "%%writefile answer.py\n" + RIGHT,
        "%%bash\n" + RIGHT,
        "'''\n" + RIGHT + "'''\n",
        "def ste_quantise(x):\n    return x\n",
    ],
)
def test_what_does_not_define_the_function_does_not_replace_the_stub(source):
    assert prepared(code(STUB, source)).stubs == {"ste_quantize"}
    assert prepared(code(source)).undefined == {"ste_quantize"}


# ---- magics


def test_magics_without_use_are_left_out_and_told():
    magics = "%matplotlib widget\n%load_ext autoreload\n%autoreload 2\n!pip install jax\n"
    magics += "%pip install jax\nif True:\n    !pip3 install x\n    !ls\n    %config A.b = 1\n"
    result = prepared(code(magics + RIGHT))
    exec(compile(result.notebook.cells[1].source, "cell", "exec"), {})
    told = " ".join(result.repairs)
    for name in (
        "%matplotlib",
        "%load_ext",
        "%autoreload",
        "!pip",
        "%pip",
        "!pip3",
        "!ls",
        "%config",
    ):
        assert f"left out {name} in cell 1" in told


def test_continued_and_assigned_magics_are_left_out_whole():
    magics = "!pip install \\\n    jax \\\n    optax\n%pip install -q \\\n  jax\nout = !pip list\n"
    magics += "if out == []:\n    found = %sx ls \\\n      -l\n"
    result = prepared(code(magics + RIGHT))
    source = result.notebook.cells[1].source
    assert source.split("\n").index(RIGHT.split("\n")[0]) == magics.count("\n")
    names: dict = {}
    exec(compile(source, "cell", "exec"), names)
    assert names["out"] == names["found"] == [] and names["ste_quantize"](2.0) == 1.0
    told = " ".join(result.repairs)
    assert all(f"left out {name} in cell 1" in told for name in ("!pip", "%pip", "%sx"))


def test_magics_that_run_code_are_kept_and_texts_are_not_touched():
    source = "%time 1 + 1\n%timeit -n 1 2 + 2\nprint?\n"
    assert prepared(code(source)).notebook.cells[1].source == source
    text = '"""\n%matplotlib inline\n!pip install x\n"""\n7 \\\n% 4\n'
    assert prepared(code(text)).notebook.cells[1].source == text
    shell = "%%bash\npip install x\n"
    assert prepared(code(shell)).notebook.cells[1].source == shell


def test_nbval_markers_are_removed():
    result = prepared(code("# NBVAL_SKIP\n  #PYTEST_VALIDATE_IGNORE_OUTPUT\n1"))
    assert "NBVAL" not in result.notebook.cells[1].source
    assert any("nbval marker in cell 1" in r or "nbval marker" in r for r in result.repairs)


def test_source_that_the_parser_cannot_read_is_still_prepared():
    for source in ("-" * 100_000 + "1", "(" * 1000, "a" + "+a" * 100_000, "x" * 200_000, "\f\x1b["):
        assert prepared(code(source, RIGHT)).undefined == set()


@pytest.mark.parametrize(
    ("source", "line", "left"),
    [
        ("import a\nb = 1\ndef f(x):\n    return x\n", 1, "#\nb = 1\ndef f(x):"),
        ("  import a\n  @b\n  def f(x): 1", 1, "#\n@b\ndef f(x): 1"),
        ("%%time\nimport a\nf = 1", 2, "#\n#\nf = 1"),
        ("%time a\nf = 1", 1, "#\nf = 1"),
        ("a\n@b\n@c\ndef f(x): 1", 2, None),  # the definition itself raised
        ("f = 1\na\nf = 2", 2, None),  # there is a definition, and it counts
        ("a\ng = 1", 1, None),
        ("if a:\n    b\n    f = 1", 2, None),
        ("a\nf = = 1", 1, None),
        ("a\nf = 1", 0, None),
    ],
)
def test_what_stands_below_a_line_that_raised(source, line, left):
    rest = below(source, line, ["f"])
    assert rest is None if left is None else rest.startswith(left)


# ---- end to end

MAGICS = "%matplotlib widget\n%load_ext autoreload\n!pip install jax\n%unknown_magic 3\n"
HELPED = {  # cells that stop above what the answer calls
    "helper": ["plt.show_it()\n\ndef helper(x):\n    return ANSWER(x)"],
    "helper_of_a_helper": [
        "jnp.arange(3).foo\nimport jax.numpy as jn\ndef inner(x):\n    return jn.positive(x)",
        "def helper(x):\n    return ANSWER(inner(x))",
    ],
    "constant": ["1 / 0\nNOTHING = 0", "def helper(x):\n    return ANSWER(x + NOTHING)"],
    "timed": ["%%time\nplt.show_it()\nhelper = lambda x: ANSWER(x)"],
    "captured": ["%%capture out\nplt.show_it()\nhelper = lambda x: ANSWER(x)"],
    "profiled": ["\n%%prun -q\nplt.show_it()\nhelper = lambda x: ANSWER(x)"],
    "twice": ["1 / 0\nimport nowhere\ndef helper(x):\n    return ANSWER(x)"],
}
SKIPPED = {
    "needs_pandas": "import pandas_is_not_here",
    "needs_colab": "from google.colab import drive",
    "runs_a_command": "get_ipython().system('pip install jax')",
    "needs_surrogates": "from straight_through import surrogates",
    "asks_first": "name = input('? ')",
}
COURSE_NAMES = """import straight_through.plots as p
from straight_through.plots import surrogate
from straight_through.widgets import Question
from straight_through import explore, plots, race
surrogate(jnp.sign), Question("a", ["b"])
"""
DISPLAY = {
    "precision": "%precision 2",
    "pprint": "%pprint",
    "precision_by_call": "get_ipython().run_line_magic('precision', '2')",
    "pprint_by_call": "get_ipython().run_line_magic('pprint', '')",
    "numpy": "import numpy; numpy.set_printoptions(precision=1)",
    "formatter": "get_ipython().display_formatter.formatters['text/plain'].for_type("
    "list, lambda value, printer, cycle: printer.text('mine'))",
}
RESHAPE = "return jnp.reshape(x, (7, 3))"
HEAD = "def ste_quantize(x):\n"
RAISING = {  # the answer, and which line of the learner's is told
    "library": (f"{HEAD}    y = x\n    {RESHAPE}\n", f"(line 3: `{RESHAPE}`)"),
    "library_in_helper": (f"{HEAD}    return helper(x)\n", f"(line 4: `{RESHAPE}`)"),
    "syntax": ("x = 1\ndef ste_quantize(x)\n    return x\n", "(line 2: `def ste_quantize(x)`)"),
    "input": ("x = 1\ny = input('? ')\n", "(line 2: `y = input('? ')`)"),
    "timed_cell": ("%%time\nx = 1\n1 / 0\n", "(line 3: `1 / 0`)"),
    "captured_cell": ("%%capture\nx = 1\n1 / 0\n", "(line 3: `1 / 0`)"),
    "profiled_cell": ("\n%%prun -q\nx = 1\n1 / 0\n", "(line 4: `1 / 0`)"),
}


def _submissions() -> dict:
    made = {
        "magics": notebook(MAGICS + GRADED_RIGHT),
        "timed": notebook("\n%%time\n" + GRADED_RIGHT),
        "indented": notebook(textwrap.indent("\n" + GRADED_RIGHT, "  ")),
        "raises_after": notebook(GRADED_RIGHT + "\nraise ValueError('after the answer')\n"),
        "lists": json.dumps(mangle(MANGLED["metadata that is a list"], GRADED_RIGHT)).encode(),
        "nul": json.dumps(as_dict("# \0 \ud83d\n" + GRADED_RIGHT)).encode(),
    }
    for learner, line in SKIPPED.items():
        made[learner] = notebook(f"{line}\nimport jax\n{GRADED_RIGHT}")
    called = GRADED_RIGHT.replace("ste_quantize", "ANSWER")
    for learner, sources in HELPED.items():
        made[learner] = notebook("def ste_quantize(x):\n    return helper(x)")
        made[learner].cells[1:1] = [cell(source) for source in [called, *sources]]
    made["helper_of_before"] = notebook("def ste_quantize(x):\n    return helper(x)")
    made["helper_of_before"].cells[1:1] = [
        cell(f"{called}\ndef helper(x):\n    return ANSWER(x)"),
        cell("1 / 0\ndef helper(x):\n    return x"),
    ]
    made["many_skipped"] = notebook("\n".join([*SKIPPED.values(), GRADED_RIGHT]))
    made["wrong_below"] = notebook("import pandas\ndef ste_quantize(x):\n    return jnp.round(x)\n")
    made["wrong_above"] = notebook(f"{WRONG}1 / 0\n{GRADED_RIGHT}")
    made["made_of_surrogates"] = notebook(
        "from straight_through.surrogates import sign\nste_quantize = sign\n"
    )
    made["cut_in"] = notebook(f"import pandas\n{GRADED_RIGHT}\n)")
    made["course_names"] = notebook(COURSE_NAMES + GRADED_RIGHT)
    made["continued"] = notebook("!pip install \\\n    jax\nout = !ls\n" + GRADED_RIGHT)
    for learner, line in DISPLAY.items():
        made[learner] = notebook(GRADED_RIGHT)
        made[learner].cells.insert(1, cell(line))
    for learner, (answer, _) in RAISING.items():
        made[learner] = notebook(answer)
        made[learner].cells.insert(1, cell(f"def helper(x):\n\n\n    {RESHAPE}"))
    above = notebook(STUB)
    above.cells.insert(1, cell(GRADED_RIGHT))
    made["above"] = above
    scratch = notebook(GRADED_RIGHT)
    scratch.cells += [cell("%load_ext nowhere"), cell("%%nothing\n1"), cell("\n \n\n1 / 0")]
    scratch.cells += [cell("from IPython.display import clear_output, display")]
    scratch.cells += [cell("clear_output(); [display(i) for i in range(3000)]")]
    made["scratch"] = scratch
    deleted = notebook(GRADED_RIGHT)
    deleted.cells.append(cell("del ste_quantize"))
    made["deleted"] = deleted
    return made


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for learner, made in _submissions().items():
        hand_in(folder, learner, made)
    return by_learner(grade(folder, seed=5, limits=Limits(cell=15, total=90)))


LOSE = {
    "deleted": ["not_defined"],
    "wrong_above": None,
    "wrong_below": None,
    "cut_in": ["raises"],
    "made_of_surrogates": ["raises"],
    **dict.fromkeys(RAISING, ["raises"]),
}


def test_the_repaired_notebooks_earn_full_marks(graded):
    for learner, item in graded.items():
        result = item.result
        if learner not in LOSE:
            found = (result.status, result.score, result.misconceptions)
            assert found == ("graded", 10, []), (learner, result.message)


def test_a_wrong_answer_stays_one_whatever_was_skipped(graded):
    for learner, named in LOSE.items():
        result = graded[learner].result
        assert result.status == "graded" and result.score < 10, learner
        assert named is None or result.misconceptions == named, learner


def test_a_line_that_raised_above_the_definition_is_skipped_and_told(graded):
    for learner, line in SKIPPED.items():
        (told,) = [one for one in graded[learner].result.repairs if one.startswith("skipped")]
        assert f"skipped line 1 of cell 3, `{line}`, which raised " in told
        assert "ste_quantize is defined below it" in told
    told = graded["many_skipped"].result.repairs
    assert len(told) == len(SKIPPED) and "line 3 of cell 3" in told[2]
    for learner in ("course_names", "wrong_above", "cut_in", "helper_of_before", "scratch"):
        assert not any("skipped" in repair for repair in graded[learner].result.repairs)


def test_a_line_that_raised_above_what_the_answer_needs_is_skipped_and_told(graded):
    for learner in HELPED:
        told = [one for one in graded[learner].result.repairs if one.startswith("skipped")]
        assert len(told) == (2 if learner == "twice" else 1), learner
    (told,) = [one for one in graded["helper"].result.repairs if one.startswith("skipped")]
    assert "skipped line 1 of cell 3, `plt.show_it()`, which raised NameError" in told
    assert told.endswith("helper is defined below it")
    (told,) = [one for one in graded["helper_of_a_helper"].result.repairs if "skipped" in one]
    assert told.endswith("inner and jn are defined below it")


@pytest.mark.parametrize("learner", RAISING)
def test_the_line_told_is_the_learners_own(graded, learner):
    result = graded[learner].result
    example = next(one for one in result.checks if one["id"] == "example_ste_quantize")
    said = [result.message, example["message"]]
    assert [one for one in said if "(line" in one], said
    assert all(RAISING[learner][1] in one for one in said if "(line" in one), said


def test_repairs_and_notes_reach_the_result(graded):
    assert any("left out %matplotlib" in repair for repair in graded["magics"].result.repairs)
    assert any("untouched stub" in repair for repair in graded["above"].result.repairs)
    assert any("no text" in repair for repair in graded["nul"].result.repairs)
    assert any("after the answer" in note for note in graded["raises_after"].result.notes)
    notes = graded["scratch"].result.notes
    assert any("ZeroDivisionError" in note and "(line 4: `1 / 0`)" in note for note in notes)
