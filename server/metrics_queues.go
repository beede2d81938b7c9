package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"muster/internal/ident"
)

// queueCollector reads how the realm's queues stand when it is asked, so that nothing has to be kept up. While
// Redis is away it tells nothing, rather than what was.
type queueCollector struct {
	server        *Server
	waiting, open *prometheus.Desc
}

// scrapeTimeout bounds the read of a scrape.
const scrapeTimeout = time.Second

func newQueueCollector(s *Server) *queueCollector {
	return &queueCollector{
		server:  s,
		waiting: prometheus.NewDesc("muster_tickets_waiting", "Tickets that could be matched now, in the realm.", []string{"world"}, nil),
		open:    prometheus.NewDesc("muster_matches_open", "Matches that are open, in the realm.", []string{"world"}, nil),
	}
}

// Describe is for the registry.
func (q *queueCollector) Describe(d chan<- *prometheus.Desc) { d <- q.waiting; d <- q.open }

// Collect reads the queues.
func (q *queueCollector) Collect(m chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(q.server.base, scrapeTimeout)
	defer cancel()
	var worlds []ident.World
	for _, w := range q.server.matching.Worlds() {
		worlds = append(worlds, w.Name)
	}
	queues, err := q.server.store.Queues(ctx, worlds)
	if err != nil {
		return
	}
	for i, queue := range queues {
		m <- prometheus.MustNewConstMetric(q.waiting, prometheus.GaugeValue, float64(queue.Size), string(worlds[i]))
		m <- prometheus.MustNewConstMetric(q.open, prometheus.GaugeValue, float64(queue.Open), string(worlds[i]))
	}
}
