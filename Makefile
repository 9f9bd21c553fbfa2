# One line each; what takes more is in scripts/. `make test` is what CI runs.
# A part of the suite: make test ARGS="tests/core -x". Without a C compiler: PENSTOCK_PURE=1 make test.

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
SEEDS ?= 20000
SEED ?=

.PHONY: setup demo run bench test slow sim mutants lint types fmt fuzz screenshots docs pages build lock clean

setup:  ## .venv with the locked dependencies and the compiled package; quick when nothing changed
	@$(PYTHON) -m scripts.setup

demo: setup  ## see it work
	@$(BIN)/python examples/demo.py $(ARGS)

run: setup  ## the server, on its default ports
	@$(BIN)/penstock serve $(ARGS)

bench: setup  ## how fast it is, beside its peers
	@$(BIN)/python -m bench $(ARGS)

test: lint types  ## everything: lint, types, the suite compiled, interpreted, and in part with another release of Python
	@scripts/suite all $(ARGS)

slow: setup  ## what takes minutes and is left out of `make test`: 20 rounds of killing Spark, its declarative pipelines
	@scripts/suite compiled -m slow tests/spark $(ARGS)

sim: setup  ## crashes and faults by seed: make sim SEEDS=100000, or one run again: make sim SEED=4711
	@$(BIN)/python -m tests.sim $(if $(SEED),--seed $(SEED),--seeds $(SEEDS)) $(ARGS)

mutants: setup  ## changes the broker in 200 small ways and looks whether a test notices; ARGS="--count 50 --seed 2"
	@$(BIN)/python -m scripts.mutants $(ARGS)

lint: setup  ## style, mistakes, weaknesses of ours and known ones of the dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src
	@$(BIN)/python -m scripts.audit

types: setup
	@$(BIN)/mypy setup.py scripts src $(wildcard tests bench examples fuzz)

fmt: setup
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

fuzz: setup  ## looks for input that breaks a session; make fuzz ARGS="rq 300"
	@scripts/fuzz $(ARGS)

screenshots: setup  ## the pictures of the docs, taken anew in Chromium
	@PENSTOCK_SCREENSHOTS=1 scripts/suite compiled tests/browser -k "picture or access" -q

docs: setup  ## the pages as a site, into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pages: setup  ## what is made from the code: reference pages, the man page
	@$(BIN)/python -m scripts.pages

build:  ## wheel and sdist, into dist/
	@$(PYTHON) -m scripts.setup --dist dist

lock:  ## pins the dependencies; make lock ARGS=--upgrade takes the newest
	@scripts/lock $(ARGS)

clean:
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
