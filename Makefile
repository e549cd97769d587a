# One environment for everything: `make demo` and `make test` create it where it is not there yet.
# Another interpreter: make PYTHON=python3.12 demo. Another place: make VENV=/somewhere demo.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Tests start the program hundreds of times: what Python has compiled is kept, whatever the shell around says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo quick test check faults attack fuzz browser readers format docs wheel clean

demo: $(INSTALLED)
	@mkdir -p build
	$(BIN)/demosaic-ntc demo build/demo.png

# The loop for every day: what is quick of mathematics, pictures and files, and the laws of the house.
quick: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q --numprocesses auto -m "not slow and not load and not data" \
	  tests/ntc tests/engine tests/demosaicing tests/inpainting tests/detection tests/io tests/images tests/raw \
	  tests/developing tests/workflows tests/test_layers.py tests/test_lengths.py

# As many tests at a time as there are processors. What fails then is tried once more, alone: only what fails again ends
# the run. A test that is named as failed above and passes below hangs on the load of the machine, and wants mending.
# Each is a process of its own: threads of linear algebra would only wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -rs
TEST = $(PYTEST) --numprocesses auto --dist worksteal || \
  { [ $$? = 1 ] && echo "what failed, once more and alone:" && $(PYTEST) --last-failed --last-failed-no-failures none; }

# Nothing is installed besides the environment: tests that need other programs are skipped and say which.
test: $(INSTALLED)
	$(TEST)

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(TEST)

# What takes too long for every day: 40 kills, 500 mutants of each sample, hundreds of files.
faults: $(INSTALLED)
	$(BIN)/python -m pytest -q -m load tests/faults

# Mutants of files and options for some minutes: make attack MINUTES=5 SEED=1 JOBS=1. A finding ends in its seed.
MINUTES ?= 30
SEED ?=
JOBS ?=
attack: $(INSTALLED)
	$(BIN)/python -m tests.faults.attack --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS))

# Our own parsers under bytes chosen by coverage, SECONDS each; needs `pip install atheris`.
SECONDS ?= 60
fuzz: $(INSTALLED)
	for parser in tags opcodes png jpeg npz answers; do \
	  $(BIN)/python -m tests.faults.fuzz $$parser -max_total_time=$(SECONDS) -verbosity=0 || exit 1; done

# The tests of pages need a Chromium and are skipped without one. This never fails, and gives up after three minutes.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing a Chromium for the tests of pages" && \
	    timeout 180 sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium' >/dev/null 2>&1; } || \
	  echo "there is no Chromium: the tests of pages will be skipped"

# The tests of DNGs have them opened by other programs and are skipped without these. This never fails, and gives up
# after two minutes.
readers:
	@{ command -v rawtherapee-cli && command -v darktable-cli && command -v exiftool; } >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing raw converters for the tests of DNGs" && \
	    timeout 120 sh -c 'apt-get update && apt-get install -y --no-install-recommends rawtherapee darktable libimage-exiftool-perl' >/dev/null 2>&1; } || \
	  echo "not all of RawTherapee, darktable and ExifTool are there: their tests of DNGs will be skipped"

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The pages of docs/ as a site in build/docs; a link that leads nowhere ends it.
docs: $(INSTALLED)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs
	@echo "build/docs/README.html"

# Setuptools copies whatever an earlier build left in build/lib. Compiled kernels are in the wheel alone: a checkout has
# none, and compiles them for its own processor.
SHIPPED := demosaic_ntc/jit/shipped_kernels
wheel: $(INSTALLED)
	rm -rf dist build/lib build/bdist.* $(SHIPPED)
	trap 'rm -rf $(SHIPPED) build/lib' EXIT INT TERM; \
	  $(BIN)/python -m demosaic_ntc.jit.build_aot && $(BIN)/python -m build --sdist --wheel .

clean:
	find demosaic_ntc tests -name '*.nb[ic]' -delete
	rm -rf $(VENV) $(SHIPPED) dist build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "demosaic-ntc needs Python 3.11 or newer; name one, such as: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "$(PYTHON) cannot make environments; install its venv package (python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(INSTALLED)
