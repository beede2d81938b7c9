package faultlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// bundle is a Log, the lines that it wrote, and its clock.
type bundle struct {
	*testing.T
	*Log
	out   bytes.Buffer
	clock time.Time
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{T: t, clock: time.Unix(1_800_000_000, 0)}
	b.Log = New(zerolog.New(&b.out), Messages{Fails: "fails", Works: "works", Reached: "reached", Level: zerolog.WarnLevel})
	b.now = func() time.Time { return b.clock }
	return b
}

// wrote fails unless these lines were written since the last call.
func (b *bundle) wrote(want ...string) {
	b.Helper()
	var got []string
	for line := range bytes.Lines(b.out.Bytes()) {
		var f struct {
			Level, Message, Error, ID string
			Failures                  int
		}
		if err := json.Unmarshal(line, &f); err != nil {
			b.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s%s %d", f.Level, f.Message, f.Error, f.ID, f.Failures))
	}
	b.out.Reset()
	if !slices.Equal(got, want) {
		b.Errorf("wrote %q, want %q", got, want)
	}
}

func TestLog_NamesEachNewReasonOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 5 {
		b.Failed(errors.New("refused"), "id", "m1")
	}
	b.Failed(errors.New("status 401"))
	b.Failed(errors.New("refused"))
	b.wrote("warn fails refusedm1 0", "warn fails status 401 5")
	b.Worked()
	b.Worked()
	b.wrote("info works  0")
}

func TestLog_SumsUpOnceAMinute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 601 {
		b.Failed(errors.New("refused"))
		b.clock = b.clock.Add(100 * time.Millisecond)
	}
	b.wrote("warn fails refused 0", "warn fails refused 600")
}

func TestLog_SaysWhatIsReachedFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Worked()
	b.Worked()
	b.wrote("info reached  0")
}

// A state that changes all the time is bounded, and the log ends with the truth.
func TestLog_IsBoundedWhileStateFlaps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 1000 {
		b.Failed(fmt.Errorf("reason %d", i))
		b.Worked()
	}
	b.Failed(errors.New("last"))
	if got := bytes.Count(b.out.Bytes(), []byte("\n")); got != windowLines {
		t.Errorf("%d lines, want %d", got, windowLines)
	}
	b.out.Reset()
	b.clock = b.clock.Add(window)
	b.Failed(errors.New("last"))
	b.Worked()
	b.wrote("warn fails last 998", "info works  0")
}

func TestLog_PortsAreNoReason(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for port := range 3 {
		b.Failed(fmt.Errorf("post: %w", &net.OpError{Op: "read", Source: &net.TCPAddr{Port: port + 1}, Err: errors.New("reset")}))
	}
	if got := bytes.Count(b.out.Bytes(), []byte("\n")); got != 1 {
		t.Errorf("%d lines: %s", got, b.out.String())
	}
}
