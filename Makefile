# Everything a newcomer runs. `make` alone lists it.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
PYTEST ?=
BENCH ?=

.PHONY: help demo test lint types js py bench format clean chromium

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

demo: $(VENV)/.runtime ## start the portal with demonstration data (PORT, PORTAL_DATA_DIR); Ctrl-C stops it
	@exec $(PY) -m portal.demo

test: lint types js py ## lint, types and all tests, with the set-up they need

lint: $(VENV)/.development ## ruff: mistakes and formatting
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/.development ## mypy
	$(PY) -m mypy

js: $(VENV)/.development ## the tests of the JavaScript modules
	@node=$$(command -v node || ls $(VENV)/lib/python3*/site-packages/playwright/driver/node) && \
	echo "$$node --test tests/js/*.test.mjs" && "$$node" --test tests/js/*.test.mjs

py: $(VENV)/.development chromium ## the tests in Python: side by side, then those in a browser (PYTEST="-k words" for some)
	@$(PY) -m pytest -n auto -m "not browser" $(PYTEST); status=$$?; [ $$status = 0 ] || [ $$status = 5 ] || exit $$status; \
	$(PY) -m pytest -m browser $(PYTEST); browser=$$?; [ $$browser = 5 ] && exit $$status || exit $$browser

bench: $(VENV)/.runtime ## measure saving a label, the agreement report, an export, the search for concepts and the vocabulary; half an hour (BENCH="--json" for figures)
	@missed=0; for name in save_label agreement exports linking vocabulary; do $(PY) -m benchmarks.$$name $(filter --json,$(BENCH)) || missed=1; done; exit $$missed

format: $(VENV)/.development ## let ruff format and fix what it can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean: ## remove the environment and all caches; data stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: a stamp file says that a list of requirements is installed ------------------------------------------------

$(VENV)/.runtime: requirements.txt | $(VENV)/bin/pip
	@echo "Installing what the portal runs on; this takes a minute the first time."
	@$(PIP) install -r requirements.txt
	@touch $@

$(VENV)/.development: requirements.txt requirements-dev.txt | $(VENV)/bin/pip
	@echo "Installing what the tests need; this takes a minute the first time."
	@$(PIP) install -r requirements-dev.txt
	@touch $@ $(VENV)/.runtime

# pip comes last into an environment, so one that has it is whole.
$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "Python 3.11 or newer is needed; install it, or name one: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	echo "Python's venv module is missing; install it (on Debian and Ubuntu: apt install python3-venv) and run make again." >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)

chromium:
	@if [ -n "$$CHROMIUM" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null; then exit 0; fi; \
	as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	if command -v apt-get >/dev/null && { [ -z "$$as_root" ] || command -v sudo >/dev/null; }; then \
		echo "Installing Chromium for the browser tests."; \
		$$as_root apt-get update -qq && $$as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else \
		echo "The browser tests need Chromium: install it, or set CHROMIUM to the path of one." >&2; exit 1; \
	fi
