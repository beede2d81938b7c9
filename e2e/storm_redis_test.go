package e2e

import (
	"context"
	"time"

	"muster/internal/redistest"
)

// redis has Redis carry out a command, sooner or later: it may still be healing from the last fault.
func (s *storm) redis(args ...any) {
	eventually(s.cluster.t, func() string {
		if _, err := s.cluster.redis.Do(s.cluster.t.Context(), args...); err != nil {
			return err.Error()
		}
		return ""
	})
}

// killSubscribers breaks the connections over which instances are told things, again and again.
func (s *storm) killSubscribers() {
	cut := func() { s.redis("CLIENT", "KILL", "TYPE", "pubsub") }
	s.told(cut)
	for range 4 {
		<-time.After(s.between(0, 200*time.Millisecond))
		cut()
	}
}

func (s *storm) freezeRedis() {
	s.cluster.redis.Pause()
	<-time.After(s.between(200*time.Millisecond, 4*time.Second))
	s.cluster.redis.Resume()
}

func (s *storm) pauseRedis() {
	d := s.between(200*time.Millisecond, 2500*time.Millisecond)
	s.redis("CLIENT", "PAUSE", d.Milliseconds(), "ALL")
	<-time.After(d)
}

// busyRedis runs a script without an end, and kills it: Redis answers BUSY to everybody else.
func (s *storm) busyRedis() {
	const threshold = 100 * time.Millisecond
	s.redis("CONFIG", "SET", "busy-reply-threshold", threshold.Milliseconds())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		loop(s.cluster.t.Context(), s.cluster.redis)
	}()
	<-time.After(s.between(3*threshold, 10*threshold))
	s.redis("SCRIPT", "KILL")
	<-ended
}

// loop blocks a Redis until the script is killed, which is the error that it always ends with.
func loop(ctx context.Context, redis *redistest.Server) {
	_, _ = redis.Do(ctx, "EVAL", "while true do end", 0)
}

// fillRedis leaves Redis no memory for a while.
func (s *storm) fillRedis() {
	s.redis("CONFIG", "SET", "maxmemory", "1mb")
	<-time.After(s.between(500*time.Millisecond, 2500*time.Millisecond))
	s.redis("CONFIG", "SET", "maxmemory", "0")
}

// readOnlyRedis makes Redis the replica of nobody, and a primary again: with the same data, but for all that
// can be known with a history of its own.
func (s *storm) readOnlyRedis() {
	s.redis("REPLICAOF", "127.0.0.1", "1")
	<-time.After(s.between(500*time.Millisecond, 2500*time.Millisecond))
	s.redis("REPLICAOF", "NO", "ONE")
}

func (s *storm) restartRedis(withData bool) {
	s.cluster.redis.Kill()
	if !withData {
		s.cluster.redis.LoseData()
	}
	<-time.After(s.between(0, 2*time.Second))
	s.cluster.redis.Restart()
}

// emptyAndCrash takes all data from Redis and an instance with it, before it can say what it knew.
func (s *storm) emptyAndCrash() {
	i := s.any()
	i.kill()
	s.redis("FLUSHALL")
	i.start()
	i.awaitReady()
}
