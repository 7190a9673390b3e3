# Every target works in a fresh clone: it makes what it needs. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

GO      ?= go
PYTHON  ?= python3
NPM     ?= npm
VENV    := .venv
PY      := $(VENV)/bin/python
BIN     := bin
# The Python and TypeScript examples start through `env python3` and `env node`; this is the Python that has the SDK.
RUN_ENV := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"

GENERATED := generated sdk-py/octet_extension/_generated sdk-py/oup/octet_oup/_generated sdk-ts/src/_generated \
             sdk-ts/oup/src/_generated spec/reference
# The two of each language that make demo shows; every one that make selftest judges.
WORD_COUNTS := $(foreach sdk,sdk-go sdk-py sdk-ts,$(sdk)/examples/word-count $(sdk)/examples/word-count-canonical)
EXAMPLES    := $(sort $(patsubst %/extension.toml,%,$(wildcard sdk-*/examples/*/extension.toml)))
# Extensions that use nothing of ours and keep every rule.
RAW_PEERS   := $(sort $(patsubst %/extension.toml,%,$(wildcard features/rawpeer/*/extension.toml)))
# Faulty peers on the SDKs of Python and TypeScript. make test judges one in SAMPLE of them, and of hosts, servers and clients, and
# one in SAMPLE_EXTENSIONS of the referee's own extensions.
SDK_PEERS   := --peers "$(PY) sdk-py/tests/faulty_peer/peer.py" --peers "node sdk-ts/dist/test/faulty-peer/peer.js"
SAMPLE            ?= 1
SAMPLE_EXTENSIONS ?= 1
GO_TESTEE := $(BIN)/testee-go
PY_TESTEE := $(PY) -m octet_extension.testee
PY_OUP_TESTEE := $(PY) -m octet_oup.testee
TS_TESTEE := node sdk-ts/dist/src/testee.js
TS_OUP_TESTEE := node sdk-ts/oup/dist/src/testee.js

.PHONY: help demo demo-conversation test generate check-generated build build-go build-ts setup lint lint-go lint-py lint-ts \
        test-go test-go-raced test-go-unraced test-scripts test-py test-py-oup test-ts test-ts-oup test-browser ledger vectors selftest selftest-repeat fuzz fuzz-peers bench test-bench chaos chaos-oup soak release check-reproducible audit cross clean check

help: ## List the targets.
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## Build the three commands and judge the example extensions of all three languages.
	@status=0; clean=0; for dir in $(WORD_COUNTS); do \
	  echo; echo "== $$dir"; if $(RUN_ENV) $(BIN)/octet-conform extension "$$dir"; then clean=$$((clean + 1)); else status=$$?; fi; done; \
	  echo; echo "$$clean of $(words $(WORD_COUNTS)) example extensions keep every rule"; exit $$status

# A home of its own keeps the demo apart from what the person has set up.
demo-conversation: build ## Hold a scripted conversation with a Python tool, a Go hook and a TypeScript command, offline.
	@home="$$(mktemp -d)"; trap 'rm -rf "$$home"' EXIT; \
	env HOME="$$home" $(RUN_ENV) $(BIN)/octet --model scripted:demo/conversation/script.yaml \
	  --workspace demo/conversation/workspace $(foreach sdk,sdk-ts sdk-go sdk-py,--extension-dir $(sdk)/examples) \
	  --enable-extension word-count guard to-do < demo/conversation/lines.txt

ONE_EACH := sdk-go/examples/word-count sdk-py/examples/word-count-canonical sdk-ts/examples/word-count
# A step of make test: what it needs has been built by then.
STEP = $(MAKE) --no-print-directory --output-sync=target BUILT=yes
test: ## Run every check there is; the campaigns (selftest, chaos, fuzz, soak, ...) in their short form.
	@# What downloads and what waits for processes shares the time with what computes.
	@$(MAKE) --no-print-directory --jobs=4 --output-sync=target setup build
	@$(STEP) --jobs=3 check-generated check lint-go lint-py lint-ts
	@$(STEP) test-go
	@$(STEP) --jobs=3 test-py test-ts test-scripts vectors
	@$(STEP) test-bench
	@# make selftest judges every peer and every example.
	@$(STEP) selftest EXAMPLES="$(ONE_EACH)" SAMPLE=24 SAMPLE_EXTENSIONS=4

generate: ## Turn spec/ into bindings, tables and the reference.
	$(GO) run ./cmd/octet-gen generate

