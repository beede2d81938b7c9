// Package logqueue writes log lines without ever making their author wait. It owns a bounded queue and the goroutine
// that empties it; it must not know what the lines say.
package logqueue

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultBytes is how many bytes of lines wait for a slow reader: some seconds of a busy instance at debug level.
const DefaultBytes = 1 << 20

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("log queue is closed")

// ErrUnwritten is returned by Close when lines were left because the output did not take them in time.
var ErrUnwritten = errors.New("log lines were not written in time")

// Writer passes each line to an output from a goroutine of its own. A line that does not fit into the queue is dropped
// and counted, and so is one that the output refuses. Unlike zerolog's diode it counts while the output is stuck, wakes
// for each line, and writes nothing itself when it drops one. All methods are safe for concurrent use.
type Writer struct {
	out   io.Writer
	limit int
	wake  chan struct{} // holds one signal: lines wait, or Close was called
	done  chan struct{} // closed when the goroutine has ended
	lost  atomic.Uint64

	mu     sync.Mutex
	lines  [][]byte // guarded by mu
	size   int      // bytes of lines, and of those that are being written; guarded by mu
	closed bool     // guarded by mu
}

// New starts a Writer that keeps at most limit bytes.
func New(out io.Writer, limit int) *Writer {
	w := &Writer{out: out, limit: limit, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w
}

// Write queues a copy of line. It never blocks and fails only after Close: a dropped line is counted, not reported.
func (w *Writer) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		w.lost.Add(1)
		return 0, ErrClosed
	case w.size+len(line) > w.limit:
		w.lost.Add(1)
		return len(line), nil
	}
	w.lines = append(w.lines, append([]byte(nil), line...))
	w.size += len(line)
	w.signal()
	return len(line), nil
}

// Lost returns the number of lines that were dropped or that the output refused.
func (w *Writer) Lost() uint64 { return w.lost.Load() }

// Close takes no more lines and waits until the queue is written, at most for the time within.
func (w *Writer) Close(within time.Duration) error {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-w.done:
		return nil
	case <-timer.C:
		return ErrUnwritten
	}
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes lines until Close was called and none is left.
func (w *Writer) run() {
	defer close(w.done)
	for {
		<-w.wake
		for {
			lines, closed := w.take()
			if len(lines) == 0 && closed {
				return
			}
			if len(lines) == 0 {
				break
			}
			w.write(lines)
		}
	}
}

func (w *Writer) take() (lines [][]byte, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines, w.lines = w.lines, nil
	return lines, w.closed
}

// write writes one line a call, so that lines of several processes on one pipe do not mix.
func (w *Writer) write(lines [][]byte) {
	for _, line := range lines {
		if _, err := w.out.Write(line); err != nil {
			w.lost.Add(1)
		}
		w.mu.Lock()
		w.size -= len(line)
		w.mu.Unlock()
	}
}
