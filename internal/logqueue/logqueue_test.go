package logqueue_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/logqueue"
)

// patience bounds what a busy machine may take; the tests need milliseconds.
const patience = 60 * time.Second

func TestWriter_WritesEachLineAtOnce(t *testing.T) {
	t.Parallel()
	r, out := io.Pipe()
	w := logqueue.New(out, 1000)
	line := make([]byte, 100)
	for i := range 1000 { // a lost wake-up would leave a line until the next one
		if _, err := fmt.Fprintf(w, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
		n, err := r.Read(line)
		if err != nil || string(line[:n]) != fmt.Sprintf("line %d\n", i) {
			t.Fatalf("read %q, %v", line[:n], err)
		}
	}
	if err := w.Close(patience); err != nil || w.Lost() != 0 {
		t.Errorf("closed with %v, %d lost", err, w.Lost())
	}
}

func TestWriter_FlushesOnClose(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer // only the writer's goroutine uses it until Close has returned
	w := logqueue.New(&out, logqueue.DefaultBytes)
	var want sync.Map
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for j := range 200 {
				line := fmt.Sprintf("%d/%d", i, j)
				want.Store(line, true)
				_, _ = fmt.Fprintln(w, line)
			}
		})
	}
	writers.Wait()
	if err := w.Close(patience); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if _, ok := want.LoadAndDelete(strings.TrimSpace(line)); !ok {
			t.Errorf("line %q is torn or written twice", line)
		}
	}
	want.Range(func(line, _ any) bool {
		t.Errorf("line %v is missing", line)
		return true
	})
	if _, err := w.Write([]byte("late\n")); !errors.Is(err, logqueue.ErrClosed) || w.Lost() != 1 {
		t.Errorf("after Close: %v, %d lost", err, w.Lost())
	}
}

func TestWriter_CountsWhileOutputIsStuck(t *testing.T) {
	t.Parallel()
	r, out := io.Pipe()
	w := logqueue.New(out, 100)
	for range 25 { // ten bytes each
		if _, err := w.Write([]byte("ten bytes\n")); err != nil {
			t.Fatal(err)
		}
	}
	if w.Lost() != 15 {
		t.Errorf("%d lost of 25 lines when ten fit", w.Lost())
	}
	if err := w.Close(time.Millisecond); !errors.Is(err, logqueue.ErrUnwritten) {
		t.Errorf("closed with %v while the output is stuck", err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // ends with the pipe
	if err := w.Close(patience); err != nil {
		t.Errorf("closed again with %v when the output was read", err)
	}
	_ = out.Close()
	if w.Lost() != 15 {
		t.Errorf("%d lost in the end", w.Lost())
	}
}

func TestWriter_SurvivesOutputThatFails(t *testing.T) {
	t.Parallel()
	r, out := io.Pipe()
	_ = r.Close()
	w := logqueue.New(out, 1000)
	for range 7 {
		if _, err := w.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(patience); err != nil || w.Lost() != 7 {
		t.Errorf("closed with %v, %d lost of 7", err, w.Lost())
	}
}