check-generated: ## Generate everything from nothing, and demand the committed tree.
	@# In a tree of its own: files that were written again would make Go run every test that reads them.
	@fresh="$$(mktemp -d)"; trap 'rm -rf "$$fresh"' EXIT; cp -R spec "$$fresh"; rm -rf "$$fresh/spec/reference"; \
	$(GO) run ./cmd/octet-gen generate --root "$$fresh" > /dev/null; changed=; \
	for dir in $(GENERATED); do diff -rq -x __pycache__ "$$fresh/$$dir" "$$dir" || changed=yes; done; changed="$$changed$$(git status --porcelain -- $(GENERATED))"; \
	if [ -n "$$changed" ]; then echo "generated files differ from what is committed; commit the output of 'make generate'"; exit 1; fi

OCTET_GEN ?= $(BIN)/octet-gen
check: ## Hold generated files against spec/, and spec/ against the last release.
	@$(if $(filter $(BIN)/octet-gen,$(OCTET_GEN)),$(GO) build -o $(BIN)/ ./cmd/octet-gen)
	$(OCTET_GEN) generate --check
	@git rev-parse --git-dir >/dev/null; \
	tag="$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)"; \
	if [ -z "$$tag" ]; then echo "there is no release to compare spec/ with"; exit 0; fi; \
	echo "comparing spec/ with $$tag"; \
	rm -rf build/release; mkdir -p build/release; git archive "$$tag" spec | tar -x -C build/release; \
	status=0; $(OCTET_GEN) diff --frozen build/release/spec spec || status=$$?; \
	for set in $$(cd build/release/spec; find requirements -name '*.json' 2>/dev/null || true); do \
	  cmp "build/release/spec/$$set" "spec/$$set" || { echo "spec/$$set was released: a frozen set never changes"; status=1; }; done; \
	if [ "$$status" = 3 ]; then echo "read what is unknown: nobody can judge it but you"; exit 0; fi; exit "$$status"

build: build-go build-ts $(VENV)/.ready ## Build the commands, the example extensions and the testees.

