package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
)

func TestRedact_KeepsTheReasonAlone(t *testing.T) {
	t.Parallel()
	parse := func(address string) error {
		_, err := url.Parse(address)
		return err
	}
	for _, c := range []struct {
		address string
		err     error
		want    string
	}{
		{"redis://:hun/ter2@h", parse("redis://:hun/ter2@h"), "invalid port … after host"},
		{"redis://u:hunter%zz@h", parse("redis://u:hunter%zz@h"), "invalid URL escape …"},
		{"hunter2://h", errors.New("redis: invalid URL scheme: hunter2"), "redis: invalid URL scheme: …"},
		{"redis://h?no_such=1", errors.New("redis: unexpected option: no_such"), "… unexpected option: no_such"},
		{"redis://u:1?hun@h", errors.New("invalid: unexpected option: hun@h"), "invalid: unexpected option: …"},
		{"redis://u:a%21hunter2@h", fmt.Errorf("bad: a!hunter2"), "bad: …"},
		{"redis://u:HUNTER2@h", fmt.Errorf("bad: hunter2"), "bad: …"},
	} {
		if got := Redact(c.address, c.err); got != c.want {
			t.Errorf("%s: %q, want %q", c.address, got, c.want)
		}
	}
}

func TestCheck_RefusesWhatLibrariesDrop(t *testing.T) {
	t.Parallel()
	fine := func() error { return nil }
	if err := Check("redis://u:12#34@h", fine); err == nil || err.Error() != "has a #, behind which nothing is read: write it as %23" {
		t.Errorf("err = %v", err)
	}
	for _, address := range []string{"", "redis://u:12%2334@h", "host=h password=a#b"} {
		if err := Check(address, fine); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
