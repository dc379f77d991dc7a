"""The files around the course agree with each other."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from straight_through import __version__, course
from straight_through.checks.misconceptions import MISCONCEPTIONS

PROJECT = tomllib.loads((course.ROOT / "pyproject.toml").read_text())["project"]
ENVIRONMENT = yaml.safe_load((course.ROOT / "environment.yml").read_text())
CONSTRAINTS = (course.ROOT / "constraints.txt").read_text()


def constraints():
    lines = [line for line in CONSTRAINTS.splitlines() if not line.startswith("#")]
    return [Requirement(line) for line in lines]


def test_conda_gets_the_same_bounds_as_pip():
    conda = {}
    for line in ENVIRONMENT["dependencies"]:
        if isinstance(line, str):
            name, _, bounds = line.partition(" ")
            conda[canonicalize_name(name)] = SpecifierSet(bounds)
    assert conda.pop("pip") == SpecifierSet()
    pip = [Requirement(line) for line in PROJECT["dependencies"]]
    wanted = {canonicalize_name(requirement.name): requirement.specifier for requirement in pip}
    assert conda == {"python": SpecifierSet(PROJECT["requires-python"]), **wanted}
    assert ENVIRONMENT["dependencies"][-1] == {"pip": ["-e ."]}


def test_conda_uses_one_channel():
    assert ENVIRONMENT["channels"] == ["conda-forge", "nodefaults"]


@pytest.mark.parametrize("name", ["environment.yml", "pyproject.toml"])
def test_every_dependency_has_its_reason(name):
    lines = (course.ROOT / name).read_text().splitlines()
    for before, line in zip(lines, lines[1:], strict=False):
        if re.match(r'  - [a-z_-]+ >=|  "[a-z-]+>=', line):
            assert "# " in line or before.strip().startswith("# "), line


def test_constraints_are_exact_versions_and_nothing_else():
    for line in CONSTRAINTS.splitlines():
        if not line.startswith("#"):
            assert re.fullmatch(r'[a-z0-9-]+==[\w.]+(; python_version (<|>=) "3\.\d+")?', line)
    assert "://" not in CONSTRAINTS, "no index, no host"


def test_constraints_are_sorted_and_name_a_package_once_for_each_python():
    for python in ("3.11", "3.12", "3.13"):
        names = [
            requirement.name
            for requirement in constraints()
            if requirement.marker is None or requirement.marker.evaluate({"python_version": python})
        ]
        assert names == sorted(set(names))


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_constraints_pin_every_dependency_within_its_bounds(python):
    pinned = {
        requirement.name: Version(str(requirement.specifier).removeprefix("=="))
        for requirement in constraints()
        if requirement.marker is None or requirement.marker.evaluate({"python_version": python})
    }
    for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]:
        wanted = Requirement(line)
        assert pinned[canonicalize_name(wanted.name)] in wanted.specifier


def test_versions_agree():
    citation = yaml.safe_load((course.ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == __version__ == course.load().version == citation["version"]
    assert f"## {__version__}" in (course.ROOT / "CHANGELOG.md").read_text()


def test_no_lock_file():
    names = {path.name for path in course.ROOT.iterdir()}
    assert not names & {"uv.lock", "poetry.lock", "pixi.lock", "Pipfile.lock", "pdm.lock"}
    assert not list(course.ROOT.glob("*conda-lock*"))


def test_the_page_about_checks_lists_every_name_in_order():
    page = (course.ROOT / "docs" / "how-checks-work.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(m.label, m.kind, m.sentence) for m in MISCONCEPTIONS.values()]
