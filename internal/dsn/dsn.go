// Package dsn checks the addresses of databases, which may hold a password, without showing any part of them.
package dsn

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Check asks parse, the parser of the library that will use the address, whether it takes it. The error gives the
// library's reason with everything removed that stands in the address, but for the names of its parameters.
//
// A URL with a # is refused: libraries drop what follows, and mostly it is a password that is not percent-encoded.
func Check(address string, parse func() error) error {
	if strings.Contains(address, "://") && strings.Contains(address, "#") {
		return errors.New("has a #, behind which nothing is read: write it as %23")
	}
	err := parse()
	if err == nil {
		return nil
	}
	reason := Redact(address, err)
	if misplaced(address) {
		reason += " (in a user or a password, percent-encode / ? # @ : % and spaces)"
	}
	return errors.New("cannot be used: " + reason)
}

// misplaced reports whether a URL may have a password in a wrong place, because it is not percent-encoded.
func misplaced(address string) bool {
	_, behind, ok := strings.Cut(address, "://")
	if !ok || !strings.Contains(behind, "@") {
		return false
	}
	if i := strings.IndexAny(behind, "/?"); i >= 0 && strings.Contains(behind[i:], "@") {
		return true
	}
	_, err := url.Parse(address)
	return err != nil
}

// quoted is what libraries put between quotes: nearly always a part of the address.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|`[^`]*`")

const removed = "…"

// Redact is the text of an error of a library that was given the address, without what stands in the address.
func Redact(address string, err error) string {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		err = parsing.Err
	}
	secret := words(address)
	if plain, err := url.QueryUnescape(address); err == nil {
		for word := range words(plain) {
			secret[word] = true
		}
	}
	for name := range parameters(address) {
		delete(secret, name)
	}
	var b strings.Builder
	for part := range strings.FieldsSeq(quoted.ReplaceAllString(err.Error(), removed)) {
		for word := range words(part) {
			if secret[word] {
				part = removed
				break
			}
		}
		b.WriteString(part + " ")
	}
	return strings.TrimSpace(b.String())
}

// words are the runs of letters and digits of a text, in small letters.
func words(text string) map[string]bool {
	found := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		found[word] = true
	}
	return found
}

// parameters are the names of a URL's parameters: none if an @ behind the ? makes it possible that the password has
// begun them.
func parameters(address string) map[string]bool {
	names := make(map[string]bool)
	_, query, _ := strings.Cut(address, "?")
	if strings.Contains(query, "@") {
		return names
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return names
	}
	for name := range values {
		names[strings.ToLower(name)] = true
	}
	return names
}
