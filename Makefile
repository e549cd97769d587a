# One environment for everything: `make demo` and `make test` create it where it is not there yet.
# Another interpreter: make PYTHON=python3.12 demo. Another place: make VENV=/somewhere demo.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test check faults browser format kernels wheel clean

demo: $(INSTALLED)
	@mkdir -p build
	$(BIN)/demosaic-ntc demo build/demo.png

test: $(INSTALLED) browser
	$(BIN)/python -m pytest -q

check: $(INSTALLED) kernels browser
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q

# What takes too long for every day: 20 kills, 500 mutants of each sample, hundreds of files.
faults: $(INSTALLED)
	$(BIN)/python -m pytest -q -m load tests/faults

# The tests of pages need a Chromium and are skipped without one. This never fails, and gives up after three minutes.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing a Chromium for the tests of pages" && \
	    timeout 180 sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium' >/dev/null 2>&1; } || \
	  echo "there is no Chromium: the tests of pages will be skipped"

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# A kernel's cache is renewed when its own file changes, not when a kernel that it calls does.
kernels:
	find demosaic_ntc -name '*.nb[ic]' -delete

# Setuptools copies whatever an earlier build left in build/lib.
wheel: $(INSTALLED)
	rm -rf dist build/lib build/bdist.*
	$(BIN)/python -m build --sdist --wheel .

clean: kernels
	rm -rf $(VENV) dist build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "demosaic-ntc needs Python 3.11 or newer; name one, such as: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "$(PYTHON) cannot make environments; install its venv package (python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(INSTALLED)
