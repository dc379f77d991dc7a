"""For every test: not the real progress file, jax on the CPU, and no silent skip on CI."""

import os

import pytest

os.environ["JAX_PLATFORMS"] = "cpu"  # before anything imports jax


@pytest.fixture(autouse=True, scope="session")
def no_real_progress(tmp_path_factory):
    """No test touches the progress of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STE_PROGRESS", str(tmp_path_factory.mktemp("progress") / "progress.json"))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return not_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return not_skipped((yield))


def not_skipped(report):
    """With STE_REQUIRE_ALL a test that is skipped, for want of a tool, has failed."""
    if report.skipped and os.environ.get("STE_REQUIRE_ALL") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and STE_REQUIRE_ALL is set: {report.longrepr}"
    return report
