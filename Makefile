# Two commands for everybody: `make lab` and `make test`. The rest is for those who change the course.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Open the course. On a remote machine: make lab ARGS=--no-browser
lab: install-lab
	@$(PY) -m straight_through.cli lab $(ARGS)

# Everything that has to pass before a change lands. A learner's progress file is never touched.
test: export JAX_PLATFORMS := cpu
test: export STE_PROGRESS := $(CURDIR)/$(VENV)/progress-of-the-tests.json
test: lint
	@rm -f "$$STE_PROGRESS"
	$(PY) -m straight_through.cli verify
	$(PY) -m pytest
	$(PY) -m pytest --nbval notebooks solutions

lint: install-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

# Write exercises/ from solutions/.
exercises: install-lab
	$(PY) -m straight_through.build

# Run all lessons and solutions again and save their outputs.
notebooks: install-lab
	JAX_PLATFORMS=cpu $(PY) -m straight_through.rerun

# Figures: seconds for check() and a submission, widget latency, the grader beside its peers.
bench bench-widgets bench-grade: install-test
	$(PY) tests/bench/$(subst -,_,$@).py $(ARGS)

# A stamp keeps what an environment was installed from: nothing is installed again, and no network
# is needed, until one of the two files changes or the folder moves. The test extra includes lab.
NEEDS := { pwd; cat pyproject.toml constraints.txt; }

install-lab:
	@$(NEEDS) | cmp -s - $(VENV)/lab.installed || { $(VENV_READY) && \
	$(PY) -m pip install -c constraints.txt -e . && $(NEEDS) > $(VENV)/lab.installed; }

install-test:
	@$(NEEDS) | cmp -s - $(VENV)/test.installed || { $(VENV_READY) && \
	$(PY) -m pip install -c constraints.txt -e '.[test]' && \
	$(NEEDS) | tee $(VENV)/lab.installed > $(VENV)/test.installed; }

VENV_READY = $(PY) -c 'import pip' 2>/dev/null || \
	{ $(PYTHON) -c '$(OLD)' && $(PYTHON) -m venv --clear $(VENV); }
OLD = import sys; sys.version_info < (3, 11) and sys.exit("Straight Through needs Python 3.11 or \
	newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make lab PYTHON=python3.12")

.PHONY: lab test lint exercises notebooks bench bench-widgets bench-grade install-lab install-test
