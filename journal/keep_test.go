package journal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/musterhq/muster/lua"
)

func TestTheStreamAlarmsOnceBeforeItIsFull(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var told []int64
	j := &Journal{opts: Options{Log: zerolog.New(&log), Observer: Observer{Waiting: func(n int64) { told = append(told, n) }}}}
	alarmed := false
	for i, r := range []struct {
		share  float64
		alarms int
	}{{0.4, 0}, {0.5, 1}, {0.9, 1}, {0.3, 1}, {0.6, 1}, {0.2, 1}, {0.7, 2}} {
		waiting := int64(r.share * lua.JournalBound)
		alarmed = j.measure(waiting, alarmed)
		if got := strings.Count(log.String(), "journal is behind"); got != r.alarms || told[i] != waiting {
			t.Errorf("step %d, at %v: %d alarms, want %d; told %v", i, r.share, got, r.alarms, told)
		}
	}
	if !strings.Contains(log.String(), `"level":"warn"`) {
		t.Errorf("log: %s", log.String())
	}
}
