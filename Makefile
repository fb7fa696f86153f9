# The two commands of the README, and the one that must be green before a commit.
# Everything is installed into .venv from requirements.lock, hashes checked.

PYTHON ?= python3
JOBS ?= auto
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find compress storage inspector assets -type f -not -name '*.pyc')

.PHONY: demo test check format lint types contracts recording lock clean

demo: $(VENV)/installed
	@$(BIN)/ullage demo

test: $(VENV)/installed
	$(BIN)/python -m pytest -n $(JOBS)

check: format lint types contracts test

format: $(VENV)/locked
	$(BIN)/ruff format --check .

lint: $(VENV)/locked
	$(BIN)/ruff check .

types: $(VENV)/locked
	$(BIN)/mypy -p compress -p storage -p inspector

contracts: $(VENV)/locked
	$(BIN)/lint-imports

$(VENV)/locked: requirements.lock
	@echo "Installing into $(VENV), once; this takes about a minute …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/installed: $(VENV)/locked pyproject.toml README.md $(SOURCES)
	@echo "Installing Ullage into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation .
	@touch $@

# The half minute of the README, made anew from the bundled session.
recording: $(VENV)/locked
	@$(BIN)/python -m tests.benchmarks.recording

# Needs uv; only to change what is locked.
lock:
	uv pip compile pyproject.toml --extra test --extra check --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet \
	  --output-file requirements.lock

clean:
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
