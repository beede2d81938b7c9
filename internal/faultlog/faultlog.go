// Package faultlog logs something that may fail again and again in a bounded number of lines: when it begins and ceases to
// fail, when the reason changes, and once a minute while it fails, with the number of failures since the line before.
package faultlog

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// window is how long a reason is not repeated, windowLines how many lines it may have.
	window      = time.Minute
	windowLines = 8
)

// Messages are the constant messages of a Log; an empty one is not logged.
type Messages struct {
	// Fails is logged at Level, Works and Reached at info. Reached is for the first success.
	Fails, Works, Reached string
	Level                 zerolog.Level
}

// Log is the state of one thing that may fail. All methods are safe for concurrent use.
type Log struct {
	log      zerolog.Logger
	messages Messages

	mu sync.Mutex
	// guarded by mu
	now      func() time.Time
	begun    time.Time // of the window
	lines    int       // in the window
	reasons  map[string]bool
	unlogged int  // failures since the last line
	failing  bool // as the log says
	reached  bool
}

// New makes a Log. Whatever log carries is in each line.
func New(log zerolog.Logger, messages Messages) *Log {
	return &Log{log: log, messages: messages, now: time.Now, reasons: map[string]bool{}}
}

// Failed notes one more failure. The fields, names and values in turn, are those of this failure.
func (l *Log) Failed(err error, fields ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn()
	l.unlogged++
	reason := reasonOf(err)
	if l.failing && l.reasons[reason] || l.lines >= windowLines {
		return
	}
	l.failing, l.reasons[reason] = true, true
	event := l.log.WithLevel(l.messages.Level).Err(err)
	for i := 0; i+1 < len(fields); i += 2 {
		event = event.Str(fields[i], fields[i+1])
	}
	l.write(event, l.messages.Fails)
}

// Worked notes a success.
func (l *Log) Worked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.reached
	l.reached = true
	if !l.failing && !first {
		return
	}
	l.turn()
	switch {
	case l.failing && l.lines >= windowLines:
	case l.failing:
		l.failing = false
		l.write(l.log.Info(), l.messages.Works)
	case l.messages.Reached != "":
		l.write(l.log.Info(), l.messages.Reached)
	}
}

// turn begins a new window if the last one is over. The caller holds mu.
func (l *Log) turn() {
	if now := l.now(); now.Sub(l.begun) >= window {
		l.begun, l.lines = now, 0
		clear(l.reasons)
	}
}

func (l *Log) write(event *zerolog.Event, message string) {
	l.lines++
	if l.unlogged > 1 {
		event = event.Int("failures", l.unlogged)
	}
	l.unlogged = 0
	event.Msg(message)
}

// reasonOf is what makes two errors the same: the addresses of a connection differ each time.
func reasonOf(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}
