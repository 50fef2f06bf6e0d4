PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

MINUTES ?= 10
TIMES   ?= 10

.PHONY: demo test test-full chaos fuzz bench bench-report lint format clean

demo: $(STAMP)
	$(BIN)/python integration_tests/demo.py

test: lint
	$(BIN)/python -m pytest -m "not slow"

test-full: lint
	$(BIN)/python -m pytest

# What to measure: SCALE, FRACTIONS, GROWTH, REPEATS, THREADS, MODELS, SIDES; docs/benchmarks.md.
BENCH := $(foreach option,SCALE FRACTIONS GROWTH REPEATS THREADS MODELS SIDES,\
  $(if $($(option)),--$(shell echo $(option) | tr A-Z a-z) "$($(option))"))

bench: $(STAMP)
	$(BIN)/python -m benchmarks run $(BENCH)

bench-report: $(STAMP)
	$(BIN)/python -m benchmarks report $(RESULT)

# Kills, races and a soak, TIMES as much as in test-full; each prints what it did.
chaos: $(STAMP)
	$(BIN)/python -m pytest tests/chaos --times $(TIMES)

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz $(MINUTES)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
