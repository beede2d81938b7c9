#!/usr/bin/env bash
# Prints the path of golangci-lint in the pinned version. It takes ./bin's, else the one that
# `go install` put into GOBIN or GOPATH, else installs it into ./bin: what it reports must not
# depend on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.15.0

# pinned succeeds when $1 is golangci-lint in the pinned version.
pinned() {
	[ -x "$1" ] && [[ "$("$1" version 2>/dev/null)" == *" version $version "* ]]
}

gobin="$(go env GOBIN)"
for candidate in "$PWD/bin/golangci-lint" "${gobin:-$(go env GOPATH)/bin}/golangci-lint"; do
	if pinned "$candidate"; then
		echo "$candidate"
		exit 0
	fi
done

echo "installing golangci-lint v$version into bin" >&2
GOBIN="$PWD/bin" go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$version" >&2
echo "$PWD/bin/golangci-lint"
