# The commands a newcomer types. `make help` lists them.

PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SITE ?= site
WORKERS ?= 2
ESLINT := npx --yes --fetch-retries=0 --fetch-timeout=20000 eslint@10.15.0

.PHONY: help setup run test test-long lint docs bench

help:
	@echo "make run       start the dashboard (make run PORT=8600 for another port)"
	@echo "make test      run all tests, those in a real browser too (make test ARGS='-k karate' for some)"
	@echo "make test-long all cases of the tests that take long, of which make test runs a twentieth"
	@echo "make lint      check style, formatting and types, and the JavaScript where node is there"
	@echo "make docs      make the API page from docstrings, in $(SITE)/"
	@echo "make bench     measure accuracy, faithfulness, speed, scale, load, prototypes, networks of PyG and flips (make bench ARGS=--quick for a small version)"
	@echo "make setup     make the environment in $(VENV); the others do it by themselves"

setup: $(READY)

# The stamp is younger than what it was made from, so a second `make setup` does nothing.
$(READY): requirements.txt requirements-dev.txt pyproject.toml setup.py
	@test -x $(BIN)/python || { \
	  for python in python3.11 python3; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; \
	    python=; \
	  done; \
	  test -n "$$python" || { echo "Python 3.11 or newer must be on the path (got $$(python3 --version 2>&1)); install it from https://www.python.org" >&2; exit 1; }; \
	  echo "making $(VENV) with $$($$python --version)"; \
	  $$python -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module must be there; on Debian: apt-get install python3-venv" >&2; exit 1; }; \
	}
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@touch $@

run: setup
	@$(BIN)/python -m dashboard run --port $(PORT)

# Browser tests watch the clock, so they run alone and after the others. pytest ends with 5 where ARGS chose no test.
test: setup
	@CHROMIUM="$$($(BIN)/python tests/browser/chromium.py)" && export CHROMIUM && \
	{ $(BIN)/python -m pytest -m "not browser and not cuda" -n $(WORKERS) --dist loadfile $(ARGS); others=$$?; } && \
	case $$others in 0|5) ;; *) exit $$others;; esac && \
	{ $(BIN)/python -m pytest -m browser $(ARGS); browser=$$?; } && \
	if [ $$browser -eq 5 ]; then exit $$others; else exit $$browser; fi

test-long: setup
	@CHROMIUM="$$($(BIN)/python tests/browser/chromium.py)" && export CHROMIUM && \
	  $(BIN)/python -m pytest -m "long and not cuda" --long --timeout 3600 $(ARGS)

# From standard input, because node takes a file with a broken `export` for a script and lets it pass.
lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@if ! command -v node >/dev/null; then echo "no node on the path: the JavaScript was not checked"; exit 0; fi; \
	for file in $$(find dashboard -name '*.js'); do \
	  node --input-type=module --check < $$file || { echo "the file must be a module without syntax errors (got $$file)" >&2; exit 1; }; \
	done; \
	if $(ESLINT) --version >/dev/null 2>&1; then $(ESLINT) dashboard; \
	else echo "no eslint from npm: of the JavaScript only the syntax was checked"; fi

# A docstring that cannot be read is an error.
docs: setup
	@$(BIN)/python -W error::UserWarning -m pdoc explainer_core --output-directory $(SITE)
	@echo "open $(SITE)/index.html"

bench: setup
	@for name in accuracy faithfulness speed scale page load prototypes any_network debug; do \
	  echo; echo "== $$name"; $(BIN)/python -m benchmarks.$$name $(ARGS) || exit 1; \
	done
