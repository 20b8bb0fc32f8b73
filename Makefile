# Two commands matter: `make demo` and `make test`. Both set up all they need in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMPILE := $(BIN)/pip-compile --quiet --upgrade --generate-hashes --strip-extras --no-header --no-emit-index-url \
	--no-emit-trusted-host --no-emit-find-links

.PHONY: demo test test-whole test-all check format lock clean

demo: $(VENV)/.product
	@$(BIN)/python -m runtime model install || true  # without it all works, by words
	$(BIN)/python -m runtime demo

test: $(VENV)/.dev
	@$(BIN)/python -m runtime model install || true  # its own tests are skipped without it
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not whole"

test-whole: $(VENV)/.dev $(VENV)/.helpdesks
	@$(BIN)/python -m runtime model install || true
	$(BIN)/python -m pytest -n auto --dist worksteal -m whole

test-all: test test-whole
	$(BIN)/python -m tests.mutate

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.product: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Terminus needs Python 3.11 or newer; set PYTHON=...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing what Terminus needs into $(VENV), once; this takes a minute or two."
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.product
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/.helpdesks: requirements-helpdesks.lock
	$(PYTHON) -m venv $(VENV)/helpdesks  # real helpdesks for the tests, apart from what Terminus needs
	$(VENV)/helpdesks/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-helpdesks.lock
	@touch $@

lock: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --upgrade pip pip-tools  # an old pip leaves requirements of extras out
	$(COMPILE) --extra research --extra documents --extra mail -o requirements.lock pyproject.toml
	$(COMPILE) --extra research --extra documents --extra mail --extra duckduckgo --extra multilingual --extra otel --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	$(COMPILE) -o requirements-helpdesks.lock tests/helpdesks/requirements.in

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache build dist
