# The commands a newcomer types. `make help` lists them.

PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup run test lint bench

help:
	@echo "make run      start the dashboard (make run PORT=8600 for another port)"
	@echo "make test     run all tests, those in a real browser too (make test ARGS='-k karate' for some)"
	@echo "make lint     check style and formatting"
	@echo "make bench    measure accuracy, faithfulness, speed, scale and prototypes (make bench ARGS=--quick for a small version)"
	@echo "make setup    make the environment in $(VENV); the others do it by themselves"

setup: $(READY)

# The stamp is younger than what it was made from, so a second `make setup` does nothing.
$(READY): requirements.txt requirements-dev.txt pyproject.toml
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
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps -e .
	@touch $@

run: setup
	@$(BIN)/python -m streamlit run dashboard/server.py --server.port $(PORT)

test: setup
	@CHROMIUM="$$($(BIN)/python tests/browser/chromium.py)" && export CHROMIUM && \
	  $(BIN)/python -m pytest $(ARGS)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

bench: setup
	@for name in accuracy faithfulness speed scale page prototypes; do \
	  echo; echo "== $$name"; $(BIN)/python -m benchmarks.$$name $(ARGS) || exit 1; \
	done
