package server

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"muster/protocol"
	"muster/store"
)

// metrics are what the operations listener tells. Labels have few values: worlds that are declared, types,
// codes and scripts that exist; never a player, an address or what a client wrote.
type metrics struct {
	registry *prometheus.Registry

	connections     prometheus.Gauge
	refusals        *prometheus.CounterVec
	messages        *prometheus.CounterVec
	errors          *prometheus.CounterVec
	joins           *prometheus.CounterVec
	matches         *prometheus.CounterVec
	matchedPlayers  *prometheus.CounterVec
	ticketWait      *prometheus.HistogramVec
	ticketsEnded    *prometheus.CounterVec
	matchesExpired  prometheus.Counter
	seatsReleased   prometheus.Counter
	allocations     *prometheus.CounterVec
	allocationTime  *prometheus.HistogramVec
	playersParked   prometheus.Counter
	slowClients     prometheus.Counter
	sessionsReread  prometheus.Counter
	scriptDurations *prometheus.HistogramVec
	scriptErrors    *prometheus.CounterVec
}

func newMetrics(version string) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histograms := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		m.registry.MustRegister(h)
		return h
	}
	m.connections = prometheus.NewGauge(prometheus.GaugeOpts{Name: "muster_connections", Help: "WebSockets that are open."})
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "muster_build_info", Help: "1, with the version."}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(m.connections, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.refusals = counters("muster_connections_refused_total", "WebSockets refused, by reason.", "reason")
	m.messages = counters("muster_messages_received_total", "Messages of clients, by type.", "type")
	m.errors = counters("muster_errors_sent_total", "Errors that clients were told, by code.", "code")
	m.joins = counters("muster_joins_total", "Tickets that began to wait.", "world")
	m.matches = counters("muster_matches_total", "Matches formed.", "world")
	m.matchedPlayers = counters("muster_matched_players_total", "Players put into matches.", "world")
	m.ticketWait = histograms("muster_ticket_wait_seconds", "How long the longest-waiting player of a match had waited, mean of a call.",
		[]float64{.005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800}, "world")
	m.ticketsEnded = counters("muster_tickets_ended_total", "Tickets that ended without a match and without being asked, by reason.", "reason")
	m.matchesExpired = counter("muster_matches_expired_total", "Matches whose time was over.")
	m.seatsReleased = counter("muster_seats_released_total", "Seats given back since their players were gone or did not take them up.")
	m.allocations = counters("muster_allocations_total", "Attempts to get a server for a match, by outcome.", "world", "outcome")
	m.allocationTime = histograms("muster_allocation_duration_seconds", "How long allocators took to answer.",
		[]float64{.005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}, "world")
	m.playersParked = counter("muster_players_parked_total", "Players found not to be live, and taken out of the way.")
	m.slowClients = counter("muster_slow_clients_total", "Clients dropped since they did not read.")
	m.sessionsReread = counter("muster_sessions_reread_total", "Sessions whose state was read since a message may have been lost.")
	m.scriptDurations = histograms("muster_script_duration_seconds", "Script calls as this instance sees them.",
		[]float64{.0002, .0005, .001, .002, .005, .01, .05, .25, 1}, "script")
	m.scriptErrors = counters("muster_script_errors_total", "Script calls that Redis did not answer, or refused.", "script")
	m.startAtZero()
	return m
}

// unknownType is the label of messages that are no request.
const unknownType = "unknown"

// startAtZero makes the series whose labels are known, so that an alert on an increase sees the first one too.
func (m *metrics) startAtZero() {
	for _, reason := range []string{refusedOrigin, tooMany} {
		m.refusals.WithLabelValues(reason)
	}
	for _, messageType := range append(protocol.RequestTypes(), unknownType) {
		m.messages.WithLabelValues(messageType)
	}
	for _, code := range protocol.Codes() {
		m.errors.WithLabelValues(code)
	}
	for _, reason := range []string{"declined", "expired", "presence_lost", "world_closed"} {
		m.ticketsEnded.WithLabelValues(reason)
	}
}

// knowScripts makes the series of scripts.
func (m *metrics) knowScripts(names []string) {
	for _, name := range names {
		m.scriptDurations.WithLabelValues(name)
		m.scriptErrors.WithLabelValues(name)
	}
}

// observe registers what is asked for at each scrape.
func (m *metrics) observe(sessions func() int, redisUp func() bool, epochs func() int64) {
	number := func(up bool) float64 {
		if up {
			return 1
		}
		return 0
	}
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "muster_sessions", Help: "Players connected here."},
			func() float64 { return float64(sessions()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "muster_redis_up", Help: "1 while Redis answers."},
			func() float64 { return number(redisUp()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "muster_epochs_total", Help: "Epochs entered; each after the first is a restart, a failover or a loss of Redis' data."},
			func() float64 { return float64(epochs()) }),
	)
}

// observeLog registers the counter of lost log lines, with 0 if nothing counts them.
func (m *metrics) observeLog(lost func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(
		prometheus.CounterOpts{Name: "muster_log_lines_lost_total", Help: "Log lines dropped because stderr was not read or was closed."},
		func() float64 {
			if lost == nil {
				return 0
			}
			return float64(lost())
		}))
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

func (m *metrics) connected(by int)            { m.connections.Add(float64(by)) }
func (m *metrics) refused(reason string)       { m.refusals.WithLabelValues(reason).Inc() }
func (m *metrics) received(messageType string) { m.messages.WithLabelValues(messageType).Inc() }
func (m *metrics) errorSent(code string)       { m.errors.WithLabelValues(code).Inc() }
func (m *metrics) joined(world string)         { m.joins.WithLabelValues(world).Inc() }
func (m *metrics) slowClient()                 { m.slowClients.Inc() }
func (m *metrics) reread(sessions int)         { m.sessionsReread.Add(float64(sessions)) }

// formed counts what one call formed. waitSum adds how long the longest-waiting player of each match waited.
func (m *metrics) formed(world string, matches, players, parked int, waitSum time.Duration) {
	m.playersParked.Add(float64(parked))
	if players > 0 { // also of open seats, without a match
		m.matchedPlayers.WithLabelValues(world).Add(float64(players))
	}
	if matches == 0 {
		return
	}
	m.matches.WithLabelValues(world).Add(float64(matches))
	mean := waitSum.Seconds() / float64(matches)
	for range matches {
		m.ticketWait.WithLabelValues(world).Observe(mean)
	}
}

func (m *metrics) swept(s store.Swept) {
	m.playersParked.Add(float64(s.Parked))
	m.matchesExpired.Add(float64(s.MatchesExpired))
	m.seatsReleased.Add(float64(s.SeatsReleased))
}

// ended counts tickets that a script ended.
func (m *metrics) ended(reason string, tickets int) {
	m.ticketsEnded.WithLabelValues(reason).Add(float64(tickets))
}

// allocated counts an attempt to get a server for a match.
func (m *metrics) allocated(world, outcome string, took time.Duration) {
	m.allocations.WithLabelValues(world, outcome).Inc()
	if took > 0 {
		m.allocationTime.WithLabelValues(world).Observe(took.Seconds())
	}
}

// scriptCalled counts one script call.
func (m *metrics) scriptCalled(script string, took time.Duration, err error) {
	m.scriptDurations.WithLabelValues(script).Observe(took.Seconds())
	if err != nil {
		m.scriptErrors.WithLabelValues(script).Inc()
	}
}
