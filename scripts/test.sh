#!/usr/bin/env bash
# Runs all tests with the race detector and all checks of `go vet`, and prints the ten slowest tests. Arguments go to `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."

# Built with -race like the tests, it needs nothing of the standard library that is not compiled for them anyway.
gotestsum() { go run -race gotest.tools/gotestsum@v1.13.0 "$@"; }

# The end-to-end tests take longest and mostly wait: they begin as soon as they are compiled, while the rest is.
mkdir -p artifacts
status=0
gotestsum --format pkgname --hide-summary=skipped --jsonfile artifacts/test.json -- -race -vet=all -timeout 11m "$@" . ./e2e ./... || status=$?
echo "The ten slowest tests:"
gotestsum tool slowest --num 10 --threshold 500ms --jsonfile artifacts/test.json
exit "$status"
