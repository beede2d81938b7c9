package lua

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is a Redis within the process, for trying out and for tests. miniredis does not let keys end by
// itself: its clock is driven.
type embedded struct {
	mini *miniredis.Miniredis
	done chan struct{}
	once sync.Once
	wg   sync.WaitGroup
}

const embeddedTick = 100 * time.Millisecond

func startEmbedded() (*embedded, error) {
	mini, err := miniredis.Run()
	if err != nil {
		return nil, err
	}
	e := &embedded{mini: mini, done: make(chan struct{})}
	e.wg.Add(1)
	go e.drive()
	return e, nil
}

func (e *embedded) url() string { return "redis://" + e.mini.Addr() + "/0" }

func (e *embedded) drive() {
	defer e.wg.Done()
	ticker := time.NewTicker(embeddedTick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-e.done:
			return
		case now := <-ticker.C:
			e.mini.FastForward(now.Sub(last))
			last = now
		}
	}
}

func (e *embedded) stop() {
	e.once.Do(func() {
		close(e.done)
		e.wg.Wait()
		e.mini.Close()
	})
}
