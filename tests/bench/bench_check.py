"""How long ``check(ste_quantize)`` takes: the first time, and after an edit in a warm kernel.

Beside it, in the same run and on the same inputs, a peer: one ``jax.grad`` of the solution, cold
and warm. It is what a learner would type to look at the gradient by hand. Every figure is the
least of several fresh processes: what the machine can do when nobody else is at work.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3
FIRST, EDITED = 2.0, 0.4  # the limits, in seconds


def timed(action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def measure(who: str) -> dict:
    """In a fresh process: seconds cold and warm, by which time the answer was defined anew."""
    import jax

    from straight_through import check
    from straight_through.checks.draws import FLOATS
    from straight_through.checks.problems import cases
    from straight_through.checks.solutions import SOLUTIONS, sources

    setup, answers = sources(SOLUTIONS / "04_ste.ipynb")
    namespace: dict = {}

    def edit():
        exec(f"{setup}\n\n{answers['ste_quantize']}", namespace)

    def by_check():
        assert check(namespace["ste_quantize"], "ste_quantize").passed

    def by_grad():
        function = namespace["ste_quantize"]
        for dtype in FLOATS:
            with jax.enable_x64(dtype == "float64"):
                for (x,) in cases("ste_quantize", dtype, 0).values():
                    jax.grad(lambda x: function(x).sum())(jax.numpy.asarray(x)).block_until_ready()

    action = by_check if who == "check" else by_grad
    edit()
    cold = timed(action)
    warm = []
    for _ in range(3):
        edit()
        warm.append(timed(action))
    return {"cold": cold, "warm": min(warm)}


def best(who: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        progress = str(Path(folder) / "progress.json")
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "STE_PROGRESS": progress}
        command = [sys.executable, __file__, "--measure", who]
        runs = [
            json.loads(subprocess.check_output(command, env=environment, text=True))
            for _ in range(RUNS)
        ]
    return {key: min(run[key] for run in runs) for key in ("cold", "warm")}


def main():
    check, peer = best("check"), best("grad")
    print(f"{'':24}{'check':>10}{'jax.grad':>10}{'ratio':>8}{'limit':>8}")
    for key, title, limit in (("cold", "first time", FIRST), ("warm", "after an edit", EDITED)):
        ratio = check[key] / peer[key]
        print(f"{title:24}{check[key]:9.2f}s{peer[key]:9.2f}s{ratio:8.1f}{limit:7.1f}s")


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure(sys.argv[-1])))
    else:
        main()
