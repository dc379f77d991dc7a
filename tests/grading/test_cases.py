"""Every case gets the verdict it must get, in one run of the command, again and with a new seed."""

import json

import pytest
from classroom import CASES, EXPECTED, hand_in

from straight_through.grading.main import main


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for name in EXPECTED:
        hand_in(folder, name, (CASES / f"{name}.py").read_text())
    return folder


def _grade(submissions, out, *extra) -> dict:
    assert main([str(submissions), "--out", str(out), *extra]) == 0
    return json.loads((out / "grades.json").read_text())


@pytest.fixture(scope="module")
def first(submissions, tmp_path_factory):
    return _grade(submissions, tmp_path_factory.mktemp("first"), "--seed", "7")


def _timeless(document) -> dict:
    rows = [{**row, "seconds": None} for row in document["submissions"]]
    return {**document, "submissions": rows}


def _verdicts(document) -> dict:
    return {
        row["learner"]: (row["score"] == row["max_score"], *row["misconceptions"][:1])
        for row in document["submissions"]
    }


def _wanted() -> dict:
    return {
        name: (case["full_marks"], *filter(None, [case["misconception"]]))
        for name, case in EXPECTED.items()
    }


def test_every_case_gets_its_verdict(first):
    assert _verdicts(first) == _wanted()


def test_at_most_three_misconceptions_and_none_for_full_marks(first):
    for row in first["submissions"]:
        full = row["score"] == row["max_score"]
        assert len(row["misconceptions"]) <= 3
        assert bool(row["misconceptions"]) != full


def test_another_seed_gives_the_same_verdicts_and_a_rerun_the_same_file(
    submissions, first, tmp_path
):
    other = _grade(submissions, tmp_path / "other", "--seed", "20261130")
    assert _verdicts(other) == _wanted()
    again = _grade(submissions, tmp_path / "again", "--seed", "7")
    assert _timeless(again) == _timeless(first)


def test_the_document_has_the_promised_fields(first):
    assert first["schema"] == 1 and first["isolation"] == "bubblewrap" and first["seed"] == 7
    assert {"jax", "jaxlib", "python", "nbval"} <= first["versions"].keys()
    wanted = "learner exercise file sha256 status message score max_score seconds repairs "
    wanted += "submitted_at override comment misconceptions checks"
    for row in first["submissions"]:
        assert set(wanted.split()) <= row.keys()
        for check in row["checks"]:
            fields = "id title hidden outcome score points message misconception"
            assert set(fields.split()) <= check.keys()
            assert check["score"] == (check["points"] if check["outcome"] == "passed" else 0)
        assert sum(check["points"] for check in row["checks"]) == row["max_score"] == 10
        if row["status"] == "graded":
            assert row["score"] == sum(check["score"] for check in row["checks"])
