#!/usr/bin/env bash
# Sees to it that the tests find their tools: a C compiler for the race detector, redis-server (7.0
# or newer; REDIS_SERVER_BIN names another), PostgreSQL (POSTGRES_BIN names the directory of another's
# programs), Chromium (CHROME_BIN names another browser of its kind), nginx, and Python and curl for the
# examples of the documents. As root on Debian or a system
# derived from it, it installs what is missing and nothing else; elsewhere it says what to install and
# fails.
set -euo pipefail

# have succeeds when one of the given commands exists.
have() {
	local name
	for name in "$@"; do
		if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
			return 0
		fi
	done
	return 1
}

missing=()
have "${CC:-}" gcc clang || missing+=(gcc libc6-dev)
have make || missing+=(make)
have "${REDIS_SERVER_BIN:-}" redis-server || missing+=(redis-server)
have "${POSTGRES_BIN:-/nowhere}/postgres" postgres /usr/lib/postgresql/*/bin/postgres || missing+=(postgresql)
have python3 || missing+=(python3)
have curl || missing+=(curl)
have nginx /usr/sbin/nginx || missing+=(nginx-light)
have "${CHROME_BIN:-}" chromium chromium-browser google-chrome google-chrome-stable || missing+=(chromium)

if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi

if [ "$(id -u)" -ne 0 ] || ! have apt-get; then
	echo "The tests need tools that are missing here. On Debian or Ubuntu: sudo apt-get install ${missing[*]}" >&2
	echo "Elsewhere install what these packages hold: Redis 7.0 or newer, PostgreSQL, Chromium or Chrome, nginx, a C compiler." >&2
	exit 1
fi

echo "installing for the tests: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
