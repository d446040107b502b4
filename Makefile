# Everything runs from the virtualenv that these targets make; nothing is installed elsewhere.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
# One more than there are cores: tests of processes wait now and then.
WORKERS ?= $(shell echo $$(($$(nproc) + 1)))

# Compiled once, not at every start of the many processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check format requirements clean

run: $(VENV)/.ready
	$(BIN)/python manage.py up --host $(HOST) --port $(PORT)

test: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "not (processes or browser or conformance or brokers or walks)"

check: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(BIN)/python manage.py makemigrations --check --dry-run
	QUARRY_BROWSER_TESTS=required $(BIN)/python -m pytest -n $(WORKERS) -q --durations=25

format: $(VENV)/.ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Versions and hashes for every platform, and no index address.
requirements: $(VENV)/.ready-dev
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --upgrade pyproject.toml --extra ocr -o requirements.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --upgrade pyproject.toml --extra ocr --extra dev -o requirements-dev.txt

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Quarry needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: requirements.txt | $(VENV)/bin/pip
	@echo "Installing what Quarry needs into $(VENV): 0.4 GB to fetch, 0.8 GB on disk, some minutes…"
	@$(BIN)/python config/install.py requirements.txt
	@$(BIN)/python config/trim.py
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt | $(VENV)/bin/pip
	@echo "Installing what Quarry and its tests need into $(VENV)…"
	@$(BIN)/python config/install.py requirements-dev.txt
	@$(BIN)/python config/trim.py
	@touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
