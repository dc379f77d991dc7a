"""Lines of IPython that are no Python, `%magic`, `!command`, `name?`: what becomes of them.

A line keeps its number whatever replaces it: tracebacks count from the top of the cell.
"""

import functools
import re

# With all its continued lines. `out = !ls` is one too.
SPECIAL = re.compile(
    r"^(?P<indent>[ \t]*)"
    r"(?:(?P<target>[^\n=%!#'\"]+=[ \t]*)?(?P<sign>%!|%|!{1,2})[ \t]*(?P<name>[\w.-]*)"
    r"(?:[^\n]*\\\n)*[^\n]*"
    r"|\??[\w.]+\?{1,2}[ \t]*)$",
    re.MULTILINE,
)
# Magics that run or time the learner's code. All others set up a screen, or an extension that is
# not here, and would stop the cell that holds an answer; so would a command of the system, since
# the sandbox starts no other program. Those that change how results are shown are none of them.
KEPT = set(
    "time timeit prun run reset reset_selective cd pwd env set_env who who_ls whos history".split()
)
RUNS_PYTHON = re.compile(r"\s*%%(time|capture|prun)\b[^\n]*\n")


def as_python(source: str) -> str:
    """The source with something of no effect for every line that is no Python."""
    return SPECIAL.sub(_idle, source)


def without_useless(source: str) -> tuple[str, list[str]]:
    """The source without the lines that have no use in grading, and the names of these."""
    left_out: list[str] = []
    source = SPECIAL.sub(functools.partial(_unless_kept, left_out), source)
    return source, list(dict.fromkeys(left_out))


def _idle(found: re.Match) -> str:
    idle = f"{found['target']}[]" if found["target"] else "pass"
    return found["indent"] + idle + "\n" * found[0].count("\n")


def _unless_kept(left_out: list[str], found: re.Match) -> str:
    sign, name = found["sign"], found["name"]
    if sign is None or (sign == "%" and name in KEPT):
        return found[0]
    left_out.append(f"{sign}{name}")
    return _idle(found)
