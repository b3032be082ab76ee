# rekap: every task of the project. `make` lists them.

.DEFAULT_GOAL := help

# For `make fuzz`; without a SEED, chance gives one and the run prints it.
SECONDS ?= 180
SEED ?=

# For `make install`.
PREFIX ?= $(HOME)/.local

# For `make oracle`.
WAREHOUSE ?= data/warehouse

.PHONY: help setup build install uninstall sync serve test fuzz crash oracle readers package release check bench bench-long bench-dlt compare sample docs format clean tools

rekap := node dist/src/cli/main.js
sources := $(shell find src pipelines data/sample test bench -name '*.ts') tsconfig.json

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: node_modules/.package-lock.json ## install what the project needs

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

build: dist/built ## compile to dist/, where something has changed

# Aside first: whoever breaks it off, or runs a command meanwhile, still has what was built before.
dist/built: $(sources) node_modules/.package-lock.json
	@rm -rf dist.next dist.old
	@npx --no-install tsc --outDir dist.next
	@chmod +x dist.next/src/cli/main.js
	@touch dist.next/built
	@if [ -d dist ]; then mv dist dist.old; fi
	@mv dist.next dist
	@rm -rf dist.old

# The packed package, so that it does not depend on this folder.
install: build ## put `rekap` into PREFIX/bin, without root: make install PREFIX=~/.local
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	npm pack --silent --ignore-scripts --pack-destination "$$folder" > /dev/null && \
	npm install --loglevel error --no-audit --no-fund --global --prefix '$(abspath $(PREFIX))' "$$folder"/rekap-*.tgz > /dev/null
	@echo 'Installed rekap in $(abspath $(PREFIX))/bin.'
	@case ":$$PATH:" in *':$(abspath $(PREFIX))/bin:'*) ;; \
	*) echo 'This folder is not on your PATH. Add this line to ~/.profile, and log in again:'; \
	   echo '  export PATH="$(abspath $(PREFIX))/bin:$$PATH"' ;; esac

uninstall: ## remove what `make install` has put into PREFIX
	npm uninstall --global --prefix '$(abspath $(PREFIX))' rekap

sync: build ## sync the sample figures over HTTP into data/warehouse and print what was done
	@$(rekap) sync --sample

serve: build ## run the service with the sample figures
	@$(rekap) serve --sample

test: build ## run all tests
	npx --no-install vitest run

crash: build ## kill a sync and cut a push hundreds of times, at any moment, and look at what is left
	REKAP_CRASHES=$${KILLS:-300} REKAP_PUSHES=$${KILLS:-300} npx --no-install vitest run test/end-to-end/crash.test.ts test/end-to-end/push.test.ts

# Tests that need one of them are skipped where it is not there.
tools: node_modules/.cache/tools/versitygw node_modules/.cache/tools/bin/hadolint ## get the S3 server that tests push to (by Go) and the validators (by Python)

node_modules/.cache/tools/versitygw: | node_modules/.package-lock.json
	GOBIN=$(CURDIR)/$(@D) go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

node_modules/.cache/tools/bin/hadolint: test/tools/requirements.txt | node_modules/.package-lock.json
	python3 -m venv node_modules/.cache/tools
	node_modules/.cache/tools/bin/pip install --quiet -r $<
	@touch $@

oracle: build ## reckon the tables of a warehouse again in Python and compare: make oracle WAREHOUSE=data/warehouse
	@exports=$$(mktemp -d) && trap 'rm -rf "$$exports"' EXIT && \
	for table in voters voting_rights_users violations quarantine; do \
	  $(rekap) query "FROM $$table" --warehouse '$(WAREHOUSE)' --format json > "$$exports/$$table.json" || exit; \
	done && python3 test/oracle/reckon.py '$(WAREHOUSE)' "$$exports"

readers: build ## read snapshots with pyarrow, pandas, polars, fastparquet, frictionless and dbt, which it installs
	@command -v python3 > /dev/null || { echo 'make readers needs Python 3, which is not installed.' >&2; exit 1; }
	@venv=node_modules/.cache/readers; [ -d $$venv ] || python3 -m venv $$venv; $$venv/bin/pip install --quiet -r test/readers/requirements.txt
	npx --no-install vitest run test/readers

fuzz: build ## try the properties with many more inputs for SECONDS=180, besides the time to load them; SEED= to repeat
	@node dist/test/fuzz/main.js '$(SECONDS)' '$(SEED)'

package: build ## pack, install with --engine-strict into an empty project, run, compile a program against it; do the steps of the Dockerfile
	@test/packed/install.sh
	@node dist/test/packed/image.js

release: check test package ## all checks, then release/: the tarball, its SBOM, the notices of third parties; prints what would be published
	@rm -rf release && mkdir release
	@npm pack --silent --pack-destination release > /dev/null
	@npm sbom --omit=dev --sbom-format cyclonedx > release/sbom.cdx.json
	@node dist/test/packed/notices.js > release/THIRD-PARTY-NOTICES.txt
	@cd release && sha256sum * > SHA256SUMS
	@npm pack --dry-run 2>&1 | grep -v '^npm warn'
	@echo 'release/ holds:' && ls release

check: build ## format, lint, types, unused code, package
	npx --no-install oxfmt --check .
	npx --no-install oxlint --type-aware --deny-warnings
	npx --no-install knip
	npx --no-install publint

bench: build ## measure speed and memory; prints ratios within this run
	node --expose-gc dist/bench/main.js

bench-long: build ## the same with ten million records; takes minutes
	node --expose-gc dist/bench/main.js long

bench-dlt: build ## the same load with dlt, in a virtual environment of Python that it makes
	node --expose-gc dist/bench/main.js dlt

compare: build ## load the sample with rekap and four other tools, which it installs for a while, from a service that caps limit
	@command -v python3 > /dev/null || { echo 'make compare needs Python 3, which is not installed.' >&2; exit 1; }
	python3 bench/peers/compare.py

sample: build ## generate data/sample again
	node dist/data/sample/generate.js

docs: build ## make docs/reference again
	@node dist/test/documentation/reference-pages.js

format: setup ## format the code
	npx --no-install oxfmt .

clean: ## remove what was built and installed; data/warehouse stays
	rm -rf dist dist.next dist.old node_modules
