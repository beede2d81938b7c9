package configs

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parse reads a scalar. Where the text is not what the key allows, it returns the reason, which says
// what is allowed, and quotes the text unless it is a secret.
func parse(f field, text string) (value any, wrong string) {
	switch {
	case f.typ == durationType:
		return parseDuration(f, text)
	case isText(f.typ):
		return parsePrefix(text)
	}
	switch f.typ.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return nil, "must be true or false" + is(text)
		}
		return text == "true", ""
	case reflect.Int:
		return parseInt(f, text)
	case reflect.Float64:
		return parseFloat(f, text)
	default:
		return parseString(f, text)
	}
}

// bounds are the two ends of the tag range, as they are written.
func (f field) bounds() (least, most string) {
	least, most, _ = strings.Cut(f.tag.Get("range"), "..")
	return least, most
}

func parseDuration(f field, text string) (any, string) {
	least, most := f.bounds()
	d, err := time.ParseDuration(text)
	if err != nil || d < mustDuration(least) || d > mustDuration(most) {
		return nil, fmt.Sprintf("must be a duration from %s to %s, such as 1500ms or 30s", least, most) + is(text)
	}
	return d, ""
}

// mustDuration reads a bound of the tag range; a test walks through all tags.
func mustDuration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

func parseInt(f field, text string) (any, string) {
	least, most := f.bounds()
	n, err := strconv.Atoi(text)
	if err != nil || n < int(mustNumber(least)) || n > int(mustNumber(most)) {
		return nil, fmt.Sprintf("must be a whole number from %s to %s", least, most) + is(text)
	}
	return n, ""
}

func parseFloat(f field, text string) (any, string) {
	least, most := f.bounds()
	x, err := strconv.ParseFloat(text, 64)
	// Written so that NaN, which is neither less nor more, is refused.
	if err != nil || !(x >= mustNumber(least) && x <= mustNumber(most)) {
		return nil, fmt.Sprintf("must be a number from %s to %s", least, most) + is(text)
	}
	return x, ""
}

func mustNumber(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return x
}

// parsePrefix returns text, not a netip.Prefix: koanf copies values by reflection, which a type with
// unexported fields does not survive. The text is in a form that netip.Prefix unmarshals.
func parsePrefix(text string) (any, string) {
	if p, err := netip.ParsePrefix(text); err == nil && p == p.Masked() {
		return p.String(), ""
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()).String(), ""
	}
	return nil, "must be an address or a network such as 10.0.0.0/8, with no bits set behind its length" + is(text)
}

func parseString(f field, text string) (any, string) {
	if words := strings.Fields(f.tag.Get("oneof")); len(words) > 0 && !slices.Contains(words, text) {
		return nil, "must be " + or(words) + is(text)
	}
	if name := f.tag.Get("form"); name != "" {
		if wrong := forms[name](text); wrong != "" {
			if f.typ != secretType {
				wrong += is(text)
			}
			return nil, wrong
		}
	}
	if f.typ == secretType {
		return Secret(text), ""
	}
	return text, ""
}

// maxQuoted is how much of a wrong value is shown; enough to find it.
const maxQuoted = 60

func is(text string) string { return ", is " + quote(text) }

func quote(text string) string {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return strconv.Quote(text)
}

// or lists words for a person: "a, b or c".
func or(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
