# The tasks of the project. `make` lists them.

.DEFAULT_GOAL := help

# For `make fuzz`. Without SEED, the run chooses a random seed and prints it.
SECONDS ?= 180
SEED ?=

# For `make install`.
PREFIX ?= $(HOME)/.local

# For `make oracle`.
WAREHOUSE ?= data/warehouse

.PHONY: help setup build install uninstall sync serve test test-lake test-spark test-trino fuzz crash oracle readers package release check bench bench-long bench-peers bench-report compare sample docs format clean tools

rekap := node dist/src/cli/main.js
# A folder is newer if one of its files was deleted. Not `test` and `bench`, which are targets.
sources := $(shell find src pipelines -type d) $(shell find src pipelines data/sample test bench -name '*.ts') tsconfig.json rolldown.config.js

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: node_modules/.package-lock.json ## install the dependencies

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

build: dist/built ## compile to dist/ if a source has changed

# Compile into dist.next first, so that an interrupted build leaves the previous one in place.
dist/built: $(sources) node_modules/.package-lock.json
	@rm -rf dist.next dist.old
	@npx --no-install tsc --outDir dist.next
	@DIST=dist.next npx --no-install rolldown -c > /dev/null
	@chmod +x dist.next/src/cli/main.js
	@touch dist.next/built
	@if [ -d dist ]; then mv dist dist.old; fi
	@mv dist.next dist
	@rm -rf dist.old

# Installs the packed package, which doesn't depend on this folder.
install: build ## install `rekap` in PREFIX/bin without root: make install PREFIX=~/.local
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	npm pack --silent --ignore-scripts --pack-destination "$$folder" > /dev/null && \
	npm install --loglevel error --no-audit --no-fund --global --prefix '$(abspath $(PREFIX))' "$$folder"/rekap-*.tgz > /dev/null
	@echo 'Installed rekap in $(abspath $(PREFIX))/bin.'
	@case ":$$PATH:" in *':$(abspath $(PREFIX))/bin:'*) ;; \
	*) echo 'This folder is not on your PATH. Add this line to ~/.profile, and log in again:'; \
	   echo '  export PATH="$(abspath $(PREFIX))/bin:$$PATH"' ;; esac

uninstall: ## remove what `make install` installed in PREFIX
	npm uninstall --global --prefix '$(abspath $(PREFIX))' rekap

sync: build ## sync the sample over HTTP into data/warehouse
	@$(rekap) sync --sample

serve: build ## run the service with the sample
	@$(rekap) serve --sample

test: build ## run all tests
	npx --no-install vitest run

crash: build ## kill a sync and interrupt a push hundreds of times, and check what remains: make crash KILLS=300
	REKAP_CRASHES=$${KILLS:-300} REKAP_PUSHES=$${KILLS:-300} npx --no-install vitest run test/end-to-end/crash.test.ts test/end-to-end/push.test.ts

# Tests that need a missing tool are skipped.
tools: node_modules/.cache/tools/versitygw node_modules/.cache/tools/bin/hadolint ## install the S3 server (with Go) and the validators (with Python) that some tests use

node_modules/.cache/tools/versitygw: | node_modules/.package-lock.json
	GOBIN=$(CURDIR)/$(@D) go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

node_modules/.cache/tools/bin/hadolint: test/tools/requirements.txt | node_modules/.package-lock.json
	python3 -m venv node_modules/.cache/tools
	node_modules/.cache/tools/bin/pip install --quiet -r $<
	@touch $@

oracle: build ## recompute the tables of a warehouse in Python, and compare: make oracle WAREHOUSE=data/warehouse
	@exports=$$(mktemp -d) && trap 'rm -rf "$$exports"' EXIT && \
	for table in voters voting_rights_users violations quarantine; do \
	  $(rekap) query "FROM $$table" --warehouse '$(WAREHOUSE)' --format json > "$$exports/$$table.json" || exit; \
	done && python3 test/oracle/recompute.py '$(WAREHOUSE)' "$$exports"

readers: build ## read snapshots with pyarrow, pandas, polars, fastparquet, frictionless and dbt (installs them)
	@command -v python3 > /dev/null || { echo 'make readers needs Python 3, which is not installed.' >&2; exit 1; }
	@venv=node_modules/.cache/readers; [ -d $$venv ] || python3 -m venv $$venv; $$venv/bin/pip install --quiet -r test/readers/requirements.txt
	npx --no-install vitest run test/readers

test-lake: build node_modules/.cache/lake/ready node_modules/.cache/tools/versitygw ## publish to Iceberg catalogs, and break them (downloads 350 MB; needs Java 21, Maven, Python and Go)
	REKAP_LAKE=1 npx --no-install vitest run test/lake

node_modules/.cache/lake/ready: test/lake/pom.xml test/lake/SHA256SUMS test/lake/requirements.txt test/lake/TestCatalog.java | node_modules/.package-lock.json
	@for tool in mvn javac python3; do command -v $$tool > /dev/null || { echo "make test-lake needs $$tool, which is not installed." >&2; exit 1; }; done
	mvn --quiet --batch-mode --file test/lake/pom.xml dependency:copy-dependencies -DoutputDirectory='$(CURDIR)/$(@D)/jars'
	mvn --quiet --batch-mode dependency:copy -Dartifact=org.projectnessie.nessie:nessie-quarkus:0.99.0:jar:runner -DoutputDirectory='$(CURDIR)/$(@D)/nessie'
	cd $(@D) && sha256sum --quiet --check '$(CURDIR)/test/lake/SHA256SUMS'
	python3 -m pip install --quiet --no-deps --require-hashes --upgrade --target $(@D)/extensions -r test/lake/requirements.txt
	javac -cp '$(@D)/jars/*' -d $(@D)/classes test/lake/TestCatalog.java
	@touch $@

