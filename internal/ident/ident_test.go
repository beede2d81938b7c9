package ident

import (
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"":                      false,
		"a":                     true,
		"A-Z_a.z:0@9":           true,
		strings.Repeat("x", 64): true,
		strings.Repeat("x", 65): false,
		"a b":                   false, "a|b": false, "a;b": false, "a=b": false, "a,b": false,
		"ä": false, "a\n": false, "{a}": false, "a/b": false, "\x00": false,
	} {
		if got := Valid(s); got != want {
			t.Errorf("Valid(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestTicketOf(t *testing.T) {
	t.Parallel()
	if got := TicketOf("world1", 1795970000000001); got != "world1.1795970000000001" {
		t.Errorf("TicketOf = %s", got)
	}
	if got := Place(1795970000000001).UnixMilli(); got != 1795970000000 {
		t.Errorf("UnixMilli = %d", got)
	}
}
