# Everything runs in a local environment that is made on first use. To keep it elsewhere
# or to use another interpreter: make test VENV=/some/dir PYTHON=python3.13

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Peers bring many packages of their own: they stay out of the main environment.
COMPARE_VENV ?= .venv-compare
COMPARE_BIN := $(COMPARE_VENV)/bin
COMPARE_PIP := $(COMPARE_BIN)/python -m pip --disable-pip-version-check --quiet
COMPARE_OPTIONS ?=

ENGINES := dask ray spark sail

NATIVE := CMakeLists.txt $(shell find native -type f)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-engines test-dask test-ray test-spark test-sail test-torch lint bench
.PHONY: bench-engines compare docs pictures reproduce calibrate clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.package  ## install, then run the demonstration
	$(BIN)/python examples/demo.py
	BIN=$(BIN) sh examples/demo.sh

# Two test processes on two cores: BLAS and finufft threads of their own would only fight.
test: lint  ## run the static checks, then the tests with coverage
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not calibration" --cov

# Each engine in an environment of its own. Workers import what tests/ shares.
ENGINE_TEST = FASTMMD_ENGINE=$(1) PYTHONPATH=$(CURDIR)/tests $(2) -m pytest tests/engines/$(1) \
	-o addopts=--import-mode=importlib -o filterwarnings=default -q

test-engines: test-dask test-ray test-spark test-sail  ## run the tests on Dask, Ray and Spark (Java 17)

test-dask: .venv-dask/.engine
	$(call ENGINE_TEST,dask,.venv-dask/bin/python)

test-ray: .venv-ray/.engine
	RAY_USAGE_STATS_ENABLED=0 $(call ENGINE_TEST,ray,.venv-ray/bin/python)

test-spark: .venv-spark/.engine java
	FASTMMD_SPARK=classic $(call ENGINE_TEST,spark,.venv-spark/bin/python)
	FASTMMD_SPARK=connect $(call ENGINE_TEST,spark,.venv-spark/bin/python)

test-sail: .venv-sail/.engine java
	FASTMMD_SPARK=sail $(call ENGINE_TEST,spark,.venv-sail/bin/python)
	FASTMMD_SPARK=classic $(call ENGINE_TEST,spark,.venv-sail/bin/python)

# The examples with PyTorch; without GPU libraries in this spelling.
test-torch: .venv-torch/.torch  ## run the tests of the examples in PyTorch
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-torch/bin/python -m pytest \
	  tests/docs/test_torch_examples.py tests/docs/test_console.py -k "torch or gpu" \
	  -o addopts=--import-mode=importlib -q

.PHONY: java
java:
	@java -version 2>&1 | grep -qE 'version "(1[7-9]|2[0-9])' || { \
	  echo "The tests on Spark need Java 17 or later: the command java is missing or older."; \
	  echo "On Debian: apt install openjdk-17-jre-headless"; exit 1; }

lint: $(VENV)/.dev  ## check style, types, imports and spelling
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

bench: $(VENV)/.bench  ## time the operations that matter
	$(BIN)/python -m pytest benchmarks/test_*.py --benchmark-only -p no:randomly

bench-engines: $(ENGINES:%=.venv-%/.engine) java  ## time the engines beside one process (half an hour)
	for engine in dask ray spark; do \
	  .venv-$$engine/bin/python benchmarks/engines.py $$engine --large $(if $(DATA),--data $(DATA)) || exit 1; \
	done
	$(BIN)/python docs/render_measurements.py

compare: $(COMPARE_VENV)/.compare  ## measure beside other libraries (hours; COMPARE_OPTIONS=--quick)
	PYTHONPATH=benchmarks $(COMPARE_BIN)/python -m compare $(COMPARE_OPTIONS)
	$(COMPARE_BIN)/python benchmarks/growth.py $(filter --quick,$(COMPARE_OPTIONS))
	$(COMPARE_BIN)/python benchmarks/startup.py $(filter --quick,$(COMPARE_OPTIONS))
	$(COMPARE_BIN)/python docs/render_measurements.py

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# PICTURES="circle bins" for some of them.
pictures: $(VENV)/.docs  ## draw the pictures of the documentation again (minutes)
	$(BIN)/python docs/pictures/draw.py $(PICTURES)

# Pictures and verdicts of the documentation. REPRODUCE=approximation for one of them.
REPRODUCE ?= all
reproduce: $(VENV)/.package  ## compute the paper's figures again (10 minutes; REPRODUCE="all --quick")
	$(BIN)/fastmmd reproduce $(REPRODUCE) --out docs/reproduced

calibrate: $(VENV)/.dev  ## check levels and powers by simulation (slow)
	$(BIN)/python calibration/run.py

clean:  ## remove the environment and everything that was built
	rm -rf $(VENV) $(COMPARE_VENV) $(ENGINES:%=.venv-%) .venv-torch build dist docs/_build docs/reference/generated
	rm -rf .coverage .benchmarks .hypothesis .import_linter_cache
	rm -rf .mypy_cache .pytest_cache .ruff_cache

# The install is editable: Python changes need nothing, native changes a new build. Modules
# are compiled when they are imported: most of what SciPy and PyArrow bring never is.
$(VENV)/.package: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --no-compile --editable ".[experiments]"
	touch $@

# The pip that Python brings may not know groups.
$(VENV)/.pip: $(VENV)/.package
	$(PIP) install --upgrade "pip>=25.1"
	touch $@

$(VENV)/.dev: $(VENV)/.pip
	$(PIP) install --group dev
	touch $@

# Sail is a Spark of its own: the extra is that of Spark.
.venv-%/.engine: pyproject.toml $(NATIVE)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade "pip>=25.1"
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install \
	  --editable ".[$(if $(filter sail,$*),spark,$*)]" --group engine-$*
	touch $@

.venv-torch/.torch: pyproject.toml $(NATIVE)
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade "pip>=25.1"
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --editable ".[cli]" "pytest>=9"
	$(@D)/bin/python -m pip --disable-pip-version-check --quiet install torch==2.13.0
	touch $@

$(VENV)/.bench: $(VENV)/.pip
	$(PIP) install --group bench
	touch $@

$(VENV)/.docs: $(VENV)/.pip
	$(PIP) install --group docs
	touch $@

# A peer that does not install is reported as absent, so its failure stops nothing. PyTorch
# has a line of its own: in this spelling it comes without the libraries for GPUs.
$(COMPARE_VENV)/.compare: pyproject.toml $(NATIVE)
	test -x $(COMPARE_BIN)/python || $(PYTHON) -m venv $(COMPARE_VENV)
	$(COMPARE_PIP) install --upgrade "pip>=25.1"
	$(COMPARE_PIP) install --editable ".[grid]"
	-$(COMPARE_PIP) install --group compare
	-$(COMPARE_PIP) install torch==2.13.0
	touch $@
