//go:build linux

package bench

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/musterhq/muster/internal/redistest"
	"github.com/musterhq/muster/load"
)

// layout is some instances, each in a realm, on one Redis or on a Cluster, under as many shares of load.
type layout struct {
	name    string
	realms  []string // of the instances, in turn
	cluster bool
	load    int
}

var layouts = []layout{
	{"one instance", []string{"main"}, false, 1},
	{"one instance, the load of two", []string{"main"}, false, 2},
	{"two instances, one realm", []string{"main", "main"}, false, 2},
	{"one instance, the load of three", []string{"main"}, false, 3},
	{"three instances, one realm", []string{"main", "main", "main"}, false, 3},
	{"three realms, one Redis", []string{"r1", "r2", "r3"}, false, 3},
	{"three realms, a Cluster of three", []string{"r1", "r2", "r3"}, true, 3},
}

// alone is the layout of one instance that has the same load: a machine that is busier sleeps less, and what wakes it is
// a large part of what a join costs.
func (l layout) alone() string {
	for _, other := range layouts {
		if len(other.realms) == 1 && other.load == l.load {
			return other.name
		}
	}
	panic("no layout of one instance with the load of " + l.name)
}

// scaled is what one run of a layout came to.
type scaled struct {
	rate                float64 // joins a second, over all
	serverCPU, redisCPU float64 // µs a join with its leaving, over all processes
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

// scale runs a layout, each share of load being what leaves the machine room with three: what a join costs shows, and
// not what is left of two cores. Under another load it would cost something else, since what comes while a call is
// on its way shares the next.
func (l layout) scale(t *testing.T) scaled {
	const each, duration = 300, 10 * time.Second
	players, rate := each*l.load, each*float64(l.load)
	url, realms := "", slices.Clone(l.realms)
	var redises []*redisServer
	if l.cluster {
		nodes := redistest.StartNodes(t, 3, 5*time.Second)
		url = nodes.URL()
		for i, primary := range nodes.Primaries {
			redises = append(redises, measured(t, primary))
			realms[i] = realmOn(nodes, i)
		}
	} else {
		redis := startRedis(t)
		url, redises = redis.URL(), []*redisServer{redis}
	}
	var servers []*instance
	byRealm := map[string][]string{}
	for _, realm := range realms {
		s := startInstance(t, url, realm)
		servers = append(servers, s)
		byRealm[realm] = append(byRealm[realm], s.url())
	}
	var before, after used
	met := map[load.Stage]func(){
		load.Connected: together(len(byRealm), func() { before = costs(t, servers, redises) }),
		load.Settled:   together(len(byRealm), func() { after = costs(t, servers, redises) }),
	}
	reports := make([]*load.Report, 0, len(byRealm))
	var (
		mu sync.Mutex
		wg sync.WaitGroup
	)
	for _, urls := range byRealm {
		wg.Go(func() {
			report := crowd(t, load.Options{
				URLs: urls, Players: players / len(byRealm), Pattern: load.Steady, Rate: rate / float64(len(byRealm)), Duration: duration, Leave: true,
				Reached: func(s load.Stage) { met[s]() },
			})
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, report)
		})
	}
	wg.Wait()
	return l.sum(reports, before, after)
}

// together makes what each of n calls and returns from when all have and f has been called.
func together(n int, f func()) func() {
	var wg sync.WaitGroup
	wg.Add(n)
	once := sync.OnceFunc(f)
	return func() {
		wg.Done()
		wg.Wait()
		once()
	}
}

// used is the CPU of all servers, of all Redises, and of the busiest of these.
type used struct {
	servers, redises time.Duration
	each             []time.Duration
	at               time.Time
}

func costs(t *testing.T, servers []*instance, redises []*redisServer) (u used) {
	u.at = time.Now()
	for _, s := range servers {
		u.servers += cpu(t, s.pid)
	}
	for _, r := range redises {
		one := cpu(t, r.pid)
		u.redises += one
		u.each = append(u.each, one)
	}
	return u
}

func (layout) sum(reports []*load.Report, before, after used) (s scaled) {
	joins := 0
	for _, r := range reports {
		joins += int(r.Joins)
		s.rate += r.JoinsPerSecond
		for _, l := range r.Latencies {
			if l.Name == "match" {
				s.p99 = max(s.p99, l.P99MS)
			}
		}
	}
	s.serverCPU, s.redisCPU = share(after.servers-before.servers, joins), share(after.redises-before.redises, joins)
	for i := range after.each {
		s.busiestRedis = max(s.busiestRedis, 100*(after.each[i]-before.each[i]).Seconds()/after.at.Sub(before.at).Seconds())
	}
	return s
}

// flat is by how much the CPU of the servers for a join may differ from that of one instance under the same load.
const flat = 0.20

// TestScale measures the layouts in runs that are spread over the whole time, and writes a table.
func TestScale(t *testing.T) {
	if !*scaleFlag {
		t.Skip("measures for minutes: make bench-scale")
	}
	all := map[string][]scaled{}
	for run := range *runsFlag {
		for _, l := range layouts {
			t.Run(fmt.Sprintf("%s %d", l.name, run+1), func(t *testing.T) { all[l.name] = append(all[l.name], l.scale(t)) })
		}
	}
	middle := func(name string, of func(scaled) float64) float64 {
		var list []float64
		for _, s := range all[name] {
			list = append(list, of(s))
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	server := func(s scaled) float64 { return s.serverCPU }
	lines := []string{
		"| layout | joins/s told | by instance or realm | `match` p99 | server CPU a join | against one instance with the same load | Redis CPU a join | busiest Redis |",
		"| --- | --- | --- | --- | --- | --- | --- | --- |",
	}
	for _, l := range layouts {
		if len(all[l.name]) == 0 {
			continue
		}
		ratio := middle(l.name, server) / middle(l.alone(), server)
		holds := "flat"
		if ratio > 1+flat || ratio < 1-flat {
			holds = "**not flat**"
		}
		rate := middle(l.name, func(s scaled) float64 { return s.rate })
		lines = append(lines, fmt.Sprintf("| %s | %.0f | %.0f | %s ms | %s µs | %.2f × (%s) | %s µs | %.1f %% of a core |", l.name,
			rate, rate/float64(len(l.realms)), digits(middle(l.name, func(s scaled) float64 { return s.p99 })), digits(middle(l.name, server)),
			ratio, holds, digits(middle(l.name, func(s scaled) float64 { return s.redisCPU })), middle(l.name, func(s scaled) float64 { return s.busiestRedis })))
	}
	text := conditions() + ":\n\n" + strings.Join(lines, "\n") + "\n"
	t.Logf("\n%s", text)
	writeOut(t, text)
}
