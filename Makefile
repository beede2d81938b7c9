# The commands of this repository; CI calls the same ones. `make` alone lists them.

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -X muster/internal/cli.version=$(VERSION)
# The version says the commit; without this a checkout of another user would fail the build.
BUILD    := $(GO) build -buildvcs=false
ARGS     ?=
BENCH    ?= .
COUNT    ?= 1
FUZZTIME ?= 20s
SOAK     ?= 10m
MATCHES  ?= 10000
OUT      ?= bin/image/muster

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/muster
	$(BUILD) -ldflags '$(LDFLAGS)' -o bin/muster .

.PHONY: run
run: build ## build and start a server (ARGS="--config muster.yaml")
	bin/muster serve $(ARGS)

.PHONY: test
test: ## install what the tests need, run all tests with vet and the race detector, print the ten slowest
	scripts/install-test-tools.sh
	scripts/test.sh

.PHONY: lint
lint: ## check format, go.mod, the linters of .golangci.yml, and that other systems can build it
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run make fmt, not formatted:"; echo "$$unformatted"; exit 1; }
	$(GO) mod tidy -diff
	"$$(scripts/golangci-lint.sh)" run ./...
	for system in darwin windows; do GOOS=$$system $(BUILD) -o /dev/null . || exit 1; done

.PHONY: fmt
fmt: ## format all Go files and tidy go.mod
	gofmt -w .
	$(GO) mod tidy

.PHONY: bench
bench: ## measure the built server beside plain references and print one table (ARGS="-runs 1 -rows burst")
	$(GO) test -count 1 -timeout 0 -v -run '^TestTable$$' ./bench -table $(ARGS)

.PHONY: bench-million
bench-million: ## measure what a million waiting tickets cost a join, at most twice what an empty world does
	$(GO) test -run '^$$' -bench MillionWaiting -benchtime 5x ./store

.PHONY: bench-go
bench-go: ## run the Go benchmarks (BENCH=pattern, COUNT=10 for benchstat)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: bench-scale
bench-scale: ## measure several instances and realms, on one Redis and on a Cluster, and print a table for each load
	$(GO) test -count 1 -timeout 0 -v -run '^TestScale$$' ./bench -scale $(ARGS)

.PHONY: gate
gate: ## check what may not grow: allocations, calls, commands, memory and goroutines, whatever the machine
	$(GO) test -count 1 -run '^(TestGate|TestCommandsOfAMatch)' ./protocol ./hub ./store ./server
	$(GO) test -run '^$$' -bench IdleSession -benchtime 3x ./server

.PHONY: soak
soak: ## several instances under load and all faults for long (SOAK=8h, ARGS=-write-guarantees)
	$(GO) test -race -count 1 -timeout 0 -v -run '^TestSoak$$|^TestAnInstanceWhoseClockIsOff' ./e2e -soak $(SOAK) $(ARGS)

.PHONY: soak-life
soak-life: ## proposals, allocations, seats and backfill while instances and Redis are killed (MATCHES=10000)
	$(GO) test -race -count 1 -timeout 0 -v -run '^TestMatchesLive$$|^TestAnInstanceDiesAtEachStep$$' ./e2e -life $(MATCHES)

.PHONY: fuzz
fuzz: ## run each fuzz test for a short time (FUZZTIME=20s)
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: image-build
image-build: ## build the static binary of the container image (OUT=path); the Dockerfile calls this
	CGO_ENABLED=0 $(BUILD) -trimpath -ldflags '-s -w $(LDFLAGS)' -o $(OUT) .

.PHONY: release
release: ## build static binaries for Linux, macOS and Windows into bin/release, with checksums
	@rm -rf bin/release
	@for system in linux darwin windows; do for arch in amd64 arm64; do \
		suffix=$$system-$$arch; test $$system = windows && suffix=$$suffix.exe; \
		GOOS=$$system GOARCH=$$arch $(MAKE) --no-print-directory image-build OUT=bin/release/muster-$(VERSION)-$$suffix || exit 1; \
	done; done
	@cd bin/release && sha256sum muster-* > SHA256SUMS
