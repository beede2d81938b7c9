package journal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"muster/store"
)

func TestTheStreamAlarmsOnceBeforeItIsFull(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var told []int64
	j := &Journal{opts: Options{Log: zerolog.New(&log), Observer: Observer{Waiting: func(n int64) { told = append(told, n) }}}}
	alarmed := calm
	for i, r := range []struct {
		share           float64
		warnings, fatal int
	}{{0.4, 0, 0}, {0.5, 1, 0}, {0.9, 1, 0}, {0.3, 1, 0}, {0.6, 1, 0}, {0.2, 1, 0}, {0.7, 2, 0}, {1.0, 2, 1}, {1.01, 2, 1}, {0.1, 2, 1}, {1, 2, 2}} {
		waiting := int64(r.share * store.JournalBound)
		alarmed = j.measure(waiting, alarmed)
		warnings, fatal := strings.Count(log.String(), `"level":"warn"`), strings.Count(log.String(), `"level":"error"`)
		if warnings != r.warnings || fatal != r.fatal || told[i] != waiting {
			t.Errorf("step %d, at %v: %d warnings, %d errors; want %d, %d; told %v", i, r.share, warnings, fatal, r.warnings, r.fatal, told)
		}
	}
}
