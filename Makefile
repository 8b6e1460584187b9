# `make run` and `make test` do all set-up themselves; the rest is for people who change the code.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test check bench crash fmt generate clean

run: $(READY)  ## show the main job on this repository
	@$(BIN)/threadline scan --all-authors
	@$(BIN)/threadline sessions
	@printf '%s\n' '' \
	  'Next:' \
	  '  $(BIN)/threadline sessions show      read the latest session' \
	  '  $(BIN)/threadline scan               later: import what was committed since' \
	  '  $(BIN)/threadline call               what an editor or an agent can ask; `call -` answers JSON Lines' \
	  '  $(BIN)/threadline --help             everything else'

check: $(READY)  ## format, lint, types, contracts, freshness, fast tests: under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q -n auto -m "not slow"

test: check  ## everything, also what needs real processes and time
	$(BIN)/pytest -q -n auto -m slow

crash: $(READY)  ## kill writers a thousand times
	THREADLINE_KILLS=1000 $(BIN)/pytest -q -n auto tests/crash

bench: $(READY)  ## measure against the budgets; DATA=folder replays real histories
	$(BIN)/python -m benchmarks.run $(if $(DATA),--data $(DATA))

fmt: $(READY)  ## format the code and mend what a linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(READY)  ## write protocol/schema.json and the TypeScript types anew
	$(BIN)/python tools/generate.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Threadline needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
