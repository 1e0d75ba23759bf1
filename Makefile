# `make help` lists what there is. Nothing here needs root but the system packages of `make test`.

PYTHON ?=
HOST ?= 127.0.0.1
PORT ?= 8000
# Pages are tested in a browser and on two databases: two workers keep two cores busy.
WORKERS ?= 2
TESTS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The lock names every package, extras included, so pip has nothing to resolve: left to it, a newer release of one package
# is enough for an older pip to refuse the lock.
UV_COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --python $(BIN)/python --universal --python-version 3.11 \
	--generate-hashes --no-strip-extras --no-emit-index-url --custom-compile-command "make lock" --extra postgres --extra tokenizers

.DEFAULT_GOAL := help
.PHONY: help setup run test lint format bench accuracy coverage lock clean
# A recipe that fails leaves no stamp behind.
.DELETE_ON_ERROR:

help: ## Lists these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Prepares .venv with all that serving needs

run: setup ## Serves on 127.0.0.1:8000 (HOST=…, PORT=…)
	@exec $(BIN)/tuneledger serve --host $(HOST) --port $(PORT)

test: $(VENV)/.ready-for-tests lint ## Runs all tests (TESTS="tests/web -k sign" for some)
	@sh tests/system_packages.sh
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(TESTS)

lint: $(VENV)/.ready-for-tests ## Checks types, style, templates and the direction of imports
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/djlint --quiet --lint templates

format: $(VENV)/.ready-for-tests ## Mends what ruff can mend
	$(BIN)/ruff check --fix

bench: $(VENV)/.ready-for-tests ## Times the product against a bare floor
	$(BIN)/python -m tests.benchmarks

accuracy: $(VENV)/.ready-for-tests ## Scores the estimator on measured runs
	$(BIN)/python -m tests.accuracy

coverage: $(VENV)/.ready-for-tests ## Runs the estimator's tests; fails below all of its branches
	$(BIN)/python -m pytest -n $(WORKERS) tests/estimator --cov=app/estimator --cov-branch --cov-fail-under=100

lock: $(VENV)/.ready-for-tests ## Brings requirements/ and package-lock.json up to date with pyproject.toml and package.json
	$(UV_COMPILE) --upgrade --output-file requirements/run.txt
	$(UV_COMPILE) --upgrade --extra test --constraint requirements/run.txt --output-file requirements/test.txt
	npm install --package-lock-only --ignore-scripts

clean: ## Removes what was built; data/ stays
	rm -rf $(VENV) static/vendor build dist test-results htmlcov .coverage
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find app migrations tests -name __pycache__ -type d -prune -exec rm -rf {} +

# --- The stamps: each says what its step depends on ---

$(BIN)/python:
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh requirements/make_venv.sh

$(VENV)/.ready: requirements/run.txt pyproject.toml hatch_build.py package-lock.json .npmrc | $(BIN)/python
	@echo "Installing what serving needs; this takes about a minute" >&2
	@$(PIP) install --require-hashes --no-deps --requirement requirements/run.txt
	@$(PIP) install --no-deps --editable .
	@touch $@

$(VENV)/.ready-for-tests: requirements/test.txt $(VENV)/.ready
	@echo "Installing what the tests need" >&2
	@$(PIP) install --require-hashes --no-deps --requirement requirements/test.txt
	@touch $@
