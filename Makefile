# Every target makes the environment first, where it is not there yet.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-all conformance check ui clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)      ## the main job on the captures that the project ships
	@$(BIN)/python -m pipelines.demo

test: $(READY)      ## the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-all: $(READY)  ## the tests and the longer studies
	$(BIN)/python -m pytest -n 2 --dist loadfile -m ''

conformance: $(READY)  ## what is read of captures of real SDKs, compared with what went over the wire
	@$(BIN)/python -m benchmarks.conformance

check: $(READY)     ## format, lint, types, one-way imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

ui: $(READY)        ## the graph in a browser, with the schedule and the sensors
	@$(BIN)/python -m pipelines.ui

clean:              ## the environment and the demo's home
	rm -rf $(VENV) .tracemill-demo
