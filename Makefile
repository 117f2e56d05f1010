PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
ADDRESS ?= 127.0.0.1:8765
CONSOLE ?= 127.0.0.1:8787
# A test that hangs ends the run after five minutes and shows where; so does a process that dies, which xdist waits for.
NO_WAITING := -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true --max-worker-restart=0

# Where the environment forbids bytecode, every process that a test starts would compile all of headgate anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint types unit million hundred-thousand redemptions killings chaos separation hostile matrix upstreams tokens screenshots bench bench-large instructions instructions-record lock clean soak million-requests collected

demo: $(VENV)/.installed  ## serve the built-in demo over HTTP, with agents supervised, and the console
	@$(BIN)/headgate serve --http $(ADDRESS) --console $(CONSOLE) --safety-loop enforcing

test: $(VENV)/.developing  ## every check: lint, types, tests with coverage
	@$(MAKE) --no-print-directory --jobs=2 lint types collected
	@$(MAKE) --no-print-directory unit

lint: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developing
	$(BIN)/mypy

# mypy leaves a core idle. It compiles the tests, which both processes of `unit` would otherwise do at the same time.
collected: $(VENV)/.developing
	@$(BIN)/pytest --collect-only -qq >$(VENV)/collected.txt || { cat $(VENV)/collected.txt; exit 1; }

unit: $(VENV)/.developing
	$(BIN)/pytest --numprocesses=2 --dist=loadgroup $(NO_WAITING) --cov --cov-report=term-missing:skip-covered

million: $(VENV)/.developing  ## the property test with 1,000,000 requests
	HEADGATE_CASES=1000000 $(BIN)/pytest tests/engine/test_properties.py -k as_many_requests -s

hundred-thousand: $(VENV)/.developing  ## 100,000 random queries on each database, compared with the in-memory evaluator
	HEADGATE_SQL_CASES=100000 $(BIN)/pytest tests/sources/sql/test_same_answers.py -k as_many_queries -s

redemptions: $(VENV)/.developing  ## 200 uses of one token at once from 4 processes, 1,000 times on each store
	HEADGATE_REDEMPTIONS=1000 $(BIN)/pytest tests/safety_processes/test_redemptions.py -s

separation: $(VENV)/.developing  ## every byte that leaves a server during 1,000 challenges, searched for codes
	HEADGATE_CHALLENGES=1000 $(BIN)/pytest tests/hostile/test_channel_separation.py

soak: $(VENV)/.developing  ## a server under a mixed load for 30 minutes: no unexpected answer, memory and handles flat
	HEADGATE_SOAK_SECONDS=$${HEADGATE_SOAK_SECONDS:-1800} $(BIN)/pytest tests/soak/test_soak.py -s -o faulthandler_timeout=0

hostile: $(VENV)/.developing  ## hostile agents against everything that holds them up, and the table of what held
	$(BIN)/python -m tests.hostile.table

matrix: $(VENV)/.developing  ## the faulty server, one fault at a time, and which check finds it
	$(BIN)/python -m tests.conformance.matrix

upstreams: $(VENV)/.developing  ## servers of others: every call directly and through headgate, and what their tools are taken for
	$(BIN)/pytest tests/upstreams

tokens: $(VENV)/.developing  ## the figures and charts of docs/tokens.md, counted anew
	$(BIN)/python -m tests.tokens_page --write

screenshots: $(VENV)/.developing  ## pictures of the console for its page, taken in a real browser
	$(BIN)/python -m tests.browser.screenshots

killings: $(VENV)/.developing  ## kill -9 of a server amid 1,000 confirmed operations, 50 times on each store
	HEADGATE_KILLINGS=50 $(BIN)/pytest tests/safety_processes/test_killings.py -s

chaos: $(VENV)/.developing  ## 2,000 executions on 4 servers and 4 workers, while they and the database are killed
	HEADGATE_CHAOS=2000 $(BIN)/pytest tests/executions_processes/test_chaos.py tests/executions_processes/test_cancelling.py -s

bench: .venv-bench/.installed  ## ratios to the bare SDK, to FastMCP, to procrastinate, to bare drivers and to Datasette
	.venv-bench/bin/python -m benchmarks

bench-large: .venv-bench/.installed  ## the databases alone, with 1,000,000 and with 10,000,000 rows
	.venv-bench/bin/python -m benchmarks databases --rows 1000000 10000000

instructions: $(VENV)/.developing  ## the instructions of the hot path, beside what was recorded (needs valgrind)
	$(BIN)/python -m benchmarks.instructions

instructions-record: $(VENV)/.developing  ## the same, kept as what the suite compares with
	$(BIN)/python -m benchmarks.instructions --record

million-requests: .venv-bench/.installed  ## memory of a server over 1,000,000 requests, beside its peers
	.venv-bench/bin/python -m benchmarks endurance --anyway

.venv-bench/.installed: pyproject.toml constraints.txt benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip --disable-pip-version-check --quiet --quiet install --constraint constraints.txt --requirement benchmarks/requirements.txt --editable .
	@touch $@

lock: $(VENV)/.developing  ## write the versions that are installed now into constraints.txt
	$(BIN)/python -m pip freeze --all --exclude-editable | grep -v '^setuptools==' > constraints.txt

clean:
	rm -rf $(VENV) .venv-bench .mypy_cache .pytest_cache .ruff_cache .coverage* dist build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing headgate into $(VENV)"
	@$(PIP) install --constraint constraints.txt --upgrade pip
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.installed
	@echo "installing what the checks need into $(VENV)"
	@$(PIP) install --constraint constraints.txt --group dev
	@touch $@
