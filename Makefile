# make demo : set up, then the main job on the Sachs data
# make test : set up, then lint, types, all tests (those of the DoWhy bridge in an environment of their own), committed results
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EXTRAS := dev,neural,baselines,ci-tests,distributed
DOWHY  ?= .venv-dowhy

export OMP_NUM_THREADS      ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test lint types tests check-docs dowhy setup setup-dev clean

demo: setup
	$(BIN)/heterodag demo --out heterodag-demo

test: lint types tests check-docs dowhy

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup-dev
	$(BIN)/mypy

tests: setup-dev
	$(BIN)/python -m pytest -n 2 -q

# Results, tables, pictures and pages in the repository: do they agree with each other and with what is said of them?
check-docs: setup-dev
	$(BIN)/python -m pytest -q benchmarks/checks

# DoWhy caps SciPy below the newest: the same tests show that the package runs with that SciPy too.
dowhy: $(DOWHY)/.installed
	$(DOWHY)/bin/python -c "import dowhy, scipy; print('DoWhy', dowhy.__version__, 'with SciPy', scipy.__version__)"
	$(DOWHY)/bin/python -m pytest -n 2 -q tests/scm tests/core tests/scores tests/ordering

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

$(DOWHY)/.installed: pyproject.toml
	$(PYTHON) -m venv $(DOWHY)
	$(DOWHY)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[dowhy]" pytest pytest-xdist hypothesis polars
	touch $@

clean:
	rm -rf $(VENV) $(DOWHY) heterodag-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
