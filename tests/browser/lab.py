"""JupyterLab in a real browser: started here, on copies, with a profile of its own."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
SUBSHELLS = "@jupyterlab/apputils-extension:kernels-settings"


def missing() -> str:
    """Why no browser can be driven here, or an empty string."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install playwright"
    return "" if shutil.which("chromium") else "there is no chromium: apt-get install chromium"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(notebooks: Path, overrides: dict | None = None):
    """JupyterLab serving ``notebooks``, yields its address with token. Reads no user settings."""
    with tempfile.TemporaryDirectory() as home:
        home = Path(home)
        environment = os.environ | {
            "HOME": str(home),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "STE_PROGRESS": str(home / "progress.json"),
            "JAX_PLATFORMS": "cpu",
        }
        quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
        for plugin, values in (quiet | (overrides or {})).items():
            package, name = plugin.split(":")
            file = home / "settings" / package / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        port, token = _free_port(), secrets.token_hex(8)
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--ip=127.0.0.1",
            "--allow-root",
            f"--port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={token}",
            f"--ServerApp.root_dir={notebooks}",
            "--LabApp.news_url=None",
        ]
        with open(home / "log", "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=home)
            try:
                _wait(f"http://127.0.0.1:{port}/api?token={token}", process, home / "log")
                yield f"http://127.0.0.1:{port}", token
            finally:
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def _wait(address: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=1):
            return
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-3000:]}")


@contextlib.contextmanager
def browser(width: int = 1280, height: int = 900, dark: bool = False):
    """A page of a fresh Chromium."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=shutil.which("chromium"),
            headless=True,
            args=FLAGS,
            viewport={"width": width, "height": height},
            accept_downloads=True,
        )
        try:
            yield context.pages[0]
        finally:
            context.close()


class Notebook:
    """An open notebook: runs it, finds its explorers, collects what goes wrong."""

    def __init__(self, page, address: str, token: str, name: str):
        self.page, self.errors = page, []
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.errors.append(f"page: {error}"))
        page.on("console", self._console)
        # "reset" forgets the workspace, so that tabs of an earlier page do not come back.
        page.goto(f"{address}/lab/tree/{name}?reset&token={token}")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        self._wait_for_kernel(f"{address}/api/kernels?token={token}")

    def _wait_for_kernel(self, kernels: str) -> None:
        for _ in range(600):
            # The server may answer with an error while the kernel is being started.
            with contextlib.suppress(OSError), urllib.request.urlopen(kernels, timeout=5) as reply:
                found = json.load(reply)
                if any(k["execution_state"] == "idle" and k["connections"] for k in found):
                    return
            self.page.wait_for_timeout(100)
        raise RuntimeError("The kernel did not become idle.")

    def _console(self, message) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text} {message.location}")

    def run_all(self) -> None:
        """Run every cell and wait until the last has run."""
        page = self.page
        page.locator(".jp-Notebook .jp-Cell").first.click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_function(
            "() => { const n = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
            ".map(e => e.textContent);"
            " return n.length && n.every(t => /\\d/.test(t)); }",
            timeout=180_000,
        )

    def explorers(self):
        return self.page.locator(".ste-explorer")
