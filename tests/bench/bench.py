"""``make bench``: how fast ``check()`` answers, and what a submission costs beside nbgrader."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

for script in ("bench_check.py", "bench_grade.py"):
    print(f"== {script.removesuffix('.py')}", flush=True)
    subprocess.run([sys.executable, str(HERE / script), *sys.argv[1:]], check=True)
