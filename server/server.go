// Package server is where the parts of an instance meet: it accepts connections, carries out what clients and
// back ends ask for, and starts and drains the rest. It alone knows gin and the frames of a WebSocket.
package server

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"muster/allocation"
	"muster/configs"
	"muster/hub"
	"muster/internal/ident"
	"muster/internal/workers"
	"muster/matching"
	"muster/presence"
	"muster/protocol"
	"muster/store"
	"muster/web"
)

// Options are what a server is made of.
type Options struct {
	Config configs.Config
	// Reload reads the settings again, for Server.Reload.
	Reload func() (configs.Config, error)
	// SetLogLevel changes what is logged from now on; nil where that cannot be changed.
	SetLogLevel func(configs.LogLevel)
	Version     string
	Log         zerolog.Logger
	// LogLinesLost counts the lines that the log could not write; nil if nothing counts them.
	LogLinesLost func() uint64
}

// Server is one instance.
type Server struct {
	opts     Options
	config   configs.Config
	log      zerolog.Logger
	metrics  *metrics
	store    *store.Store
	hub      *hub.Hub
	presence *presence.Keeper
	matching *matching.Matching
	worlds   *realmWorlds
	prompts  *prompts
	// workers run what does not wait of the requests of sessions.
	workers *workers.Workers
	// allocations asks for the servers of matches that wait for one.
	allocations *allocation.Worker
	after       afterwards
	// emptied is signalled when Redis was found empty.
	emptied chan struct{}

	admission *admission
	proxies   proxies
	origins   *origins
	draining  atomic.Bool
	// door is held to begin a connection, and alone to begin the drain, which waits for those that have begun.
	door sync.RWMutex

	// base is the context of connections and of what runs on nobody's behalf; it ends with Run.
	base context.Context //nolint:containedctx // connections outlive the requests that opened them
	stop context.CancelFunc
	// sockets is the context of the connections alone; serving counts them.
	sockets      context.Context //nolint:containedctx // as base
	closeSockets context.CancelFunc
	serving      sync.WaitGroup

	public, ops *http.Server
}

// workersPerCore leaves others to run where one is held up for a moment, by a log that is slow to be written, say.
const workersPerCore = 2

// New puts an instance together. It opens no port and does not wait for Redis: see Run. Of ctx only the values
// count.
func New(ctx context.Context, opts Options) (*Server, error) {
	c := opts.Config
	s := &Server{
		opts: opts, config: c, log: opts.Log, metrics: newMetrics(opts.Version),
		proxies: c.Limits.TrustedProxies, origins: newOrigins(c.Origins), emptied: make(chan struct{}, 1),
		workers: workers.New(workersPerCore * runtime.GOMAXPROCS(0)),
	}
	s.admission = newAdmission(s.mostConnections(openFiles()), c.Limits.ConnectionsPerIP)
	s.origins.localOnly = c.Auth.Mode == configs.AuthDev && !c.Auth.AllowDev
	s.base, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.sockets, s.closeSockets = context.WithCancel(s.base)
	var err error
	s.store, err = store.Open(store.Options{
		URL: c.Redis.URL.Reveal(), Realm: c.Realm, Instance: newInstanceID(), PresenceTTL: c.Presence.TTL,
		Drain: c.Drain, Recovery: c.Redis.Recovery, Observe: s.metrics.scriptCalled, TicketsEnded: s.metrics.ended,
	})
	if err != nil {
		return nil, err
	}
	s.metrics.knowScripts(s.store.ScriptNames())
	s.matching = matching.New(matching.Options{
		Store: s.store, WorldsPerPlayer: func() int { return c.Limits.WorldsPerPlayer }, Logger: s.log,
		Reload:   func(ctx context.Context) error { return s.worlds.Reload(ctx) },
		Observer: matching.Observer{Joined: s.countJoined, Formed: s.countFormed, Swept: s.countSwept},
	})
	s.worlds = newRealmWorlds(s.store, s.matching, c.Worlds, s.log)
	s.hub = hub.New(hub.Options{
		Store: s.store, Heartbeat: c.Presence.Heartbeat, TTL: c.Presence.TTL, Facts: s.worlds.Facts, Log: s.log,
		Dropped: s.metrics.slowClient, LookedAgain: s.metrics.reread, Doubted: func() { s.presence.HealSoon() },
		Shown: func(shown store.Shown) { s.prompts.add(shown) },
	})
	s.presence = presence.New(presence.Options{
		Store: s.store, Sessions: s.hub, Worlds: s.worlds, Log: s.log,
		Heartbeat: c.Presence.Heartbeat, Grace: c.Presence.ReconnectGrace, Emptied: s.noteEmptied,
	})
	s.prompts = newPrompts(s.store.ShowMatches)
	s.allocations = s.newAllocations()
	if s.after, err = s.newAfterwards(s.base); err != nil {
		return nil, err
	}
	s.metrics.registry.MustRegister(newQueueCollector(s))
	s.metrics.observe(s.hub.Count, s.presence.Ready, s.presence.Epochs)
	s.metrics.observeLog(opts.LogLinesLost)
	s.store.OnNotification(s.hub.Deliver)
	s.store.OnRequeue(s.matching.Wake)
	s.store.OnLostHistory(s.presence.Recover)
	s.public = newHTTPServer(s.handler(), s.log)
	if c.OpsListen != "" {
		s.ops = newHTTPServer(s.opsHandler(), s.log)
	}
	return s, nil
}

