"""One interface over graded functions, wherever they live.

``straight_through.local`` has the one that holds functions of this process (``check()`` at home,
``ste verify``), ``straight_through.grading.kernel`` the one whose functions live in a sandboxed
child. Both send the same requests through the same wire format.
"""

import ast
import inspect
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from straight_through import wire


@dataclass(frozen=True)
class Failure:
    """What a learner's code raised. ``line`` counts from 1 in the cell that ``text`` is from."""

    type: str
    message: str
    line: int | None = None
    text: str = ""

    @property
    def sentence(self) -> str:
        first = self.message.split("\n")[0].strip()
        said = f"{self.type}: {first}" if first else self.type
        where = f" (line {self.line}: `{self.text}`)" if self.line and self.text else ""
        return said[:300] + where


class SubmissionRaised(Exception):
    """The learner's function raised an exception (also SystemExit)."""

    def __init__(self, failure: Failure):
        super().__init__(failure.sentence)
        self.failure = failure


class SubmissionStopped(Exception):
    """The process with the submission is gone; ``status`` is "timeout", "crashed", or "error" if
    the machine is to blame."""

    def __init__(self, status: str, message: str):
        super().__init__(message)
        self.status, self.message = status, message


class Submission:
    """Functions to be graded. Arguments and results are pytrees of NumPy arrays.

    ``seed`` decides the inputs that checks draw. ``cell_failures`` says, for a function whose
    cell raised, what it raised. Every answer is remembered: the same question is asked once.
    """

    def __init__(self, seed: int = 0, stubs: Sequence[str] = (), cell_failures=None):
        self.seed = seed
        self.stubs = frozenset(stubs)
        self.cell_failures: dict[str, Failure] = dict(cell_failures or {})
        self._answers: dict = {}

    def _transport(self, request: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        raise NotImplementedError

    def _ask(self, name, op, args=(), extra=(), mode="plain", batched=None):
        buffers: list[bytes] = []
        if batched is None:
            batched = [
                0 if isinstance(value, np.ndarray) and value.ndim else None for value in args
            ]
        request = {
            "name": name,
            "op": op,
            "mode": mode,
            "batched": list(batched),
            "args": wire.encode(tuple(args), buffers),
            "extra": wire.encode(list(extra), buffers),
        }
        key = (repr(request), b"".join(buffers))
        if key not in self._answers:
            self._answers[key] = self._transport(request, buffers)
        reply, buffers = self._answers[key]
        if reply.get("ok") is not True:
            raise SubmissionRaised(as_failure(reply.get("failure")))
        if op == "about":
            return reply
        return wire.decode(reply["result"], buffers)

    def defined(self, name: str) -> bool:
        """True if the notebook left something callable under this name."""
        return self._ask(name, "about").get("defined") is True

    def call(self, name: str, *args, mode: str = "plain"):
        """``name(*args)``. Under vmap the arrays with a shape are mapped over their first axis."""
        return self._ask(name, "call", args, mode=mode)

    def vjp(self, name: str, args, cotangents, mode: str = "plain"):
        """The value, and for each cotangent a tuple with one pulled-back array an argument."""
        answer = self._ask(name, "vjp", args, cotangents, mode=mode)
        if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], list)):
            raise wire.WireError("a reply to vjp of the wrong form")
        return answer

    def jvp(self, name: str, args, tangents, mode: str = "plain"):
        """The value and its tangent. A ``custom_vjp`` has no forward mode and raises."""
        return self._ask(name, "jvp", args, tangents, mode=mode)


def as_failure(content) -> Failure:
    """A failure out of what a reply says of it."""
    content = content if isinstance(content, dict) else {}
    line = content.get("line")
    return Failure(
        type=str(content.get("type", "Exception"))[:80],
        message=str(content.get("message", ""))[:600],
        line=line if isinstance(line, int) else None,
        text=str(content.get("text", ""))[:200],
    )


def _is_stub(body: list[ast.stmt]) -> bool:
    def idle(statement):
        if isinstance(statement, ast.Pass):
            return True
        if isinstance(statement, ast.Expr):
            return isinstance(statement.value, ast.Constant)  # a docstring or `...`
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            raised = statement.exc
            raised = raised.func if isinstance(raised, ast.Call) else raised
            return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
        return False

    return all(idle(statement) for statement in body)


def stub_names(source: str) -> set[str]:
    """The functions in ``source`` that nobody has written yet.

    This is the one place where text is looked at: a body of nothing but a docstring, ``...``,
    ``pass`` or ``raise NotImplementedError`` says that there is no answer, not that it is wrong.
    """
    try:
        with warnings.catch_warnings():  # such as an invalid escape: the learner's to see, not ours
            warnings.simplefilter("ignore")
            tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    stubs: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            (stubs.add if _is_stub(node.body) else stubs.discard)(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stubs -= {target.id for target in targets if isinstance(target, ast.Name)}
    return stubs


def is_stub(function, name: str) -> bool | None:
    """Whether ``function``, defined in this process, is an untouched stub; None if its source
    cannot be read."""
    try:
        return name in stub_names(inspect.getsource(function))
    except (OSError, TypeError):
        return None
