# The organiser's two commands are `make tournament` and `make test`; what they need is set up on the way.
# Where there is no make: each target is one line of `python -m ...`, as written below.

PYTHON ?= python3
ARGS ?=
QUICK ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
FULL_STAMP := $(VENV)/.full-stamp
PROTO_VENV := .venv-proto
PROTO_STAMP := $(PROTO_VENV)/.stamp
# The generator sets the floor of grpcio and protobuf in pyproject.toml: change the two together.
PROTO_TOOLS := grpcio-tools==1.80.0 mypy-protobuf==5.1.0
BASELINE := proto/baseline.binpb
# All tests: many of them wait for processes, so that two at a time take little more than half as long as one.
AT_ONCE := --numprocesses 2 --dist loadfile --no-loadscope-reorder
UV := $(shell command -v uv 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup tournament test soak bench proto baseline lint lock clean
.DELETE_ON_ERROR:

help: ## show this list
	@echo 'The Sixty-Six Arena. Usage: make TARGET [ARGS="..."] [PYTHON=python3.13]'
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-12s%s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(FULL_STAMP) ## make .venv with everything that the targets need
	@echo "$(VENV) is ready"

tournament: $(STAMP) ## play and rate a tournament:  make tournament ARGS="tournament.toml"
	@$(BIN)/arena tournament $(ARGS)

test: $(FULL_STAMP) ## run the tests:  make test ARGS="tests/game -x"
	@$(BIN)/python -m pytest $(or $(ARGS),$(AT_ONCE))

soak: $(FULL_STAMP) ## the tests that take half an hour: 200 times kill -9, thousands of matches in one arena
	@$(BIN)/python -m tests.e2e.kill_resume 200
	@$(BIN)/python -m tests.e2e.flat 1000
	@$(BIN)/python -m tests.e2e.flat 10000 --block 32

bench: $(FULL_STAMP) ## measure the arena; QUICK=1 for a short run
	@$(BIN)/python -m bench $(if $(QUICK),--quick) $(ARGS)

proto: $(PROTO_STAMP) ## generate arena/sixtysix/v1 from proto/
	@$(PROTO_VENV)/bin/python proto/generate.py .

baseline: $(FULL_STAMP) ## at a release: freeze the proto that `make lint` compares with
	@cd proto && ../$(BIN)/buf build -o ../$(BASELINE)

lint: $(FULL_STAMP) ## ruff, mypy, and buf over the proto
	@$(BIN)/ruff check . && $(BIN)/ruff format --check -q .
	@$(BIN)/mypy
	@cd proto && ../$(BIN)/buf lint && ../$(BIN)/buf breaking --against ../$(BASELINE)

lock: $(FULL_STAMP) ## compile requirements.txt from pyproject.toml again
	@$(or $(UV),$(BIN)/uv) pip compile -q --universal --upgrade --python-version 3.11 --no-emit-index-url \
	    --custom-compile-command "make lock" pyproject.toml --extra test -o requirements.txt

clean: ## remove environments, caches and builds; never arena-data/
	@rm -rf $(VENV) $(PROTO_VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# make-venv FOLDER,TIME: says what it does at once, and refuses an unusable Python in one sentence.
define make-venv
	@echo "Setting up $(1) (once, $(2)) ..." >&2
	@command -v $(PYTHON) >/dev/null || { \
	    echo "$(PYTHON) was not found; install Python 3.11 or newer," \
	         "or name one: make PYTHON=/path/to/python3" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "Python 3.11 or newer is needed, but $(PYTHON) is $$($(PYTHON) -V 2>&1);" \
	         "name another: make PYTHON=python3.13" >&2; exit 2; }
	$(new-venv)
endef

# install FOLDER,ARGUMENTS: by uv from PATH, else by uv from pip (three times as fast), else by pip alone.
# Compiled at once, as pip does: the first command is quick, and no syntax warning of a package reaches a user.
UV_INSTALL = pip install -q --compile-bytecode --python $(1)/bin/python $(2)
ifdef UV
new-venv = @uv venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(1)
install = uv $(UV_INSTALL)
else
# Debian and Ubuntu ship venv without ensurepip, which it needs.
define new-venv
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "$(PYTHON) has no venv module; install it (apt install python3-venv)" \
	         "or install uv, then try again" >&2; exit 2; }
	@$(PYTHON) -m venv $(1)
endef
PIP = $(1)/bin/python -m pip install -q --disable-pip-version-check
install = { $(PIP) uv && $(1)/bin/uv $(UV_INSTALL); } || $(PIP) $(2)
endif

# What playing takes.
$(STAMP): pyproject.toml requirements.txt
	$(call make-venv,$(VENV),about 10 s)
	@$(call install,$(VENV),-c requirements.txt -e .)
	@$(BIN)/python -m compileall -q arena  # bots import it where they may write nothing
	@touch $@

# What tests and benchmarks take besides.
$(FULL_STAMP): $(STAMP)
	@echo "Adding what tests take to $(VENV) (once, about 15 s) ..." >&2
	@$(call install,$(VENV),-r requirements.txt -e .)
	@touch $@

# Wheels only: where there is none, pip would build the protobuf compiler from source.
$(PROTO_STAMP): Makefile
	$(call make-venv,$(PROTO_VENV),about 15 s)
	@$(call install,$(PROTO_VENV),--only-binary :all: $(PROTO_TOOLS)) || { \
	    echo "The generator ($(PROTO_TOOLS)) could not be installed;" \
	         "it has wheels for Python 3.11 to 3.14 only: make proto PYTHON=python3.13" >&2; exit 2; }
	@touch $@
