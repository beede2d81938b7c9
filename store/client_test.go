package store

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"muster/internal/ident"
	"muster/internal/redistest"
)

// described is what a client was built of.
func described(c redis.UniversalClient) string {
	secured := func(config *tls.Config) string {
		if config == nil {
			return ""
		}
		return fmt.Sprintf(" tls %q", config.ServerName)
	}
	switch c := c.(type) {
	case *redis.Client:
		o := c.Options()
		if o.Addr == "FailoverClient" {
			return fmt.Sprintf("sentinel db %d %s:%s retries %d%s", o.DB, o.Username, o.Password, o.MaxRetries, secured(o.TLSConfig))
		}
		return fmt.Sprintf("%s %s db %d %s:%s retries %d%s", o.Network, o.Addr, o.DB, o.Username, o.Password, o.MaxRetries, secured(o.TLSConfig))
	case *redis.ClusterClient:
		o := c.Options()
		return fmt.Sprintf("cluster %v %s:%s redirects %v%s", o.Addrs, o.Username, o.Password, o.MaxRedirects, secured(o.TLSConfig))
	default:
		return fmt.Sprintf("%T", c)
	}
}

func TestClientOfURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://h:1/2":                               "tcp h:1 db 2 : retries 0",
		"redis://h":                                   "tcp h:6379 db 0 : retries 0",
		"redis://user:p%40ss@h:1":                     "tcp h:1 db 0 user:p@ss retries 0",
		"redis://:pass@[::1]:7/0":                     "tcp [::1]:7 db 0 :pass retries 0",
		"rediss://h:1":                                `tcp h:1 db 0 : retries 0 tls "h"`,
		"unix:///run/redis.sock?db=3":                 "unix /run/redis.sock db 3 : retries 0",
		"unix://u:p@/run/redis.sock":                  "unix /run/redis.sock db 0 u:p retries 0",
		"redis://h:1?read_timeout=5s&db=2":            "tcp h:1 db 2 : retries 0",
		"redis://a:1?addr=b:2&addr=c:3":               "cluster [a:1 b:2 c:3] : redirects 3",
		"redis://u:p@a:1?addr=b:2":                    "cluster [a:1 b:2] u:p redirects 3",
		"redis://a?addr=b:2":                          "cluster [a:6379 b:2] : redirects 3",
		"rediss://a:1?addr=b:2":                       `cluster [a:1 b:2] : redirects 3 tls ""`,
		"redis://a:1/4?addr=b:2&master_name=mymaster": "sentinel db 4 : retries 0",
		// The names in front of the hosts are for the Sentinels, those of the query for Redis.
		"redis://s:t@a:1?master_name=m&username=u&password=p": "sentinel db 0 u:p retries 0",
		"rediss://a:1?addr=b:2&master_name=m":                 `sentinel db 0 : retries 0 tls ""`,
		"redis://u:p@redis_1:6379/1":                          "tcp redis_1:6379 db 1 u:p retries 0",
		"redis://redis_1:1?addr=redis_2:2":                    "cluster [redis_1:1 redis_2:2] : redirects 3",
		"http://h":                                            "error",
		"redis:h":                                             "error",
		"unix://h/run/redis.sock":                             "error",
		"redis://h:70000":                                     "error",
		"redis://h:1?addr=h:70000":                            "error",
		"redis://h:1/-1":                                      "error",
		"redis://h:1/2?addr=h:2":                              "error",
		"redis://h:1?master_name=m&route_randomly=true":       "error",
		"redis://u:12#34@h:1":                                 "error",
		"redis://h:1?db=1&%zz":                                "error",
		"h:1":                                                 "error",
		"redis://h:1?no_such_parameter=1":                     "error",
		"redis://a:1?addr=b:2&no_such_parameter=1":            "error",
		"redis://a:1?master_name=m&no_such_parameter=1":       "error",
		"redis://h:1/not-a-number":                            "error",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			got := "error"
			if c, err := newClient(url, time.Second, nil); err == nil {
				got = described(c)
				_ = c.Close()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestClusterNode: a realm's calls work on a Redis Cluster, whose nodes refuse keys of several slots.
func TestClusterNode(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.ClusterNode())
	if _, err := server.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		info, err := server.Do(t.Context(), "CLUSTER", "INFO")
		if err == nil && strings.Contains(fmt.Sprint(info), "cluster_state:ok") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the cluster is not ready: %v, %v", info, err)
		}
	}
	w, d := group("trio", 3), duel("duel", time.Minute)
	be := backend{url: func(testing.TB) string {
		return "redis://" + server.Addr() + "?addr=" + server.Addr()
	}}
	b := setup(t, be, 2, w, d)
	if _, ok := b.rdb.(*redis.ClusterClient); !ok {
		t.Fatalf("client is a %T", b.rdb)
	}
	callAll(b, w, d)
	b.sweep(w, d)
	if kinds := b.keys(); !slices.Contains(kinds, b.key("m")) {
		t.Errorf("keys %v", kinds)
	}
}

// TestEmbeddedAlone is a Store with a Redis of its own: keys end, and nothing has to be recovered.
func TestEmbeddedAlone(t *testing.T) {
	t.Parallel()
	s, err := Open(Options{Realm: redistest.Realm(t), Instance: "a", PresenceTTL: 200 * time.Millisecond, Recovery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err == nil {
			t.Error("closed twice without a word")
		}
	})
	e, err := s.OpenEpoch(t.Context(), 0)
	if err != nil || !s.Embedded() || e.MatchingOpensAt > e.Number.UnixMilli() {
		t.Fatalf("epoch %+v, %v", e, err)
	}
	s.SetEpoch(e.Number)
	states, err := s.Arrive(t.Context(), []Session{{Player: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	who := []Session{{Player: "x", Generation: states[0].Generation}}
	for deadline := time.Now().Add(time.Minute); ; {
		seen, err := s.States(t.Context(), []ident.Player{"x"})
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the presence does not end: %+v, %v", seen, err)
		}
		if seen[0].Generation == 0 {
			break
		}
	}
	errs, err := s.Refresh(t.Context(), who)
	if err != nil || errs[0] != ErrGone { //nolint:errorlint // statuses are the sentinels themselves
		t.Errorf("refresh: %v, %v", errs, err)
	}
}
