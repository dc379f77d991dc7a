"""`ste doctor`: each check passes here, and fails on the machine that it is meant for."""

import re
import sys

import jax.numpy as jnp
import pytest

from straight_through import doctor, machine
from straight_through.course import ROOT


def test_this_machine_is_ready():
    report = doctor()
    assert report.passed, str(report)
    assert [finding.title for finding in report.findings] == list(machine.CHECKS)


def fails(finding, *words):
    assert not finding.passed
    assert finding.fix.endswith(".")
    for word in words:
        assert word in finding.found + finding.fix


def test_an_old_python():
    fails(machine.check_python((3, 10, 4)), "3.10.4", "3.11")


@pytest.mark.parametrize("version", machine.EXCLUDED_JAX)
def test_an_excluded_jax_is_refused_with_the_reason(version):
    fails(machine.check_jax_version(version), version, "jax issue")


def test_an_old_jax():
    fails(machine.check_jax_version("0.9.2"), "0.9.2", "0.10.1")


@pytest.mark.parametrize("version", ["0.10.1", "0.11.0", "0.11.2", "0.12.0.1", "1.0"])
def test_every_other_jax_will_do(version):
    assert machine.check_jax_version(version).passed


def test_the_excluded_versions_are_those_of_pyproject():
    requirement = re.search(r'"jax>=(.*?)"', (ROOT / "pyproject.toml").read_text()).group(1)
    oldest, *excluded = requirement.split(",")
    assert oldest == ".".join(map(str, machine.OLDEST_JAX))
    assert excluded == [f"!={version}" for version in machine.EXCLUDED_JAX]


def test_another_backend():
    fails(machine.check_backend("gpu"), "gpu", "JAX_PLATFORMS=cpu")


def test_double_precision_switched_on():
    fails(machine.check_precision(True), "JAX_ENABLE_X64")


def test_a_jax_that_computes_wrongly():
    fails(machine.check_gradient(jnp.sign), "gradient [0.0, 0.0, 0.0]")
    fails(machine.check_gradient(lambda x: x), "values")


def test_a_kernel_of_another_environment(tmp_path):
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.touch()
    fails(
        machine.check_kernel([str(other), "-m", "ipykernel_launcher"]), str(other), "installed in"
    )


@pytest.mark.parametrize("program", ["python", "python3", "python3.11", sys.executable])
def test_the_kernel_of_this_environment(program):
    assert machine.check_kernel([program, "-m", "ipykernel_launcher"]).passed


def test_paths_in_the_course_folder_are_short():
    assert machine._short(ROOT / ".venv") == ".venv"
    assert machine._short("/elsewhere/env") == "/elsewhere/env"


def test_widgets_without_their_half_in_the_browser(tmp_path):
    fails(machine.check_widgets(folders=[str(tmp_path)]), "extension", "make lab")


def test_old_widgets():
    fails(machine.check_widgets(version="7.8.5"), "7.8.5")


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("a file where a folder should be")
    fails(machine.check_progress_file(tmp_path / "file" / "progress.json"), "STE_PROGRESS")


def test_the_progress_check_leaves_nothing_behind(tmp_path):
    path = tmp_path / "progress.json"
    assert machine.check_progress_file(path).passed
    assert list(tmp_path.iterdir()) == []


def test_a_check_that_cannot_run_has_failed_and_the_others_still_run():
    def broken():
        raise ImportError("libjax.so: no <such> file\nmore lines")

    report = machine.doctor({"jax backend": broken, "Python": machine.check_python})
    assert [finding.passed for finding in report.findings] == [False, True]
    assert not report.passed
    assert "FAIL  jax backend  ImportError: libjax.so: no <such> file\n" in str(report)
    assert "make lab" in str(report) and "more lines" not in str(report)
    assert "1 of 2 checks failed" in str(report)


def test_the_notebook_shows_the_same_as_a_table():
    def broken():
        raise ImportError("<b>not bold</b>")

    shown = machine.doctor({"jax backend": broken})._repr_html_()
    assert "&lt;b&gt;not bold" in shown and "To do:" in shown and "<code>make lab</code>" in shown
    assert "Everything is ready" in machine.doctor({"Python": machine.check_python})._repr_html_()
