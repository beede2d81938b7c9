//go:build linux

package bench

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/musterhq/muster/internal/redistest"
	"github.com/musterhq/muster/load"
)

// layout is some instances, each in a realm, on one Redis or on a Cluster.
type layout struct {
	name    string
	realms  []string // of the instances, in turn
	cluster bool
}

// alone is what the other layouts stand beside.
var alone = &layout{"one instance", []string{"main"}, false}

var layouts = []*layout{
	alone,
	{"two instances, one realm", []string{"main", "main"}, false},
	{"three instances, one realm", []string{"main", "main", "main"}, false},
	{"three realms, one Redis", []string{"r1", "r2", "r3"}, false},
	{"three realms, a Cluster of three", []string{"r1", "r2", "r3"}, true},
}

// trial is a layout under a load, which is so many shares of steady joins, or a burst.
type trial struct {
	*layout
	shares int // 0 is the burst
}

func bursts() (list []trial) {
	for _, l := range layouts {
		list = append(list, trial{l, 0})
	}
	return list
}

// steadies has each layout under a share for each of its instances, and beside it one instance under as many: a machine
// that is busier sleeps less, and at so low a rate what wakes it is a large part of what a join costs.
func steadies() (list []trial) {
	for _, l := range layouts {
		t := trial{l, len(l.realms)}
		if !slices.Contains(list, t.beside()) {
			list = append(list, t.beside())
		}
		if l != alone {
			list = append(list, t)
		}
	}
	return list
}

// beside is the trial of one instance under the same load.
func (t trial) beside() trial { return trial{alone, t.shares} }

func (t trial) title() string {
	if t.layout == alone && t.shares > 1 {
		return fmt.Sprintf("%s, the load of %d", t.name, t.shares)
	}
	return t.name
}

// options are the same players at the same moments whatever the layout is, taken in turn by its instances, so that nothing but
// the layout differs. Of steady joins a share is what leaves the machine room with three: what a join costs shows, and not
// what is left of two cores. Of the burst every instance and every realm has an even number.
func (t trial) options() load.Options {
	if t.shares == 0 {
		return load.Options{Players: 9_900, Pattern: load.Burst}
	}
	players := 300 * t.shares
	return load.Options{Players: players, Pattern: load.Steady, Rate: float64(players), Duration: 10 * time.Second, Leave: true}
}

// scaled is what one run of a trial came to.
type scaled struct {
	rate                float64 // players told a second, over all
	serverCPU, redisCPU float64 // µs a join, steady ones with their leaving, over all processes
	p99                 float64 // ms
	busiestRedis        float64 // percent of a core
}

// realmOn is a name of a realm that a node of a Cluster holds.
func realmOn(nodes *redistest.Nodes, node int) string {
	for i := 0; ; i++ {
		if realm := fmt.Sprintf("r%d-%d", node, i); nodes.Of("{"+realm+"}") == node {
			return realm
		}
	}
}

// run starts what the trial needs anew, and measures it. All instances share a core, and the rest the others: of three
// processes that are moved over two cores each costs more, which says nothing of as many machines.
func (t trial) run(tb testing.TB) scaled {
	url, realms := "", slices.Clone(t.realms)
	var redises []*redisServer
	if t.cluster {
		nodes := redistest.StartNodes(tb, 3, 5*time.Second)
		url = nodes.URL()
		for i, primary := range nodes.Primaries {
			redises = append(redises, measured(tb, primary))
			realms[i] = realmOn(nodes, i)
		}
	} else {
		redis := startRedis(tb)
		url, redises = redis.URL(), []*redisServer{redis}
	}
	pin(tb, os.Getpid(), otherCores)
	for _, r := range redises {
		pin(tb, r.pid, otherCores)
	}
	var servers []*instance
	o := t.options()
	for _, realm := range realms {
		s := startInstance(tb, url, realm, ownCore)
		servers = append(servers, s)
		o.URLs = append(o.URLs, s.url())
	}
	var at []used
	o.Reached = func(load.Stage) { at = append(at, costs(tb, servers, redises)) } // once before and once after
	report := crowd(tb, o)
	if o.Pattern == load.Burst && report.Told < int64(o.Players) {
		tb.Skip("a burst that was served in part is none")
	}
	return sum(report, at[0], at[1])
}