test-spark: build node_modules/.cache/lake/ready node_modules/.cache/spark/ready ## transform landed records in Spark, and compare (downloads 850 MB; needs Java 21, Maven and Python)
	REKAP_LAKE=1 REKAP_SPARK=1 npx --no-install vitest run test/spark

node_modules/.cache/spark/ready: test/spark/requirements.txt test/spark/SHA256SUMS | node_modules/.package-lock.json
	@for tool in mvn java python3; do command -v $$tool > /dev/null || { echo "make test-spark needs $$tool, which is not installed." >&2; exit 1; }; done
	python3 -m pip install --quiet --no-deps --require-hashes --upgrade --target $(@D)/python -r test/spark/requirements.txt
	mvn --quiet --batch-mode dependency:copy -Dartifact=org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0 -DoutputDirectory='$(CURDIR)/$(@D)/jars'
	cd $(@D) && sha256sum --quiet --check '$(CURDIR)/test/spark/SHA256SUMS'
	@touch $@

test-trino: build node_modules/.cache/lake/ready node_modules/.cache/trino/ready node_modules/.cache/tools/versitygw ## read published tables in Trino (downloads 950 MB; needs Java 24, Maven, Python and Go)
	REKAP_LAKE=1 REKAP_TRINO=1 npx --no-install vitest run test/trino

node_modules/.cache/trino/ready: test/trino/SHA256SUMS | node_modules/.package-lock.json
	@for tool in mvn unzip; do command -v $$tool > /dev/null || { echo "make test-trino needs $$tool, which is not installed." >&2; exit 1; }; done
	for artifact in io.trino:trino-server-core:476:tar.gz io.trino:trino-iceberg:476:zip \
	  org.apache.iceberg:iceberg-aws:1.11.0 org.apache.iceberg:iceberg-aws-bundle:1.11.0 dev.failsafe:failsafe:3.3.2; do \
	  mvn --quiet --batch-mode dependency:copy -Dartifact=$$artifact -DoutputDirectory='$(CURDIR)/$(@D)/jars' || exit; \
	done
	cd $(@D) && sha256sum --quiet --check '$(CURDIR)/test/trino/SHA256SUMS'
	cd $(@D) && mkdir -p server plugin && tar --extract --gzip --strip-components 1 --directory server --file jars/trino-server-core-476.tar.gz
	cd $(@D) && unzip -q -o jars/trino-iceberg-476.zip -d plugin && rm -rf plugin/iceberg && mv plugin/trino-iceberg-476 plugin/iceberg
	@touch $@

fuzz: build ## run the property tests with many more inputs: make fuzz SECONDS=180 SEED=7
	@node dist/test/fuzz/main.js '$(SECONDS)' '$(SEED)'

package: build ## pack rekap, install it with --engine-strict in an empty project, and run it; check the Dockerfile
	@test/packed/install.sh
	@node dist/test/packed/image.js

release: check test package ## run all checks, then write the tarball, its SBOM and the third-party notices to release/
	@rm -rf release && mkdir release
	@npm pack --silent --pack-destination release > /dev/null
	@npm sbom --omit=dev --sbom-format cyclonedx > release/sbom.cdx.json
	@node dist/test/packed/notices.js > release/THIRD-PARTY-NOTICES.txt
	@cd release && sha256sum * > SHA256SUMS
	@npm pack --dry-run 2>&1 | grep -v '^npm warn'
	@echo 'release/ holds:' && ls release

check: build ## check format, types, lint, unused code and the package
	npx --no-install oxfmt --check .
	npx --no-install oxlint --type-aware --deny-warnings
	npx --no-install knip
	npx --no-install publint

bench: build ## measure speed and memory as ratios within one run
	node --expose-gc dist/bench/main.js

bench-long: build ## the same with ten million records (takes many minutes)
	node --expose-gc dist/bench/main.js long

bench-peers: build ## the same work with dlt and sling (installs them)
	node --expose-gc dist/bench/main.js peers feed-peers

bench-report: build ## bench and bench-peers, written to docs/explanation/performance.md and CONTRIBUTING.md (takes half an hour)
	node --expose-gc dist/bench/main.js report

compare: build ## load the sample with rekap and four other tools from a service that caps limit, and compare time and CPU (installs them)
	@command -v python3 > /dev/null || { echo 'make compare needs Python 3, which is not installed.' >&2; exit 1; }
	python3 bench/peers/compare.py
	node --expose-gc dist/bench/main.js peers feed-peers

sample: build ## regenerate data/sample
	node dist/data/sample/generate.js

docs: build ## regenerate docs/reference
	@node dist/test/documentation/reference-pages.js

format: setup ## format the code
	npx --no-install oxfmt .

clean: ## remove dist/ and node_modules/, but keep data/warehouse
	rm -rf dist dist.next dist.old node_modules
