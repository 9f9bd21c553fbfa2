# One line each; longer steps are in scripts/. CI runs `make test`.
# Part of the suite: make test ARGS="tests/core -x". Without a C compiler: PENSTOCK_PURE=1 make test.

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
SEEDS ?= 20000
SEED ?=

.PHONY: setup setup-dev demo run bench test slow sim mutants lint types fmt fuzz screenshots docs pages build lock clean

setup:  ## create .venv with the compiled package and what it needs, Spark included; fast if nothing changed
	@$(PYTHON) -m scripts.setup

setup-dev:  ## setup, and what only tests, checks, docs and benchmarks need; the targets below that need it run it first
	@$(PYTHON) -m scripts.setup --dev

demo: setup  ## run the demo: all five protocols, then Spark
	@$(BIN)/python examples/demo.py $(ARGS)

run: setup  ## run a broker on the default ports
	@$(BIN)/penstock serve $(ARGS)

bench: setup-dev  ## measure throughput and latency beside other brokers
	@$(BIN)/python -m bench $(ARGS)

test: lint types  ## run everything: lint, types, the suite compiled and interpreted, and parts of it on another Python release
	@scripts/suite all $(ARGS)

slow: setup-dev  ## run the tests that take minutes: 20 rounds of killing Spark, declarative pipelines
	@scripts/suite compiled -m slow tests/spark $(ARGS)

sim: setup  ## simulate crashes and faults: make sim SEEDS=100000; repeat one run: make sim SEED=4711
	@$(BIN)/python -m tests.sim $(if $(SEED),--seed $(SEED),--seeds $(SEEDS)) $(ARGS)

mutants: setup-dev  ## change the code in 200 small ways and count how many a test catches; ARGS="--count 50 --seed 2"
	@$(BIN)/python -m scripts.mutants $(ARGS)

lint: setup-dev  ## check style, common mistakes, and known vulnerabilities of the dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src
	@$(BIN)/python -m scripts.audit

types: setup-dev
	@$(BIN)/mypy setup.py scripts src $(wildcard tests bench examples fuzz)

fmt: setup-dev
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

fuzz: setup  ## fuzz the sessions: make fuzz ARGS="rq 300"
	@scripts/fuzz $(ARGS)

screenshots: setup-dev  ## take the screenshots of the docs again, in Chromium
	@PENSTOCK_SCREENSHOTS=1 scripts/suite compiled tests/browser -k "picture or access" -q

docs: setup-dev  ## build the documentation site in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pages: setup  ## regenerate the reference pages and the man page
	@$(BIN)/python -m scripts.pages

build:  ## build wheel and sdist in dist/
	@$(PYTHON) -m scripts.setup --dist dist

lock:  ## pin the dependencies; make lock ARGS=--upgrade takes the newest versions
	@scripts/lock $(ARGS)

clean:
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
