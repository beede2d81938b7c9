package webhooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"muster/internal/ident"
	"muster/internal/redistest"
	"muster/store"
)

// deadline is how long a test waits for what is to come: long, since the machine may be busy.
const deadline = 30 * time.Second

const secret = "a secret"

// got is what a receiver was sent.
type got struct {
	id, match string
	signed    bool
}

// receiver is a system that is told, and what it was sent.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	list []got // guarded by mu
}

// receive starts a receiver. answer gives each request's answer; n counts those of the same event, from 1 on.
func receive(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, g got, n int)) *receiver {
	t.Helper()
	rc := &receiver{}
	rc.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var b body
		if err != nil || json.Unmarshal(text, &b) != nil || b.Match == nil || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get(HeaderEventID) != b.ID || r.Header.Get(HeaderEvent) != string(b.Type) {
			t.Errorf("request %v with %s (%v)", r.Header, text, err)
			return
		}
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%s.%s", r.Header.Get(HeaderTimestamp), text)
		g := got{b.ID, string(b.Match.ID), r.Header.Get(HeaderSignature) == "v1="+hex.EncodeToString(mac.Sum(nil))}
		rc.mu.Lock()
		rc.list = append(rc.list, g)
		n := 0
		for _, other := range rc.list {
			if other.id == g.id {
				n++
			}
		}
		rc.mu.Unlock()
		if answer != nil {
			answer(w, r, g, n)
		}
	}))
	t.Cleanup(rc.Close)
	return rc
}

// all is what the receiver was sent.
func (rc *receiver) all() []got {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return slices.Clone(rc.list)
}

// matches are those that the receiver was told of, as often as it was.
func (rc *receiver) matches() []string {
	var list []string
	for _, g := range rc.all() {
		list = append(list, g.match)
	}
	slices.Sort(list)
	return list
}

// target is a receiver's.
func (rc *receiver) target() Target {
	return Target{URL: rc.URL + "/hook?token=hidden", Secret: []byte(secret), Events: []Type{MatchCompleted, MatchEnded}, Attempts: 3}
}

// bundle is a realm and what a test does to it.
type bundle struct {
	*testing.T
	ctx       context.Context
	realm     string
	redis     *redistest.Server
	instances int
}

func setup(t *testing.T, server *redistest.Server) *bundle {
	t.Helper()
	return &bundle{T: t, ctx: context.Background(), realm: redistest.Realm(t), redis: server}
}

func (b *bundle) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bundle) store() *store.Store {
	b.Helper()
	b.instances++
	s, err := store.Open(store.Options{URL: b.redis.URL(), Realm: b.realm, Instance: ident.Instance(fmt.Sprintf("i%d", b.instances)),
		CallTimeout: 30 * time.Second}) // the machine may be busy
	b.must(err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// hold is that of the tests' sources.
const hold = time.Second

// start starts an instance that delivers to targets from the stream, whose groups are there when it returns.
func (b *bundle) start(log io.Writer, observer Observer, targets ...Target) *Webhooks {
	b.Helper()
	s := b.store()
	w, err := New(Options{
		Targets: targets, Log: zerolog.New(zerolog.SyncWriter(log)), Observer: observer, Timeout: hold / 2, RetryBase: 10 * time.Millisecond,
		Source: func(target Target) (Source, error) {
			stream, err := s.Stream(Group(target.URL), hold)
			if err == nil {
				err = stream.Begin(b.ctx, false)
			}
			return NewStreamSource(stream, b.realm, target), err
		},
	})
	b.must(err)
	b.must(w.Start(b.ctx))
	b.Cleanup(w.Stop)
	return w
}

// happen has matches be complete.
func (b *bundle) happen(matches ...string) {
	b.Helper()
	for _, m := range matches {
		b.add("event=match_complete", "match="+m, "at=1", "record="+record)
	}
}

func (b *bundle) add(fields ...string) {
	b.Helper()
	values := []any{"XADD", b.key(), "*"}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		values = append(values, name, value)
	}
	_, err := b.redis.Do(b.ctx, values...)
	b.must(err)
}

func (b *bundle) key() string { return "mm:{" + b.realm + "}:st" }

// eventually waits until check is content.
func (b *bundle) eventually(check func() error) {
	b.Helper()
	until := time.After(deadline)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-until:
			b.Fatal(err)
		case <-tick.C:
		}
	}
}

// told waits until a receiver was told exactly of these, in whatever order.
func (b *bundle) told(rc *receiver, want ...string) {
	b.Helper()
	b.eventually(func() error {
		if got := rc.matches(); !slices.Equal(got, want) {
			return fmt.Errorf("told of %v, want %v", got, want)
		}
		return nil
	})
}

// settled waits until nothing is pending for a target.
func (b *bundle) settled(target Target) {
	b.Helper()
	b.eventually(func() error {
		summary, err := b.redis.Do(b.ctx, "XPENDING", b.key(), Group(target.URL))
		if err != nil {
			return err
		}
		if list, ok := summary.([]any); !ok || list[0] != int64(0) {
			return fmt.Errorf("pending: %v", summary)
		}
		return nil
	})
}