// used is the CPU of all servers, of all Redises, and of the busiest of these.
type used struct {
	servers, redises time.Duration
	each             []time.Duration
	at               time.Time
}

func costs(tb testing.TB, servers []*instance, redises []*redisServer) (u used) {
	u.at = time.Now()
	for _, s := range servers {
		u.servers += cpu(tb, s.pid)
	}
	for _, r := range redises {
		one := cpu(tb, r.pid)
		u.redises += one
		u.each = append(u.each, one)
	}
	return u
}

func sum(report *load.Report, before, after used) scaled {
	s := scaled{
		rate:      report.JoinsPerSecond,
		serverCPU: share(after.servers-before.servers, int(report.Joins)),
		redisCPU:  share(after.redises-before.redises, int(report.Joins)),
	}
	for _, l := range report.Latencies {
		if l.Name == "match" {
			s.p99 = l.P99MS
		}
	}
	for i := range after.each {
		s.busiestRedis = max(s.busiestRedis, 100*(after.each[i]-before.each[i]).Seconds()/after.at.Sub(before.at).Seconds())
	}
	return s
}

// burstsARun is how often a run has its bursts: each is over in less than a second, in which the collector comes or does not,
// so that the CPU of one says little.
const burstsARun = 3

// flat is by how much the CPU of the servers for a join may differ from that of one instance under the same load.
const flat = 0.20

// TestScale measures the layouts in runs that are spread over the whole time, and writes a table for the burst and one for
// steady joins.
func TestScale(t *testing.T) {
	if !*scaleFlag {
		t.Skip("measures for minutes: make bench-scale")
	}
	all := results{}
	for run := range *runsFlag {
		for range burstsARun {
			all.measure(t, run, bursts())
		}
		all.measure(t, run, steadies())
	}
	text := fmt.Sprintf("%s:\n\nAll at one moment:\n\n%s\nSteady, each player leaving and coming again:\n\n%s",
		conditions(), all.table(bursts()), all.table(steadies()))
	t.Logf("\n%s", text)
	writeOut(t, text)
}

// results are those of all runs of each trial. One that was not asked for has none.
type results map[trial][]scaled

func (r results) measure(t *testing.T, run int, trials []trial) {
	for _, trial := range trials {
		name := fmt.Sprintf("%s of %s %d", trial.options().Pattern, trial.title(), run+1)
		t.Run(name, func(t *testing.T) { r[trial] = append(r[trial], trial.run(t)) })
	}
}

// table judges medians against each other, and not run by run: what disturbs a run here is over before the next.
func (r results) table(trials []trial) string {
	lines := []string{
		"| layout | joins/s told | by instance or realm | `match` p99 | server CPU a join | against one instance with the same load | within 20 % | Redis CPU a join | busiest Redis |",
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
	}
	server := func(s scaled) float64 { return s.serverCPU }
	for _, t := range trials {
		beside := r[t.beside()]
		if len(r[t]) == 0 || len(beside) == 0 {
			continue
		}
		of := func(figure func(scaled) float64) spread { return spreadOf(r[t], figure) }
		rate, ratio := of(func(s scaled) float64 { return s.rate }).median, of(server).median/spreadOf(beside, server).median
		holds := "yes"
		if math.Abs(ratio-1) > flat {
			holds = "**no**"
		}
		lines = append(lines, fmt.Sprintf("| %s | %.0f | %.0f | %s ms | %s µs | %.2f × | %s | %s µs | %.1f %% of a core |",
			t.title(), rate, rate/float64(len(t.realms)), digits(of(func(s scaled) float64 { return s.p99 }).median),
			of(server), ratio, holds,
			of(func(s scaled) float64 { return s.redisCPU }), of(func(s scaled) float64 { return s.busiestRedis }).median))
	}
	return strings.Join(lines, "\n") + "\n"
}
