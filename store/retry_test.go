package store

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/faultproxy"
	"muster/internal/redistest"
)

// retry is a call whose reply is lost, so that its caller sends it again: it has one effect, and one answer.
type retry struct {
	script string
	// ready arranges the realm, of instances a and b with the worlds of TestRules, and returns the call. The
	// call makes no other, and says what it was answered.
	ready func(b *bundle) (call func() string)
	// again is what the second call answers where that is not what the first did, and but the lines of the state
	// that differ from those after one call. Both need a reason, which stands beside them.
	again string
	but   string
}

// raw is a field of one of the realm's hashes.
func (b *bundle) raw(key, field string) string {
	b.Helper()
	text, err := b.rdb.HGet(b.ctx, b.key(key), field).Result()
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// TestACallWhoseReplyIsLostIsSentAgain makes each call in two realms that are alike: once, and with its reply
// lost on the way and sent again. Afterwards they are alike still.
func TestACallWhoseReplyIsLostIsSentAgain(t *testing.T) {
	t.Parallel()
	for i, r := range slices.Concat(retries, lifeRetries) {
		t.Run(fmt.Sprintf("%s %d", r.script, i), func(t *testing.T) {
			t.Parallel()
			redis := redistest.Shared(t)
			proxy := faultproxy.Start(t, redis.Addr())
			once, call := r.prepared(t, only(redis))
			answer := call()
			lossy, lost := r.prepared(t, backend{url: func(testing.TB) string { return "redis://" + proxy.Addr() + "/0" }})
			called := map[string]int{}
			lossy.stores[0].opts.Observe = func(script string, _ time.Duration, err error) {
				if errors.Is(err, ErrLostHistory) || err == nil && called[script] == 0 {
					t.Errorf("the reply of %s was not lost: %v", script, err)
				}
				called[script]++
			}
			proxy.SwallowRepliesTo("evalsha\r\n", 1)
			if said := lost(); !strings.Contains(said, ErrUnavailable.Error()) {
				t.Errorf("without a reply it was answered %s", said)
			}
			again := lost()
			if called[r.script] != 2 {
				t.Errorf("called: %v", called)
			}
			want := answer
			if r.again != "" {
				want = r.again
			}
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("answered again (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(once.settled(r.but), lossy.settled(r.but)); diff != "" {
				t.Errorf("the state (-once +again):\n%s", diff)
			}
		})
	}
}

// prepared is a realm that is ready for the call.
func (r retry) prepared(t *testing.T, be backend) (b *bundle, call func() string) {
	t.Helper()
	b = setup(t, be, 2, trio, pairs, apart)
	call = r.ready(b)
	for _, s := range b.stores {
		if err := loadAll(s); err != nil { // else the reply that is lost says NOSCRIPT
			t.Fatal(err)
		}
	}
	return b, call
}

// settled is the realm's state without what every call writes, and without lines that match but.
func (b *bundle) settled(but string) []string {
	b.Helper()
	return slices.DeleteFunc(b.dump(), func(line string) bool {
		return unimportant.MatchString(line) || but != "" && regexp.MustCompile(but).MatchString(line)
	})
}

// TestEveryScriptThatWritesIsRetried: a new script needs a row.
func TestEveryScriptThatWritesIsRetried(t *testing.T) {
	t.Parallel()
	for _, name := range scriptNames(t) {
		reads := strings.Contains(readHeader(t, name).shebang, "no-writes")
		has := slices.ContainsFunc(slices.Concat(retries, lifeRetries), func(r retry) bool { return r.script == name })
		if has == reads {
			t.Errorf("%s has a row: %v, and it writes: %v", name, has, !reads)
		}
	}
}
