package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"muster/configs"
	"muster/store"
)

// Run serves until ctx ends, then drains: clients are told to go elsewhere, their players become away, and no
// ticket is lost. started is called once the ports are open, with the address of the public one.
func (s *Server) Run(ctx context.Context, started func(public string)) error {
	public, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	var ops net.Listener
	if s.ops != nil {
		if ops, err = net.Listen("tcp", s.config.OpsListen); err != nil {
			_ = public.Close()
			return fmt.Errorf("ops_listen: %w", err)
		}
	}
	// What runs on behalf of connections ends after them.
	work, stopWork := context.WithCancel(s.base)
	defer stopWork()
	defer s.stop()
	if err := errors.Join(s.presence.Start(work), s.matching.Start(work), s.allocations.Start(work), s.after.start(work)); err != nil {
		return err
	}
	s.workers.Start()
	defer s.workers.Stop()
	var running sync.WaitGroup
	running.Go(func() { s.store.Subscribe(work, func(told store.Notification) { s.hub.Deliver(told) }, s.presence.Gap) })
	running.Go(func() { s.updateLoop(work) })
	running.Go(func() { s.inspect(work) })
	running.Go(func() { s.prompts.run(work) })
	if s.after.journal != nil {
		running.Go(func() { s.restoreLoop(work) })
	}
	failed := make(chan error, 2)
	serve := func(server *http.Server, l net.Listener) {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
	}
	running.Go(func() {
		serve(s.public, scarce(public, openFiles(), runtime.GOMAXPROCS(0), func() { s.metrics.refused(tooMany) }))
	})
	if ops != nil {
		running.Go(func() { serve(s.ops, ops) })
	}
	started(public.Addr().String())
	s.noteFiles(openFiles())
	s.warnOpenToAll()
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.drain(work)
	stopWork()
	running.Wait()
	s.after.stop()
	return errors.Join(err, s.store.Close())
}

// warnOpenToAll logs at start that no token protects a server that others than this machine's programs can reach.
func (s *Server) warnOpenToAll() {
	if s.config.Auth.Mode == configs.AuthDev && (s.config.Auth.AllowDev || len(s.config.Limits.TrustedProxies) > 0) {
		s.log.Warn().Str("remedy", "let the proxy pass only what players need, or keep the server in a private network").
			Msg("auth.mode is dev and others can reach this server: any client may act for any player and end any match (DELETE /v1/matches)")
	}
}

// inspect says once, as soon as Redis answers, what it is not set to as it should be.
func (s *Server) inspect(ctx context.Context) {
	s.await(ctx, s.presence.Ready)
	if ctx.Err() != nil {
		return
	}
	wrong, err := s.store.Inspect(ctx)
	if err != nil {
		s.log.Warn().Err(err).Msg("settings of redis not read")
	}
	for _, words := range wrong {
		s.log.Warn().Msg("redis: " + words)
	}
}

// drain lets go of all clients, spread over the time that is set, and then of the leases.
func (s *Server) drain(ctx context.Context) {
	s.door.Lock()
	s.draining.Store(true)
	s.door.Unlock()
	s.log.Info().Int("sessions", s.hub.Count()).Dur("drain", s.config.Drain).Msg("draining")
	ctx, cancel := context.WithTimeout(ctx, s.config.Drain+drainTail)
	defer cancel()
	var ending sync.WaitGroup
	ending.Go(s.allocations.Stop) // another instance asks for what waits
	s.hub.GoingAway(ctx, s.config.Drain)
	s.closeSockets() // and with them who has not said hello
	gone := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
	ending.Wait()
	s.presence.Stop(ctx)
	s.matching.Stop()
	s.stop()
	for _, server := range []*http.Server{s.public, s.ops} {
		if server == nil {
			continue
		}
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close()
		}
	}
	s.log.Info().Msg("stopped")
}

// await looks every few milliseconds whether something has come to be, as far as ctx goes.
func (s *Server) await(ctx context.Context, done func() bool) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
