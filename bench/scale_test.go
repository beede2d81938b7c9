//go:build linux

package bench

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/redistest"
	"muster/load"
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

// trial is a layout under a load: so many shares of joins a second, or a burst, which has neither.
type trial struct {
	*layout
	shares, each int
}

// rates are joins a second of one share: one so low that few share a call, and one that three instances and all else have room
// for on two cores.
var rates = []int{300, 700}

// trials are those of one table, at a rate or, where it is 0, in a burst.
func trials(rate int) (list []trial) {
	for _, l := range layouts {
		t := trial{l, len(l.realms), rate}
		if rate == 0 {
			t.shares = 0
		}
		if beside := t.beside(); !slices.Contains(list, beside) {
			list = append(list, beside)
		}
		if l != alone {
			list = append(list, t)
		}
	}
	return list
}

// beside is one instance under the same load: a machine that is busier sleeps less, and at a low rate what wakes it is a
// large part of what a join costs.
func (t trial) beside() trial { return trial{alone, t.shares, t.each} }

// share is one instance under the load of one.
func (t trial) share() trial { return trial{alone, min(t.shares, 1), t.each} }

func (t trial) title() string {
	if t.layout == alone && t.shares > 1 {
		return fmt.Sprintf("%s, the load of %d", t.name, t.shares)
	}
	return t.name
}

// options are the same players at the same moments whatever the layout is, taken in turn by its instances, so that nothing but
// the layout differs. Of the burst every instance and every realm has an even number.
func (t trial) options() load.Options {
	if t.shares == 0 {
		return load.Options{Players: 9_900, Pattern: load.Burst}
	}
	players := t.shares * t.each
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

// run starts what the trial needs anew, and measures it. Each instance has a core, where there are as many again for the
// rest; of fewer they share half. Of processes that are moved about each costs more, which says nothing of as many machines.
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
	own := max(1, min(len(realms), runtime.NumCPU()/2))
	rest := cores(fmt.Sprintf("%d-%d", own, max(own, runtime.NumCPU()-1)))
	pin(tb, os.Getpid(), rest)
	for _, r := range redises {
		pin(tb, r.pid, rest)
	}
	var servers []*instance
	o := t.options()
	for i, realm := range realms {
		s := startInstance(tb, url, realm, cores(strconv.Itoa(i%own)))
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

// flat is by how much the CPU of the servers for a join may differ from that of one instance under the same load.
const flat = 0.20

// TestScale measures the layouts in rounds that are spread over the whole time, and writes a table for each load.
func TestScale(t *testing.T) {
	if !*scaleFlag {
		t.Skip("measures for minutes: make bench-scale")
	}
	tables := append([]int{0}, rates...)
	var all results
	for i := range *runsFlag {
		round := map[trial]scaled{}
		for _, rate := range tables {
			list := trials(rate)
			first := i % len(list) // what is first is not always the same
			for _, trial := range slices.Concat(list[first:], list[:first]) {
				name := fmt.Sprintf("%s of %d, %s %d", trial.options().Pattern, rate, trial.title(), i+1)
				t.Run(name, func(t *testing.T) { round[trial] = trial.run(t) })
			}
		}
		all = append(all, round)
	}
	text := conditions() + ":\n"
	for _, rate := range tables {
		heading := fmt.Sprintf("%d joins/s an instance, each player leaving its match and coming again", rate)
		if rate == 0 {
			heading = "9,900 at one moment"
		}
		text += fmt.Sprintf("\n%s:\n\n%s", heading, all.table(trials(rate)))
	}
	t.Logf("\n%s", text)
	writeOut(t, text)
}

// results are those of each round. What was not asked for, or was served in part, is not in it.
type results []map[trial]scaled

// of is a figure of a trial in all rounds in which another was measured as well.
func (r results) of(t, other trial, figure func(s, other scaled) float64) (list []float64) {
	for _, round := range r {
		s, measured := round[t]
		if o, ok := round[other]; measured && ok {
			list = append(list, figure(s, o))
		}
	}
	return list
}

// table judges by ratios within a round, as all benchmarks here do.
func (r results) table(list []trial) string {
	lines := []string{
		"| layout | joins/s told | by instance or realm | `match` p99 | server CPU a join | against one instance with the same load | within 20 % | against one instance with its share | Redis CPU a join | busiest Redis | rounds |",
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
	}
	same := func(f float64) float64 { return f }
	for _, t := range list {
		of := func(figure func(scaled) float64) spread {
			return spreadOf(r.of(t, t, func(s, _ scaled) float64 { return figure(s) }), same)
		}
		against := func(other trial) spread {
			return spreadOf(r.of(t, other, func(s, o scaled) float64 { return s.serverCPU / o.serverCPU }), same)
		}
		rounds := len(r.of(t, t.beside(), func(scaled, scaled) float64 { return 0 }))
		if rounds == 0 || len(r.of(t, t.share(), func(scaled, scaled) float64 { return 0 })) == 0 {
			continue
		}
		beside, holds := against(t.beside()), "yes"
		if math.Abs(beside.median-1) > flat {
			holds = "**no**"
		}
		rate := of(func(s scaled) float64 { return s.rate }).median
		lines = append(lines, fmt.Sprintf("| %s | %.0f | %.0f | %s ms | %s µs | %s × | %s | %s × | %s µs | %.1f %% of a core | %d |",
			t.title(), rate, rate/float64(len(t.realms)), digits(of(func(s scaled) float64 { return s.p99 }).median),
			of(func(s scaled) float64 { return s.serverCPU }), beside, holds, against(t.share()),
			of(func(s scaled) float64 { return s.redisCPU }), of(func(s scaled) float64 { return s.busiestRedis }).median, rounds))
	}
	return strings.Join(lines, "\n") + "\n"
}
