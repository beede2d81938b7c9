package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"muster/journal"
	"muster/webhooks"
)

// observeJournal registers what is told of the journal. An instance without one does not show it.
func (m *metrics) observeJournal() journal.Observer {
	counter := m.counters()
	written := counter("muster_journal_entries_total", "Entries of the stream that the journal wrote.")
	dead := counter("muster_journal_dead_total", "Entries of the stream that became dead letters.")
	failures := counter("muster_journal_failures_total", "Transactions that PostgreSQL did not carry out.")
	refusals := counter("muster_journal_refusals_total", "Entries that PostgreSQL refused.")
	kept := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "muster_journal_stream_entries", Help: "Entries that the realm's stream keeps, of 1000000 at most.",
	})
	m.registry.MustRegister(kept)
	return journal.Observer{
		Written: func(n int) { written.Add(float64(n)) }, Dead: func(n int) { dead.Add(float64(n)) },
		Failed: failures.Inc, Refused: refusals.Inc, Waiting: func(n int64) { kept.Set(float64(n)) },
	}
}

// observeWebhooks registers what is told of webhooks. Their addresses are no labels: they may hold a token.
func (m *metrics) observeWebhooks() webhooks.Observer {
	counter := m.counters()
	failures := counter("muster_webhook_failures_total", "Attempts that a receiver did not take.")
	dead := counter("muster_webhook_dead_total", "Deliveries that were given up.")
	took := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "muster_webhook_duration_seconds", Help: "How long receivers took for what they took.",
		Buckets: []float64{.005, .01, .05, .1, .5, 1, 5, 10},
	})
	m.registry.MustRegister(took)
	return webhooks.Observer{
		Delivered: func(d time.Duration) { took.Observe(d.Seconds()) }, Failed: failures.Inc, Dead: dead.Inc,
	}
}

// counters makes and registers counters.
func (m *metrics) counters() func(name, help string) prometheus.Counter {
	return func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
}
