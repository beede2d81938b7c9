package store

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// keys are the names of all keys of the realm, sorted.
func (b *bundle) keys() []string {
	b.Helper()
	var keys []string
	it := b.rdb.Scan(b.ctx, 0, b.key("*"), 1000).Iterator()
	for it.Next(b.ctx) {
		keys = append(keys, it.Val())
	}
	if err := it.Err(); err != nil {
		b.Fatal(err)
	}
	sort.Strings(keys)
	return slices.Compact(keys)
}

// dump is the realm's whole state as text, a line a field. Numbers are shown by how far they lie behind
// the test's start: #N a place, @N a time in milliseconds; (N min) is when a key ends.
func (b *bundle) dump() []string {
	b.Helper()
	var lines []string
	for _, key := range b.keys() {
		name := strings.TrimPrefix(key, b.key(""))
		for _, line := range b.dumpKey(key) {
			lines = append(lines, readable(name+b.ends(key)+" "+line))
		}
	}
	return lines
}

func (b *bundle) dumpKey(key string) []string {
	b.Helper()
	kind, err := b.rdb.Type(b.ctx, key).Result()
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	switch kind {
	case "hash":
		fields, err := b.rdb.HGetAll(b.ctx, key).Result()
		if err != nil {
			b.Fatal(err)
		}
		for field, value := range fields {
			lines = append(lines, field+" = "+value)
		}
		sort.Strings(lines)
	case "zset":
		members, err := b.rdb.ZRangeWithScores(b.ctx, key, 0, -1).Result()
		if err != nil {
			b.Fatal(err)
		}
		for _, z := range members {
			lines = append(lines, fmt.Sprintf("%v = %.0f", z.Member, z.Score))
		}
	case "set":
		lines, err = b.rdb.SMembers(b.ctx, key).Result()
		sort.Strings(lines)
	case "list":
		lines, err = b.rdb.LRange(b.ctx, key, 0, -1).Result()
	case "stream":
		for _, m := range b.rdb.XRange(b.ctx, key, "-", "+").Val() {
			line := ""
			for _, field := range []string{"event", "match", "player", "world", "ticket", "reason", "record"} {
				if v := m.Values[field]; v != nil && v != "" {
					line += fmt.Sprintf("%s=%v ", field, v)
				}
			}
			lines = append(lines, strings.TrimSpace(line))
		}
	default:
		var value string
		value, err = b.rdb.Get(b.ctx, key).Result()
		lines = []string{value}
	}
	if err != nil {
		b.Fatal(err)
	}
	return lines
}

// ends is when a key ends, to the minute.
func (b *bundle) ends(key string) string {
	b.Helper()
	left, err := b.rdb.PTTL(b.ctx, key).Result()
	if err != nil {
		b.Fatal(err)
	}
	if left <= 0 {
		return ""
	}
	return fmt.Sprintf("(%.0f min)", left.Round(time.Minute).Minutes())
}

var long = regexp.MustCompile(`\b(\d{16}|\d{13}|[0-9a-f]{40})\b`)

// readable replaces the numbers that lie behind the test's start, and the name of a history.
func readable(text string) string {
	return long.ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.ParseInt(s, 10, 64)
		switch {
		case err != nil:
			return "HISTORY"
		case len(s) == 16:
			return "#" + strconv.FormatInt(n-testStart, 10)
		default:
			return "@" + strconv.FormatInt(n-testStart/1000, 10)
		}
	})
}

// unimportant are the fields that every call writes.
var unimportant = regexp.MustCompile(`^meta (last|touched) = `)

// change runs act and returns what it changed in the realm: lines that went and lines that came, then
// what instances were told by their own calls, then what act returned.
func (b *bundle) change(act func() string) string {
	b.Helper()
	before := b.dump()
	b.mu.Lock()
	b.told = nil
	b.mu.Unlock()
	result := act()
	after := b.dump()
	var lines []string
	for _, line := range before {
		if !slices.Contains(after, line) && !unimportant.MatchString(line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) && !unimportant.MatchString(line) {
			lines = append(lines, "+ "+line)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, told := range b.told {
		lines = append(lines, readable(told))
	}
	if result != "" {
		lines = append(lines, "= "+readable(result))
	}
	return strings.Join(lines, "\n")
}

// toldText is what was told, in one line.
func toldText(told Notification) string {
	parts := []string{fmt.Sprintf("%d:", told.Number)}
	for id := range told.Matches {
		parts = append(parts, "match "+string(id))
	}
	sort.Strings(parts[1:])
	for _, c := range told.Changes {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s/%d %s %s", c.Player, c.Generation, c.Record, c.Notice)))
	}
	for _, q := range told.Requeued {
		parts = append(parts, fmt.Sprintf("%s/%d is back from %s %v", q.Player, q.Generation, q.Match, q.Ranks))
	}
	for _, r := range told.Replaced {
		parts = append(parts, fmt.Sprintf("%s replaced by %d", r.Player, r.Generation))
	}
	return strings.Join(parts, " ")
}
