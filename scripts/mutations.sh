#!/usr/bin/env bash
# Takes one mechanism at a time out of a copy of the repository and shows which test notices, or with `soak` that
# a soak of a minute does, with faults that ask for the mechanism. Prints a table in Markdown; fails where all
# passes without a mechanism.
#   scripts/mutations.sh [soak] [PART-OF-A-NAME]
set -euo pipefail
cd "$(dirname "$0")/.."

soak=""
if [ "${1:-}" = soak ]; then
	soak=yes
	shift
fi
only="${1:-}"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
survivors=0

# mutate NAME FILES FROM TO PACKAGE TEST [FAULTS]: replaces the text FROM, which each of the FILES must hold, by TO.
# FAULTS are those of the soak; without them it is no mechanism that a soak of a minute can ask for.
mutate() {
	local name="$1" files="$2" from="$3" to="$4" package="$5" test="$6" faults="${7:-}" outcome file shown
	local run=(go test -count 1 -timeout 5m -run "^$test\$" "$package")
	[[ "$name" == *"$only"* ]] || return 0
	shown="\`$test\`"
	if [ -n "$soak" ]; then
		[ -n "$faults" ] || return 0
		package=./e2e
		run=(go test -count 1 -timeout 5m -run '^TestSoak$' ./e2e -soak 40s -slack 2 -seed 1 -faults "$faults")
		shown="\`-seed 1 -faults '${faults//|/\\|}'\`"
	fi
	rm -rf "${copy:?}"/*
	tar -c --exclude=./.git --exclude=./bin --exclude=./artifacts . | tar -x -C "$copy"
	for file in $files; do
		FROM="$from" TO="$to" perl -0pi -e '
			$n = s/\Q$ENV{FROM}\E/$ENV{TO}/g; END { exit($n ? 0 : 1) }' "$copy/$file" || {
			echo "$file does not hold: $from" >&2
			exit 1
		}
	done
	if (cd "$copy" && go vet "$package" && "${run[@]}") >"$copy/output" 2>&1; then
		outcome="**passes**"
		survivors=$((survivors + 1))
	elif grep -q '^--- FAIL' "$copy/output"; then
		outcome="fails: $(said "$copy/output")"
	else
		cat "$copy/output" >&2
		exit 1
	fi
	echo "| $name | \`${files// /\`, \`}\` | $shown | $outcome |"
}

# said is the first complaint in the output of a test that failed, in a soak that of the history or of a probe.
said() {
	if [ -n "$soak" ]; then
		grep -m 1 -oE '(rule|seed) [0-9]+: .{0,110}' "$1"
	else
		grep -m 1 -oE '^ +[a-z_]+_test\.go:[0-9]+: .{0,90}' "$1"
	fi | sed -E 's/^ +//; s/\|/\\|/g'
}

echo "| without | changed | $([ -n "$soak" ] && echo soak || echo test) | outcome |"
echo "| --- | --- | --- | --- |"
mutate "the epoch: a call of an older one is carried out" lua/include/prelude.lua \
	'if meta[1] ~= epoch or meta[2] ~= history() then' 'if not meta[1] or meta[2] ~= history() then' \
	./e2e TestAnEmptiedRedisIsFilledAgain 'FLUSHALL|restarted empty'
mutate "the history: a promoted replica is not noticed" 'lua/include/prelude.lua lua/include/read_prelude.lua' \
	'or meta[2] ~= history()' '' \
	./e2e TestWritesThatAFailoverLostAreBroughtBack
mutate "the generation: an older session may speak" lua/include/presence.lua \
	"return generation ~= presence.generation and generation ~= '' and tonumber(generation) < tonumber(presence.generation)" \
	'return false' \
	./e2e TestASessionThatDoesNotKnowThatItWasReplacedIsRefused 'publishes lost|pub/sub'
mutate "the version: what was overtaken is told" hub/deliver.go \
	'case record.Version < s.seen.asOf:' 'case false:' \
	./hub TestWhatIsOfAnOlderEpochOrVersionOrSessionIsDropped 'publishes late'
mutate "the version: a state that was overtaken is told" hub/resync.go \
	'st.AsOf < max(s.seen.asOf, s.seen.least, epoch)' 'false' \
	./hub TestAStateThatIsOlderThanOneThatWasShownIsReadAgain 'some connections'
mutate "the numbering: what is lost is not missed" hub/sequence.go \
	'return n.upTo < number' 'return n.upTo < number-1e6' \
	./e2e TestALostPublishIsMadeUpFor 'publishes lost'
mutate "calm: an outage counts as silence" lua/include/prelude.lua \
	'local calm = calm_until_ms > now_ms and calm_until_ms <= now_ms + presence_ttl_ms' 'local calm = false' \
	./e2e TestAnOutageEvictsNobodyWhoIsAway 'outage longer'
mutate "the lease: players of a silent instance are live" lua/include/presence.lua \
	'local LEASE_MS = 3000' 'local LEASE_MS = 3000000' \
	./e2e TestAPausedInstanceHandsNobodyOutAndHeals 'past its lease'
mutate "the end of a call: what comes too late is carried out" lua/include/prelude.lua \
	'if late_after_us > 0 and now_us > late_after_us then' 'if false then' \
	./e2e TestWhatReachesRedisTooLateIsNotCarriedOut
mutate "the closed epoch: matching goes on before the assertions" lua/include/prelude.lua \
	'local closed = ready_at_ms > now_ms and ready_at_ms <= now_ms + RECOVERY_MAX_MS' 'local closed = false' \
	./e2e TestTheOldestIsNotOvertakenAfterALoss

if [ "$survivors" -gt 0 ]; then
	echo "$survivors pass without their mechanism" >&2
	exit 1
fi
