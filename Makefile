# make demo : set up, then the main job on the Sachs data
# make docs : the documentation site, docs/_build/html/index.html
# make package : build both distributions into dist/, check them, install the wheel into an empty environment and use it
# make oldest : all quick tests with the oldest versions of the dependencies that are allowed
# make test : set up, then lint, types, the site, all tests (those of the DoWhy bridge in an environment of their own), committed results
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EXTRAS := dev,docs,neural,baselines,ci-tests,distributed
DOWHY  ?= .venv-dowhy
DOCS   ?= .venv-docs
PACKAGE ?= .venv-package
OLDEST ?= .venv-oldest
# What the tests of the oldest versions leave out: pages (their numbers are those of the newest versions) and browsers.
OLDEST_LEFT_OUT := --ignore tests/browser --ignore tests/packaging --ignore tests/site --ignore tests/test_docs.py --ignore tests/test_worked_examples.py

export OMP_NUM_THREADS      ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test lint types tests check-docs docs docs-dev docs-quick dowhy package release-check oldest setup setup-dev clean

demo: setup
	$(BIN)/heterodag demo --out heterodag-demo

# What needs one core runs side by side; the tests then have both.
test: setup-dev
	$(MAKE) --no-print-directory --output-sync=target -j 2 lint types docs-dev $(DOWHY)/.installed
	$(MAKE) --no-print-directory tests check-docs dowhy

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

# The site, offline, in a small environment of its own; a warning is an error.
SPHINX := -W --keep-going -q -j 2 -b html -d docs/_build/doctrees docs docs/_build/html

docs: $(DOCS)/.installed
	$(DOCS)/bin/sphinx-build $(SPHINX)
	@echo "The site: docs/_build/html/index.html"

# The same for the tests, in their environment. It runs the examples once; the tests then read what the notebooks hold.
docs-dev: setup-dev
	$(BIN)/sphinx-build $(SPHINX)

# Without running the examples: quick, for those who write pages.
docs-quick: setup-dev
	$(BIN)/sphinx-build -D plot_gallery=0 $(SPHINX)

# DoWhy caps SciPy below the newest: the same tests show that the package runs with that SciPy too.
dowhy: $(DOWHY)/.installed
	$(DOWHY)/bin/python -c "import dowhy, scipy; print('DoWhy', dowhy.__version__, 'with SciPy', scipy.__version__)"
	$(DOWHY)/bin/python -m pytest -n 2 -q tests/scm tests/core

package: $(PACKAGE)/.installed
	rm -rf dist
	$(PACKAGE)/bin/python -m build --outdir dist .
	$(PACKAGE)/bin/twine check --strict dist/*
	$(PACKAGE)/bin/python -m pytest -q -s tests/packaging/check_package.py

# What must hold of a release beyond that: its addresses, the changelog, the tag.
release-check: $(PACKAGE)/.installed
	$(PACKAGE)/bin/python -m pytest -q tests/packaging/check_release.py

oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -n 2 -q -m "not slow" $(OLDEST_LEFT_OUT)

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

$(DOCS)/.installed: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

$(PACKAGE)/.installed: tests/packaging/requirements.txt
	$(PYTHON) -m venv $(PACKAGE)
	$(PACKAGE)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

# Wheels of the oldest versions exist for Python 3.11 only. Without torch: builds for processors alone are not on PyPI.
$(OLDEST)/.installed: pyproject.toml constraints-oldest.txt
	python3.11 -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt \
		-e ".[dowhy,distributed,ci-tests,parquet,excel]" pytest pytest-xdist hypothesis polars
	touch $@

clean:
	rm -rf $(VENV) $(DOWHY) $(DOCS) $(PACKAGE) $(OLDEST) dist docs/_build docs/api/generated docs/gallery docs/sg_execution_times.rst heterodag-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
