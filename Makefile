# make demo : set up, then the main job on the Sachs data
# make test : set up, then lint, types and all tests
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EXTRAS := dev,neural,baselines,ci-tests

export OMP_NUM_THREADS      ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test lint types tests setup setup-dev clean

demo: setup
	$(BIN)/heterodag demo --out heterodag-demo

test: lint types tests

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup-dev
	$(BIN)/mypy

tests: setup-dev
	$(BIN)/python -m pytest -n 2 -q

setup: $(VENV)/.installed
setup-dev: $(VENV)/.installed-dev

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$(EXTRAS)]"
	touch $@

clean:
	rm -rf $(VENV) heterodag-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
