package store

import (
	"slices"
	"strings"
	"testing"

	"muster/lua"
)

// TestScripts_UnpackListsInParts: Lua passes some thousand values to a function at most, so only one include passes on
// a list that may grow.
func TestScripts_UnpackListsInParts(t *testing.T) {
	t.Parallel()
	scripts, err := lua.Load(false, codeNames)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := lua.Files.ReadFile("include/parts.lua")
	if err != nil {
		t.Fatal(err)
	}
	fixed := []string{"unpack(ARGV, ", "unpack(describe(player))", ", taken + 1, taken + size)", "unpack(write)"}
	for name, s := range scripts {
		for line := range strings.Lines(s.Text) {
			if !strings.Contains(line, "unpack(") || strings.Contains(string(parts), line) {
				continue
			}
			if !slices.ContainsFunc(fixed, func(known string) bool { return strings.Contains(line, known) }) {
				t.Errorf("%s: %s", name, strings.TrimSpace(line))
			}
		}
	}
}

// TestParts_AnyNumberOfArguments writes and reads more than Lua passes to one function.
func TestParts_AnyNumberOfArguments(t *testing.T) {
	parts, err := lua.Files.ReadFile("include/parts.lua")
	if err != nil {
		t.Fatal(err)
	}
	onBackends(t, func(t *testing.T, be backend) {
		b := setup(t, be, 1)
		for _, n := range []int{0, 1, 499, 500, 501, 9_000} {
			const body = `
				local n, fields, set, keys = tonumber(ARGV[1]), {}, {}, {}
				for i = 1, n do
					fields[i], keys[i] = 'f' .. i, KEYS[1]
					set[2 * i - 1], set[2 * i] = 'f' .. i, i
				end
				write_many('HSET', KEYS[2], set)
				local values, sum = read_many('HMGET', KEYS[2], fields), 0
				for i = 1, n do
					if tonumber(values[i]) == i then sum = sum + 1 end
				end
				for _, text in ipairs(mget(keys)) do
					if text == 'x' then sum = sum + 1 end
				end
				write_many('HDEL', KEYS[2], fields)
				return {sum, redis.call('EXISTS', KEYS[2])}`
			b.rdb.Set(b.ctx, b.key("text"), "x", 0)
			got, err := b.rdb.Eval(b.ctx, string(parts)+body, []string{b.key("text"), b.key("hash")}, n).Int64Slice()
			if err != nil || got[0] != int64(2*n) || got[1] != 0 {
				t.Errorf("%d: %v, %v", n, got, err)
			}
		}
	})
}