ifdef BUILT
build-go build-ts: ;
else
build-go:
	@echo "building the commands and the Go examples"
	@$(GO) build -o $(BIN)/ ./cmd/octet ./cmd/octet-conform ./cmd/octet-gen
	@$(GO) build -o $(GO_TESTEE) ./sdk-go/testee
	@$(GO) build -o features/rawpeer/raw-go/bin/ ./features/rawpeer/raw-go
	@for dir in sdk-go/examples/*/; do $(GO) build -o "$${dir}bin/$$(basename $$dir)" "./$$dir"; done

build-ts: sdk-ts/node_modules/.ready
	@cd sdk-ts && $(NPM) run --silent build
	@cd sdk-ts/oup && $(NPM) run --silent build
endif

setup: $(VENV)/.ready sdk-ts/node_modules/.ready ## Download modules and make the Python and Node environments.
	$(GO) mod download

$(VENV)/.ready: sdk-py/pyproject.toml sdk-py/oup/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "octet needs Python 3.11 or newer")'
	@echo "making the Python environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check -e 'sdk-py[dev]' -e sdk-py/oup
	@touch $@

sdk-ts/node_modules/.ready: sdk-ts/package.json sdk-ts/package-lock.json
	@echo "installing the Node modules of sdk-ts"
	@cd sdk-ts && $(NPM) ci --silent --no-audit --no-fund
	@touch $@

lint: check-generated check lint-go lint-py lint-ts ## Check generated files, formatting, types and style; repair nothing.

lint-go:
	@unformatted="$$($(GO) tool gofumpt -l $$(git ls-files '*.go' | grep -v testdata/))"; \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofumpt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

lint-py: $(VENV)/.ready
	$(VENV)/bin/ruff check sdk-py
	$(VENV)/bin/ruff format --check --quiet sdk-py
	cd sdk-py && ../$(VENV)/bin/mypy --strict .
	cd sdk-py/oup && ../../$(VENV)/bin/mypy --strict .

lint-ts: sdk-ts/node_modules/.ready build-ts
	cd sdk-ts && $(NPM) run --silent typecheck && $(NPM) run --silent lint
	cd sdk-ts/oup && $(NPM) run --silent typecheck

# What lint has vetted is not vetted again. A list that cannot be made ends the target; inside the command it would be an empty one.
test-go: test-go-raced test-go-unraced ## Run the Go tests, with the race detector where memory is shared.

test-go-raced: build
	@packages="$$(.ci/packages raced)"; $(RUN_ENV) $(GO) test -race -vet=off $$packages

test-go-unraced: build
	@packages="$$(.ci/packages unraced)"; $(RUN_ENV) $(GO) test -vet=off -skip '^TestScripts/conform_' $$packages

test-scripts: build ## Run the scripts of the referee.
	$(RUN_ENV) $(GO) test -vet=off -run '^TestScripts/conform_' ./testscripts

test-py: $(VENV)/.ready test-py-oup ## Run the Python tests.
	cd sdk-py && ../$(VENV)/bin/python -m pytest -q

test-py-oup: $(VENV)/.ready build-go
	cd sdk-py/oup && ../../$(VENV)/bin/python -m pytest -q

test-ts: build-ts test-ts-oup ## Run the TypeScript tests.
	cd sdk-ts && $(NPM) test --silent

test-ts-oup: build-ts build-go
	cd sdk-ts/oup && $(NPM) test --silent

vectors: build ## Run every vector through the Go, Python and TypeScript testees.
	$(BIN)/octet-conform vectors -- $(GO_TESTEE)
	$(BIN)/octet-conform vectors -- $(PY_TESTEE)
	$(BIN)/octet-conform vectors -- $(PY_OUP_TESTEE)
	$(BIN)/octet-conform vectors -- $(TS_TESTEE)
	$(BIN)/octet-conform vectors -- $(TS_OUP_TESTEE)

selftest: build ## Prove the referee: every faulty peer and host is caught, no example is accused.
	$(RUN_ENV) $(BIN)/octet-conform selftest --sample $(SAMPLE) --sample-extensions $(SAMPLE_EXTENSIONS) $(SDK_PEERS) $(foreach dir,$(EXAMPLES) $(RAW_PEERS),--example $(dir))

test-browser: build-ts ## Click through the HTML pages and the example client in Chromium (needs chromium and chromedriver).
	$(GO) test -tags browser -run Chromium ./features/report ./features/ledger ./features/browser

# The showcases of Go and Python are laid where their name and their command fit.
LEDGER := build/ledger
ledger: build ## Judge octet and the three showcases on every API, and write build/ledger.md and build/ledger.html.
	@rm -rf $(LEDGER); mkdir -p $(LEDGER); $(GO) build -o $(LEDGER)/showcase ./sdk-go/showcase
	@judge() { \
	  who="$$1-$$2"; shift 2; echo "$$who"; \
	  $(RUN_ENV) $(BIN)/octet-conform "$$@" --report-json "$(LEDGER)/$$who.json" > "$(LEDGER)/$$who.txt" || test "$$?" = 1; \
	  tail -1 "$(LEDGER)/$$who.txt"; }; \
	lay() { \
	  dir="$(LEDGER)/$$1-$$2/showcase"; mkdir -p "$$dir"; cp sdk-ts/showcase/manifests/$$2/showcase/conform.toml "$$dir/"; \
	  sed "s|^command = .*|$$4|" "$$3" > "$$dir/extension.toml"; judge "$$1" "$$2" extension "$$dir"; }; \
	for api in 0.1 0.2 0.3 0.4; do \
	  PATH="$(CURDIR)/$(BIN):$$PATH" judge octet "$$api" host --adapter octet --api "$$api"; \
	  lay go "$$api" "sdk-go/showcase/api-$$api/showcase/extension.toml" "command = \"$(CURDIR)/$(LEDGER)/showcase\""; \
	  lay python "$$api" "sdk-py/showcase/api-$$api/extension.toml" "command = \"$(CURDIR)/$(PY)\"\nargs = [\"-c\", \"import sys; sys.path.insert(0, '$(CURDIR)/sdk-py/showcase'); from showcase import build; build('$$api').run()\"]"; \
	  judge typescript "$$api" extension "sdk-ts/showcase/manifests/$$api/showcase"; \
	done
	@$(BIN)/octet-conform ledger --out build/ledger.md --out build/ledger.html \
	  $(foreach who,octet go python typescript,$(foreach api,0.1 0.2 0.3 0.4,--report $(who)=$(LEDGER)/$(who)-$(api).json))

REPEAT ?= 50
selftest-repeat: build ## The same, with every example judged REPEAT times (default 50).
	$(RUN_ENV) $(BIN)/octet-conform selftest --repeat $(REPEAT) $(SDK_PEERS) $(foreach dir,$(EXAMPLES) $(RAW_PEERS),--example $(dir))

FAULTS ?= 2000
SEED   ?= 0
chaos: ## Break hosts FAULTS times (default 2000) and look at what is left; SEED repeats a campaign. Linux.
	@$(GO) test -race -c -o $(BIN)/chaos ./host/chaos
	@$(BIN)/chaos -test.run '^TestCampaign$$' -test.v -test.timeout 0 --faults $(FAULTS) --seed $(SEED)

KILLS ?= 200
CUTS  ?= 500
chaos-oup: ## Cut the connections of OUP clients in CUTS runs (default 500), and kill servers KILLS times (default 200); SEED repeats.
	@$(GO) test -count 1 -timeout 0 -v ./sdk-go/oup/campaign -runs $(CUTS) -kills $(KILLS) -seed $(SEED) -width 8

soak: TIME = 30m
soak: build ## Keep one host with 20 extensions under load and faults for TIME (default 30m) and hold it to its bands. Linux.
	@$(GO) test -c -o $(BIN)/soak ./host/soak
	@cd host/soak && $(RUN_ENV) $(CURDIR)/$(BIN)/soak -test.run '^TestSoak$$' -test.v -test.timeout 0 -time $(TIME) -each 5 -seed $(SEED) -out $(CURDIR)/build/soak

TIME ?= 10s
fuzz: build ## Fuzz every reader of what a peer sends, in three languages, for TIME each (default 10s), and all three against each other.
	@.ci/fuzz $(TIME)

RUNS ?= 2000
fuzz-peers: build ## Make RUNS conversations up (default 2000) for every sound peer and every example; SEED repeats them.
	@seed=$(SEED); if test "$$seed" = 0; then seed=$$((RANDOM * 32768 + RANDOM + 1)); fi; echo "SEED=$$seed"; \
	status=0; $(GO) test -count 1 -timeout 0 ./features/fuzz -run TestRun_soundPeers -runs $(RUNS) -seed "$$seed" || status=$$?; \
	for dir in $(EXAMPLES); do \
	  $(RUN_ENV) $(BIN)/octet-conform fuzz --runs $(RUNS) --seed "$$seed" --time 30m --transcripts "build/fuzz/$$dir" "$$dir" || status=$$?; done; \
	exit $$status

ROUNDS ?= 15
build/bench-caller: $(wildcard bench/caller/*.go bench/sample/*.go)
	@cd bench && $(GO) build -o ../$@ ./caller

build/bench-venv/.ready: bench/python/requirements.txt | build/bench-caller
	@echo "making the Python environment of the measurements"
	@$(PYTHON) -m venv build/bench-venv
	@build/bench-venv/bin/python -m pip install --quiet --disable-pip-version-check -r bench/python/requirements.txt
	@touch $@

bench/typescript/node_modules/.ready: bench/typescript/package-lock.json $(wildcard bench/typescript/src/*.ts) | build-ts build/bench-caller
	@echo "installing the Node modules of the measurements"
	@cd bench/typescript && $(NPM) ci --silent --no-audit --no-fund && npx tsc --project .
	@touch $@

test-bench: ## Run the tests of the measurements, and the guard that notices lost speed by ratios.
	cd bench && $(GO) test ./...

bench: build ## Measure octet beside what people would use instead (ROWS=regexp, ROUNDS=15), and write docs/benchmarks.md.
	@# A language that cannot be made ready is left out, and the report says so.
	@for stamp in build/bench-venv/.ready bench/typescript/node_modules/.ready; do $(MAKE) --no-print-directory $$stamp || true; done
	@cd bench && $(GO) build -o ../build/measure ./cmd/measure
	build/measure all --rows '$(ROWS)' --rounds $(ROUNDS) $(if $(ROWS),--report '')

release: ## Build the three commands for every platform, with bills of materials and checksums, in build/dist.
	@.ci/release build/dist $(PLATFORMS)

check-reproducible: ## Build twice, in two folders with two caches, and demand the same bytes; PLATFORMS="linux/amd64" for fewer.
	@.ci/reproducible $(PLATFORMS)

audit: $(VENV)/.ready ## Ask what is known against the packages that are used.
	@.ci/audit

cross: ## Build everything for macOS and Windows; the tests check the types alone.
	GOOS=darwin GOARCH=arm64 $(GO) build ./...
	GOOS=windows GOARCH=amd64 $(GO) build ./...

clean: ## Remove everything that is built or downloaded into the tree.
	rm -rf $(BIN) build $(VENV) sdk-ts/node_modules sdk-ts/dist sdk-ts/oup/dist sdk-go/examples/*/bin features/rawpeer/*/bin