// mostConnections is how many may be open: what the settings say, and no more than so many files carry.
func (s *Server) mostConnections(files int) int {
	return min(s.config.Limits.Connections, carried(files, runtime.GOMAXPROCS(0)))
}

// fewConnections is a number that is not enough for an instance in production.
const fewConnections = 1000

// noteFiles logs that so many open files carry few connections, if the settings want more.
func (s *Server) noteFiles(files int) {
	wanted, most := s.config.Limits.Connections, s.mostConnections(files)
	if most < wanted && most < fewConnections {
		s.log.Info().Int("files", files).Int("limit", wanted).Int("connections", most).
			Msg("fewer connections than limits.connections: raise the hard limit of open files (ulimit -Hn)")
	}
}

// handler is what clients reach.
func (s *Server) handler() http.Handler {
	engine := newEngine(s.log, s.proxies, s.config.Limits.MessageBytes)
	engine.Use(s.crossOrigin)
	s.routes(engine)
	if s.config.Auth.Mode == configs.AuthDev {
		serveDemo(engine, web.Demo())
	}
	return engine
}

// Embedded tells whether the state lives in this process only.
func (s *Server) Embedded() bool { return s.store.Embedded() }

// Ready tells whether the instance can serve: Redis answers, its worlds are known, and it does not drain.
func (s *Server) Ready() bool {
	return s.presence.Ready() && s.matching.Revision() != 0 && !s.draining.Load()
}

// Reload reads the settings again. Worlds, origins and the level of the log change at once, without a lost
// ticket. It returns, and logs, the keys of settings that differ from those of the start and need a restart.
func (s *Server) Reload() (restart []string, err error) {
	changed, err := s.opts.Reload()
	if err != nil {
		return nil, err
	}
	if restart = configs.Difference(s.config, changed); len(restart) > 0 {
		s.log.Warn().Strs("keys", restart).Msg("settings changed that need a restart")
	}
	ctx, cancel := context.WithTimeout(s.base, requestTimeout)
	defer cancel()
	if err := s.worlds.Replace(ctx, changed.Worlds); err != nil {
		return nil, err
	}
	s.origins.set(changed.Origins)
	if s.opts.SetLogLevel != nil {
		s.opts.SetLogLevel(changed.Log.Level)
	}
	s.log.Info().Msg("settings read again")
	return restart, nil
}

// upgrade makes a request a WebSocket. The handler returns; who waits for the client goes on alone.
func (s *Server) upgrade(c *gin.Context) {
	if !s.enter() {
		writeProblem(c, retryable(protocol.NewError(protocol.CodeDraining)))
		return
	}
	release, admitted := s.admission.admit(s.proxies.clientAddr(c.Request))
	t, err := accept(c.Writer, c.Request, s.config.Limits.MessageBytes)
	if err != nil {
		release()
		s.serving.Done()
		s.log.Debug().Err(err).Msg("upgrade refused")
		return
	}
	if !admitted {
		s.metrics.refused(tooMany)
		go func() {
			defer s.serving.Done()
			t.closeFor(protocol.CloseTooMany) // nobody reads
		}()
		return
	}
	s.metrics.connected(1)
	s.serve(s.sockets, t, func() {
		release()
		s.metrics.connected(-1)
		s.serving.Done()
	})
}

// enter counts a connection that begins, unless the instance drains. Whoever entered is done with
// serving.Done.
func (s *Server) enter() bool {
	s.door.RLock()
	defer s.door.RUnlock()
	if s.draining.Load() {
		return false
	}
	s.serving.Add(1)
	return true
}

func (s *Server) countJoined(w ident.World) { s.metrics.joined(string(w)) }

func (s *Server) countFormed(w ident.World, f store.Formed) {
	s.metrics.formed(string(w), f.Matches, f.Players, f.Parked, f.WaitSum)
	if _, asks := s.worlds.Allocator(w); asks && f.Matches > 0 {
		s.allocations.Wake()
	}
}

func (s *Server) countSwept(swept store.Swept) {
	s.metrics.swept(swept)
}

// newInstanceID names this process; no other has the name, nor will have it after a restart.
func newInstanceID() ident.Instance {
	return ident.Instance("i-" + uuid.NewString()[:8])
}

// newPlayerID names a player that did not name itself.
func newPlayerID() ident.Player {
	return ident.Player("p-" + strings.ReplaceAll(uuid.NewString(), "-", ""))
}

// drainTail is what the end of a drain may take beyond the drain itself.
const drainTail = 5 * time.Second
