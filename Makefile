# One entrance. `make` prints what there is.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help
help: ## Print this help
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Use
.PHONY: demo up down
demo: setup ## Bring everything up, ingest the example documents, ask three questions
	@$(BIN)/attest demo
up: setup ## Start the local stack
	@$(BIN)/attest up
down: setup ## Stop the local stack
	@$(BIN)/attest down

##@ Set up
$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else "Attest needs Python 3.11, 3.12 or 3.13; this is %d.%d. Name another: make PYTHON=python3.12 …" % v)'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "This Python cannot make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }

$(VENV)/.local: requirements/local.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked packages (about 300 MB the first time) …" >&2
	@$(PIP) install --require-hashes --no-deps -r requirements/local.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.local
	@echo "Installing the locked development packages …" >&2
	@$(PIP) install --require-hashes --no-deps -r requirements/dev.lock
	@touch $@

.PHONY: setup setup-dev lock
setup: $(VENV)/.local ## Install what the local stack needs into .venv
setup-dev: $(VENV)/.dev ## Install what development needs into .venv
UV_COMPILE = $(BIN)/uv pip compile --quiet pyproject.toml --extra local --group build --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock"
lock: ## Resolve the lock files anew
	@test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(PIP) install "uv>=0.13"; }
	@$(UV_COMPILE) -o requirements/local.lock
	@$(UV_COMPILE) --group dev -c requirements/local.lock -o requirements/dev.lock

##@ Measure
.PHONY: eval eval-quick
eval: setup-dev ## Measure quality on every question set, for hours; DATA=folder measures a set or sets of your own
	@$(BIN)/python -m evals run $(if $(DATA),"$(DATA)",--out docs) $(EVAL)
eval-quick: setup-dev ## Measure quality on a fixed sample, in minutes, against evals/gates.toml
	@$(BIN)/python -m evals quick $(EVAL)

.PHONY: bench bench-peers lock-peers
bench: setup-dev ## Measure speed beside its floors, in interleaved rounds; LINES="search embed-chunks" chooses
	@mkdir -p build && $(BIN)/python -m bench $(LINES) --json build/bench.json
bench-peers: setup-dev build/peers/.done ## Measure search beside LangChain and LlamaIndex (installs them into build/peers)
	@mkdir -p build && $(BIN)/python -m bench peers store-peers --json build/bench-peers.json
build/peers/.done: bench/peers/requirements.lock
	@mkdir -p build && $(PYTHON) -m venv build/peers
	@build/peers/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r $<
	@touch $@
lock-peers: setup-dev ## Resolve the peers of the bench anew
	@$(BIN)/uv pip compile --quiet bench/peers/requirements.in --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --custom-compile-command "make lock-peers" -o bench/peers/requirements.lock

##@ Develop
GEN := protos/gen

.PHONY: test check format generate check-generate lint-protos docs check-docs pdfs freeze check-migrations
WORKERS ?= 2
test: setup-dev ## Run all tests, on ports and a home of their own, in WORKERS processes
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

.PHONY: chaos
chaos: setup-dev ## Kill parts and supervisor of a stack at thirty random moments; CHAOS_SEED repeats a run
	@CHAOS_ROUNDS=30 $(BIN)/python -m pytest -q tests/stack/test_chaos.py

check: check-generate lint-protos check-docs check-migrations ## Everything that CI checks beside the tests
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports .importlinter >build/lint-imports.log || { cat build/lint-imports.log; exit 1; }
	@$(BIN)/python -m evals quick
	@echo "check: ok"

format: setup-dev ## Format code and protos
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix . && $(BIN)/buf format -w

generate: setup-dev ## Make the Python stubs and the gateway's descriptor from protos/
	@scripts/generate.sh $(GEN)

check-generate: setup-dev
	@mkdir -p build && rm -rf build/gen && scripts/generate.sh build/gen
	@diff -r -x __pycache__ -x '*.egg-info' $(GEN) build/gen >build/generate.diff \
		|| { cat build/generate.diff; echo "The stubs are stale: run 'make generate' and commit." >&2; exit 1; }

docs: setup-dev ## Make the generated pages of docs/
	@$(BIN)/python scripts/docs.py
	@$(BIN)/python scripts/docs.py schema

pdfs: setup-dev ## Make the PDFs of examples/handbook-pdf/ from their sources
	@$(BIN)/python scripts/build_pdfs.py

freeze: setup-dev ## Freeze new migrations: from then on they are never changed
	@$(BIN)/python scripts/migrations.py

check-migrations: setup-dev
	@$(BIN)/python scripts/migrations.py --check

.PHONY: verify-gateway verify-gateway-broken
verify-gateway: setup-dev ## Prove each line of the gateway, one line of output for each check
	@gateway/verify.sh
verify-gateway-broken: setup-dev ## Break each of those lines in a copy and see its check fail (minutes)
	@gateway/verify.sh --broken

check-docs: setup-dev
	@$(BIN)/python scripts/docs.py --check

lint-protos: setup-dev
	@mkdir -p build && scripts/protoc.sh --include_source_info --descriptor_set_out=build/lint.binpb
	@$(BIN)/buf lint build/lint.binpb --config buf.yaml
	@$(BIN)/buf format --diff --exit-code
