# Two commands for a fresh machine: `make demo` and `make test`. Both need only Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
# One more than there are cores: tests of Spark and of other processes wait for half of their time.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

SECONDS ?= 600
SEED ?= 1
CASES ?= 4000
PAIRS ?= 200

# Tests and measurements start Python some hundred times: modules become bytecode once, whatever the caller has set.
unexport PYTHONDONTWRITEBYTECODE

# A quick part of the suite, for environments that are made to try something: old versions, another Python.
QUICK ?= $(addprefix tests/test_,api.py engine_cases.py source_frames.py source_kinds.py time_zones.py \
	drawing.py cli_output.py views_sql.py views_duckdb.py backtest_report.py decimals.py)

.PHONY: demo docs test test-all test-every test-mutants fuzz cliffs test-rapids test-timed test-kernels test-lowest test-wheel bench
.PHONY: lint warm tools format clean

demo: $(VENV)/.ready-demo
	$(BIN)/cer demo

# `--dist loadgroup` keeps the tests of Spark in one process, which holds the only JVM. `tests/tiers.py` has the order.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder

# One case of each kind, and a sixth of the random ones. mypy has one thread, and kernels compile meanwhile.
test: $(VENV)/.ready-test
	$(MAKE) --jobs=2 lint tools
	$(PYTEST)

# What continuous integration runs: a third of the random cases, every kernel compiled, and the documentation.
test-all: $(VENV)/.ready-test
	$(MAKE) --jobs=2 lint tools
	$(PYTEST) --all
	$(MAKE) docs

# Every case that there is, which takes hours: before a release.
test-every: $(VENV)/.ready-test
	$(MAKE) tools
	$(PYTEST) --every

# Spark needs Java, and reports are looked at by Chromium: where they are missing, this says what to install, and
# installs them on Debian as root.
# Kernels are compiled and kept before anything is run in parallel, or timed.
tools: warm
	$(BIN)/python -m cer_gpu.spark.java --install
	$(BIN)/python tests/browser.py --install

warm: $(VENV)/.ready-test
	$(BIN)/cer warm --all

# Random queries of every kind against the reference semantics: `make fuzz SECONDS=3600 SEED=7`, or, for as many
# turns as there is time for, `make fuzz FUZZ=--quick`.
fuzz: warm
	$(BIN)/python tests/fuzz.py --seconds $(SECONDS) --seed $(SEED) $(FUZZ)

# Random questions in forms that mean the same, timed against each other: `make cliffs PAIRS=1000 SEED=7`.
cliffs: warm
	$(BIN)/python tests/cliffs.py --pairs $(PAIRS) --seed $(SEED)

# What the RAPIDS Accelerator says of our plans; it needs no GPU. Maven fetches its jar, about 1 GB.
test-rapids: $(VENV)/.ready-test
	$(BIN)/python -m cer_gpu.spark.java --install
	@command -v mvn > /dev/null || { echo "Maven fetches the RAPIDS jar; install it (apt-get install maven)" >&2; exit 1; }
	artifact=$$($(BIN)/python -c 'from cer_gpu.spark.settings import RAPIDS_PACKAGE; print(RAPIDS_PACKAGE)') \
		&& mvn --batch-mode --quiet dependency:copy -Dartifact=$$artifact -DoutputDirectory=$(abspath $(VENV))/rapids
	RAPIDS_JAR=$$(ls -t $(abspath $(VENV))/rapids/*.jar | head -n 1) $(BIN)/python -m pytest -m rapids tests/test_spark_rapids.py

# Random timed automata, formulas and queries, more of them than the suite has time for: about four minutes.
test-timed: $(VENV)/.ready-test
	$(BIN)/python tests/timed_campaign.py
	$(BIN)/python tests/timed_cases.py --cases $(CASES)

# Every kernel of devices, compiled for two architectures without a GPU: two and a half minutes of a processor.
test-kernels: $(VENV)/.ready-test
	$(PYTEST) --all tests/test_cuda_compile.py

# Faults that are planted in a copy of the package, each of which a test of `make test` has to catch; a part of them:
# `make test-mutants ONLY=loop` (the tables are in `tests/faults`).
test-mutants: warm
	$(BIN)/python tests/mutants.py $(ONLY)

# The quick part with the lowest versions that pyproject.toml allows, in an environment of its own.
test-lowest: $(UV)
	$(UV) venv --quiet --clear --python $(BIN)/python $(VENV)/lowest
	$(UV) pip install --quiet --python $(VENV)/lowest/bin/python --resolution lowest-direct --editable '.[test,demo]'
	$(VENV)/lowest/bin/python -m pytest $(QUICK)

# The quick part and the demo from the built wheel, and the types as mypy and pyright read them from outside; with
# another Python: `make test-wheel PYTHON=python3.13`. No file of the checkout but the tests is in reach.
test-wheel: $(UV)
	rm -rf $(VENV)/wheel && mkdir -p $(VENV)/wheel/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build --outdir $(VENV)/wheel/dist .
	$(UV) venv --quiet --python $(PYTHON) $(VENV)/wheel/env
	$(UV) pip install --quiet --python $(VENV)/wheel/env/bin/python "$$(ls $(VENV)/wheel/dist/*.whl)[test,demo]" pyright
	cp -r tests pyproject.toml $(VENV)/wheel/run
	cd $(VENV)/wheel/run && ../env/bin/python -m pytest $(QUICK) && ../env/bin/cer demo
	cd $(VENV)/wheel/run/tests/typed && ../../../env/bin/python -m mypy --strict --config-file= \
		--disable-error-code=import-untyped program.py
	cd $(VENV)/wheel/run/tests/typed && ../../../env/bin/pyright --pythonpath ../../../env/bin/python program.py

bench: $(VENV)/.ready-bench
	$(BIN)/cer warm --all
	$(BIN)/python -m bench

lint: $(VENV)/.ready-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy cer_gpu kernels spark_plugin

format: $(VENV)/.ready-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The documentation as a site: open `site/index.html`, which needs no server. A link that leads nowhere, or any other
# warning, ends it.
docs: $(VENV)/.ready-docs
	$(BIN)/zensical build --clean --strict

# The environment is made once and brought up to date when pyproject.toml changes.
$(VENV)/.ready-demo: EXTRAS = demo
$(VENV)/.ready-test: EXTRAS = test,demo,docs
$(VENV)/.ready-bench: EXTRAS = bench
$(VENV)/.ready-docs: EXTRAS = docs
$(VENV)/.ready-demo $(VENV)/.ready-test $(VENV)/.ready-bench $(VENV)/.ready-docs: pyproject.toml | $(UV)
	$(UV) pip install --quiet --python $(BIN)/python --editable '.[$(EXTRAS)]'
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name it: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(UV): | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
