"""Can this machine run the course? ``doctor()`` in a notebook, ``ste doctor`` in a terminal.

Each check takes what it looks at as arguments, so that a test can hand it a broken machine.
"""

import html
import importlib.metadata
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from straight_through import course, progress

OLDEST_PYTHON = (3, 11)
OLDEST_JAX = (0, 10, 1)
# The reasons stand in pyproject.toml too; a test holds the two together.
EXCLUDED_JAX = {
    "0.10.2": "it computes wrong values on CPU (jax issue 39103)",
    "0.11.1": "its loops take quadratic time on CPU (jax issue 40101)",
}
OLDEST_WIDGETS = (8, 1, 5)
INSTALL = (
    "Close JupyterLab and run `make lab` in the course folder (with conda: "
    "`conda env update -f environment.yml`)."
)


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``fix`` says what to do and is shown where ``passed`` is False."""

    title: str
    passed: bool
    found: str
    fix: str = ""


@dataclass(frozen=True)
class Report:
    """All findings: a table in a notebook, lines in a terminal."""

    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        return all(finding.passed for finding in self.findings)

    @property
    def summary(self) -> str:
        failed = sum(not finding.passed for finding in self.findings)
        if not failed:
            return "Everything is ready."
        return f"{failed} of {len(self.findings)} checks failed; each says what to do."

    def __str__(self) -> str:
        width = max(len(finding.title) for finding in self.findings)
        lines = []
        for finding in self.findings:
            mark = "ok  " if finding.passed else "FAIL"
            lines.append(f"{mark}  {finding.title:{width}}  {finding.found}")
            if not finding.passed:
                lines.append(f"{'':{width}}        {finding.fix}")
        return "\n".join([*lines, self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        left = ' style="text-align: left"'
        rows = []
        for finding in self.findings:
            fix = "" if finding.passed else f"<br><strong>To do:</strong> {_html(finding.fix)}"
            mark = "&#10003; ok" if finding.passed else "&#10007; <strong>failed</strong>"
            rows.append(
                f"<tr><td{left}>{mark}</td><th scope='row'{left}>{_html(finding.title)}</th>"
                f"<td{left}>{_html(finding.found)}{fix}</td></tr>"
            )
        head = "".join(f"<th scope='col'{left}>{name}</th>" for name in ("", "What", "Found"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>" + (
            f"<p>{_html(self.summary)}</p>"
        )


def _html(text: str) -> str:
    """Escaped, with `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _short(path: Path | str) -> str:
    """Relative to the course folder where it lies inside: the same on every machine."""
    path = Path(path)
    return str(path.relative_to(course.ROOT) if path.is_relative_to(course.ROOT) else path)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def check_python(version: Sequence[int] = sys.version_info) -> Finding:
    found = ".".join(str(part) for part in version[:3])
    needed = ".".join(str(part) for part in OLDEST_PYTHON)
    fix = (
        f"The course needs Python {needed} or newer. Install one, remove the folder `.venv`, and "
        "run `make lab PYTHON=python3.12` with the name of the new one."
    )
    return Finding("Python", tuple(version[:2]) >= OLDEST_PYTHON, found, fix)


def check_jax_version(version: str | None = None) -> Finding:
    version = version or importlib.metadata.version("jax")
    oldest = ".".join(str(part) for part in OLDEST_JAX)
    why = EXCLUDED_JAX.get(version, f"the course needs {oldest} or newer")
    passed = version not in EXCLUDED_JAX and _numbers(version) >= OLDEST_JAX
    fix = f"jax {version} cannot be used: {why}. {INSTALL}"
    return Finding("jax version", passed, version, fix)


def check_backend(backend: str | None = None) -> Finding:
    if backend is None:
        import jax

        backend = jax.default_backend()
    fix = (
        "Values are compared with ones computed on a CPU. Set the environment variable "
        "`JAX_PLATFORMS=cpu` before JupyterLab starts."
    )
    return Finding("jax backend", backend == "cpu", backend, fix)


def check_precision(x64: bool | None = None) -> Finding:
    if x64 is None:
        import jax

        x64 = jax.config.jax_enable_x64
    fix = (
        "The lessons expect jax's own default. Unset the environment variable `JAX_ENABLE_X64` "
        "and restart the kernel."
    )
    return Finding("default precision", not x64, "float64" if x64 else "float32", fix)


def _straight_through_sign(x):
    import jax
    import jax.numpy as jnp

    return (x - jax.lax.stop_gradient(x)) + jax.lax.stop_gradient(jnp.sign(x))


def check_gradient(function: Callable = _straight_through_sign) -> Finding:
    """A gradient known in advance: the cotangent [-3, 0.25, 2] passes straight through."""
    import jax
    import jax.numpy as jnp

    cotangent = [-3.0, 0.25, 2.0]
    values, pull = jax.vjp(function, jnp.array([-2.0, 0.0, 1e20]))
    (gradient,) = pull(jnp.array(cotangent))
    passed = values.tolist() == [-1.0, 0.0, 1.0] and gradient.tolist() == cotangent
    found = f"values {values.tolist()}, gradient {gradient.tolist()}"
    fix = (
        f"Expected values [-1.0, 0.0, 1.0] and gradient {cotangent}. This jax computes wrongly "
        f"on this machine. {INSTALL}"
    )
    return Finding("a known gradient", passed, found, fix)


def check_kernel(argv: Sequence[str] | None = None, prefix: str = sys.prefix) -> Finding:
    """The kernel called python3, which every notebook asks for, runs in this environment."""
    if argv is None:
        from jupyter_client.kernelspec import KernelSpecManager

        argv = KernelSpecManager().get_kernel_spec("python3").argv
    # Jupyter replaces a plain "python" by the interpreter that runs Jupyter itself.
    plain = re.fullmatch(r"python[\d.]*", argv[0]) is not None
    program = Path(sys.executable if plain else shutil.which(argv[0]) or argv[0])
    # Only the folder is resolved: in a virtual environment the program itself is a link out of it.
    passed = plain or program.parent.resolve().is_relative_to(Path(prefix).resolve())
    found = _short(prefix)
    if not passed:
        found = f"{_short(program)}, while the course is installed in {found}"
    fix = (
        "Run `python -m ipykernel install --sys-prefix` with the course's Python, then restart "
        "JupyterLab with `make lab`."
    )
    return Finding("kernel", passed, found, fix)


def check_widgets(version: str | None = None, folders: Sequence[str] | None = None) -> Finding:
    """ipywidgets for the kernel, and its half that JupyterLab loads into the browser."""
    if folders is None:
        from jupyter_core.paths import jupyter_path

        folders = jupyter_path("labextensions")
    version = version or importlib.metadata.version("ipywidgets")
    manager = Path("@jupyter-widgets", "jupyterlab-manager")
    in_lab = any((Path(folder) / manager).is_dir() for folder in folders)
    passed = in_lab and _numbers(version) >= OLDEST_WIDGETS
    found = f"ipywidgets {version}" + ("" if in_lab else ", but not its extension for JupyterLab")
    return Finding("widgets", passed, found, f"Sliders would not show. {INSTALL}")


def check_progress_file(path: Path | None = None) -> Finding:
    """A real file is written and removed: permission bits alone say too little."""
    path = path or progress.progress_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            passed = not path.exists() or os.access(path, os.W_OK)
            found = "can be written" if passed else f"{_short(path)} is read-only"
    except OSError as error:
        passed, found = False, f"{_short(path)}: {error.strerror or error}"
    fix = (
        "Move the course to a folder that you can write to, or set the environment variable "
        "`STE_PROGRESS` to a file that you can write, and restart JupyterLab."
    )
    return Finding("progress file", passed, found, fix)


CHECKS: Mapping[str, Callable[[], Finding]] = {
    "Python": check_python,
    "jax version": check_jax_version,
    "jax backend": check_backend,
    "default precision": check_precision,
    "a known gradient": check_gradient,
    "kernel": check_kernel,
    "widgets": check_widgets,
    "progress file": check_progress_file,
}


def examine(title: str, check: Callable[[], Finding]) -> Finding:
    """What the check found; one that cannot even run has failed, with what it said."""
    try:
        return check()
    except Exception as error:
        said = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        return Finding(title, False, said, f"Something is missing or broken. {INSTALL}")


def doctor(checks: Mapping[str, Callable[[], Finding]] = CHECKS) -> Report:
    """Examine this machine; show the result as the last line of a cell, or print it."""
    return Report(tuple(examine(title, check) for title, check in checks.items()))
