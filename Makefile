# One environment for everything; `make demo` and `make test` create it when it is not there.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test check format wheel clean

demo: $(INSTALLED)
	$(BIN)/demosaic-ntc demo

test: $(INSTALLED)
	$(BIN)/python -m pytest -q

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: $(INSTALLED)
	rm -rf dist build
	$(BIN)/python -m build --wheel --sdist .

clean:
	rm -rf $(VENV) dist build *.egg-info .mypy_cache .ruff_cache .pytest_cache

$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "demosaic-ntc needs Python 3.11 or newer; run make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(INSTALLED)
