package allocation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAWebhookIsToldOfTheMatchAndItsEndpointCompletesIt(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusCreated, goodReply))
	fake := newFakeStore(aMatch("m1"))
	s := rec.webhook()
	s.Secret = "hunter2"
	_, seen := start(t, Options{Store: fake, Settings: always(s)})
	if m := fake.settled(t, "m1"); m.state != complete || m.endpoint != goodEndpoint || m.attempt != 1 {
		t.Errorf("match = %+v", m)
	}
	const body = `{"match_id":"m1","world":"w","realm":"main","created_at":1795970000000,"attempt":1,` +
		`"players":[{"id":"ann"},{"id":"bob"}],"rooms":{"chat":"r2","game":"r1"}}`
	requests := rec.requests()
	if len(requests) != 1 {
		t.Fatalf("%d requests", len(requests))
	}
	r := requests[0]
	if d := cmp.Diff(body, r.body); d != "" || r.path != "/allocate" {
		t.Errorf("path %s, body (-want +got)\n%s", r.path, d)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json", "Idempotency-Key": "m1", "User-Agent": "muster/1.2.3",
	} {
		if got := r.header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	// As a receiver would: what is signed is the timestamp as it was sent, a dot, and the body's bytes.
	mac := hmac.New(sha256.New, []byte("hunter2"))
	_, _ = io.WriteString(mac, r.header.Get("Muster-Timestamp")+"."+r.body)
	if got, want := r.header.Get("Muster-Signature"), "v1="+hex.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("signature = %s, want %s", got, want)
	}
	if sent, err := strconv.ParseInt(r.header.Get("Muster-Timestamp"), 10, 64); err != nil || time.Since(time.Unix(sent, 0)).Abs() > time.Minute {
		t.Errorf("timestamp = %s", r.header.Get("Muster-Timestamp"))
	}
	if got := seen.all(); !slices.Equal(got, []Outcome{Allocated}) {
		t.Errorf("outcomes = %v", got)
	}
}

func TestWithoutASecretNothingIsSigned(t *testing.T) {
	t.Parallel()
	rec := receive(t, reply(http.StatusOK, goodReply))
	fake := newFakeStore(aMatch("m1"))
	start(t, Options{Store: fake, Settings: always(rec.webhook())})
	fake.settled(t, "m1")
	if _, signed := rec.requests()[0].header["Muster-Signature"]; signed {
		t.Error("signed without a secret")
	}
}

// The signature of a known request, so that receivers in use do not break when the code is rearranged.
func TestSignatureIsStable(t *testing.T) {
	t.Parallel()
	// By another program: printf '1795970000.{}' | openssl dgst -sha256 -hmac hunter2
	const want = "v1=72dad6a79d239bfd46a864c64bb612061b31ccdd345b7dd4da919ae2ab993ce7"
	if got := sign("hunter2", "1795970000", []byte("{}")); got != want {
		t.Errorf("signature = %s, want %s", got, want)
	}
}

func TestAnyJSONIsAnEndpoint(t *testing.T) {
	t.Parallel()
	longest := `"` + strings.Repeat("x", MaxEndpointBytes-2) + `"`
	for body, want := range map[string]string{
		`{"endpoint":"game.example:7777"}`:                              `"game.example:7777"`,
		`{"endpoint":1,"match_id":"m1"}`:                                `1`,
		`{"endpoint":0}`:                                                `0`,
		`{"endpoint":false}`:                                            `false`,
		`{"endpoint":[ 1 , {"a": "|;=,\u0000"} ]}`:                      `[1,{"a":"|;=,\u0000"}]`,
		`{"endpoint":` + longest + `}`:                                  longest,
		`{"endpoint":` + strings.Repeat(" ", 2*MaxEndpointBytes) + `1}`: `1`,
		`{"endpoint":["]\"}[",` + strings.Repeat("[", 15) + strings.Repeat("]", 15) + `]}`: `["]\"}[",` + strings.Repeat("[", 15) + strings.Repeat("]", 15) + `]`,
	} {
		if got, err := webhookEndpoint([]byte(body), "m1"); err != nil || string(got) != want {
			t.Errorf("%.60s: %.60s, %v", body, got, err)
		}
	}
}

func TestWhatIsNoEndpointFailsTheAttempt(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(int, http.ResponseWriter, *http.Request){
		"nothing":         reply(http.StatusNoContent, ""),
		"no JSON":         reply(http.StatusOK, "<html>"),
		"a list":          reply(http.StatusOK, `[{"endpoint":1}]`),
		"two answers":     reply(http.StatusOK, goodReply+goodReply),
		"no endpoint":     reply(http.StatusOK, `{}`),
		"null":            reply(http.StatusOK, `{"endpoint":null}`),
		"other match":     reply(http.StatusOK, `{"endpoint":1,"match_id":"m2"}`),
		"match null":      reply(http.StatusOK, `{"endpoint":1,"match_id":null}`),
		"in capitals":     reply(http.StatusOK, `{"Endpoint":1}`),
		"5 KiB":           reply(http.StatusOK, `{"endpoint":"`+strings.Repeat("x", 5<<10)+`"}`),
		"nested too deep": reply(http.StatusOK, `{"endpoint":`+strings.Repeat("[", 17)+strings.Repeat("]", 17)+`}`),
		"a byte too many": reply(http.StatusOK, `{"endpoint":"`+strings.Repeat("x", MaxEndpointBytes-1)+`"}`),
		"no text":         reply(http.StatusOK, "{\"endpoint\":\"\xff\xfe\"}"),
		"a name twice":    reply(http.StatusOK, `{"endpoint":1,"endpoint":2}`),
		"a name twice in": reply(http.StatusOK, `{"endpoint":{"a":[{"b":1,"\u0062":2}]}}`),
		"half a pair":     reply(http.StatusOK, `{"endpoint":"\ud800"}`),
		"half a pair in":  reply(http.StatusOK, `{"endpoint":{"a\udc00b":1}}`),
		"endless":         reply(http.StatusOK, `{"endpoint":1}`+strings.Repeat(" ", 2*maxReplyBytes)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := receive(t, answer)
			fake := newFakeStore(aMatch("m1"))
			s := rec.webhook()
			s.Attempts = 2
			_, seen := start(t, Options{Store: fake, Settings: always(s)})
			if m := fake.settled(t, "m1"); m.state != cancelled || m.attempt != 2 {
				t.Errorf("match = %+v", m)
			}
			if got := seen.all(); !slices.Equal(got, []Outcome{BadReply, BadReply}) {
				t.Errorf("outcomes = %v", got)
			}
		})
	}
}
