#!/usr/bin/env bash
# Runs each fuzz test of the repository for the time $1 (as 20s): `go test -fuzz` takes one at a
# time only. Stops at the first that finds something; the input is then kept in testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

fuzztime="${1:?usage: fuzz.sh TIME}"
ran=0
for package in $(go list ./...); do
	for name in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "fuzzing $name of $package for $fuzztime"
		go test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" "$package"
		ran=$((ran + 1))
	done
done
if [ "$ran" -eq 0 ]; then
	echo "no fuzz test found" >&2
	exit 1
fi
