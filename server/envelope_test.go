package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/redistest"
	"muster/protocol"
)

func TestMalformedMessagesAreRefusedAndChangeNothing(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2))).greet("ana")
	for name, c := range map[string]struct{ frame, names string }{
		"no JSON":                       {`join`, ""},
		"nothing":                       {``, ""},
		"a list":                        {`[]`, ""},
		"null":                          {`null`, ""},
		"something behind the object":   {`{"type":"ping"} 1`, ""},
		"a name twice":                  {`{"type":"join","world":"world1","world":"world1"}`, "world"},
		"a name twice, deep inside":     {`{"type":"join","world":"world1","attributes":{"a":[{"b":1,"b":1}]}}`, "b"},
		"too deep":                      {`{"type":"ping","x":` + strings.Repeat("[", 16) + strings.Repeat("]", 16) + `}`, ""},
		"no type":                       {`{}`, "type"},
		"type null":                     {`{"type":null}`, "type"},
		"the wrong case":                {`{"Type":"ping"}`, "type"},
		"a type that is no text":        {`{"type":1}`, "type"},
		"an id that is no text":         {`{"type":"ping","id":1}`, "id"},
		"an id of 65 characters":        {`{"type":"ping","id":"` + strings.Repeat("x", 65) + `"}`, "id"},
		"join: no world":                {`{"type":"join"}`, "world"},
		"join: world null":              {`{"type":"join","world":null}`, "world"},
		"join: world empty":             {`{"type":"join","world":""}`, "world"},
		"join: world no text":           {`{"type":"join","world":["world1"]}`, "world"},
		"join: world no id":             {`{"type":"join","world":"wörld"}`, "world"},
		"join: world too long":          {`{"type":"join","world":"` + strings.Repeat("w", 65) + `"}`, "world"},
		"join: party no list":           {`{"type":"join","world":"world1","party":"ben"}`, "party"},
		"join: party of no ids":         {`{"type":"join","world":"world1","party":[""]}`, "party"},
		"join: party names one twice":   {`{"type":"join","world":"world1","party":["ben","ben"]}`, "party"},
		"join: attributes no object":    {`{"type":"join","world":"world1","attributes":[]}`, "attributes"},
		"join: ticket empty":            {`{"type":"join","world":"world1","ticket":""}`, "ticket"},
		"join: ticket no text":          {`{"type":"join","world":"world1","ticket":5}`, "ticket"},
		"leave: world empty":            {`{"type":"leave","world":""}`, "world"},
		"leave: world no text":          {`{"type":"leave","world":false}`, "world"},
		"ack: no match_id":              {`{"type":"ack"}`, "match_id"},
		"ack: match_id empty":           {`{"type":"ack","match_id":""}`, "match_id"},
		"leave_match: no match_id":      {`{"type":"leave_match"}`, "match_id"},
		"accept: match_id no text":      {`{"type":"accept","match_id":1}`, "match_id"},
		"decline: no match_id":          {`{"type":"decline"}`, "match_id"},
		"ping: t no integer":            {`{"type":"ping","t":1.5}`, "t"},
		"ping: t beyond 2^53":           {`{"type":"ping","t":9007199254740993}`, "t"},
		"ping: t a text":                {`{"type":"ping","t":"1"}`, "t"},
		"hello: have no object":         {`{"type":"hello","have":[]}`, "have"},
		"hello: have.tickets no list":   {`{"type":"hello","have":{"tickets":"t"}}`, "have.tickets"},
		"hello: have.match no id":       {`{"type":"hello","have":{"match":""}}`, "have.match"},
		"hello: token no text":          {`{"type":"hello","token":1}`, "token"},
		"hello: player_id is no string": {`{"type":"hello","player_id":{}}`, "player_id"},
	} {
		p.raw(c.frame)
		e := p.next("error")
		wantFields(t, e, object{"code": "bad_message"})
		if message, _ := e["message"].(string); !strings.Contains(message, c.names) {
			t.Errorf("%s: the message does not name %s: %s", name, c.names, message)
		}
	}
	wantFields(t, p.status(), object{"queued": []any{}})
}

func TestAReplyHasTheIdOfItsRequest(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2))).greet("ana")
	for _, id := range []string{`x`, `ünïcode 🎲`, strings.Repeat("ü", 64), `a\"b`} {
		p.raw(fmt.Sprintf(`{"type":"ping","id":"%s"}`, id))
		if got, want := p.next("pong")["id"], strings.ReplaceAll(id, `\`, ""); got != want {
			t.Errorf("id %v, want %v", got, want)
		}
		p.raw(fmt.Sprintf(`{"type":"join","id":"%s"}`, id))
		if got, want := p.next("error")["id"], strings.ReplaceAll(id, `\`, ""); got != want {
			t.Errorf("id of the error %v, want %v", got, want)
		}
	}
	for _, frame := range []string{`{"type":"ping"}`, `{"type":"ping","id":null}`} {
		p.raw(frame)
		if id, there := p.next("pong")["id"]; there {
			t.Errorf("%s: id %v", frame, id)
		}
	}
}

func TestWhatIsNotKnownIsIgnoredInFieldsAndRefusedInTypes(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2))).greet("ana")
	for _, kind := range []string{"Join", "joined", "welcome", "nonsense", ""} {
		p.refused(fmt.Sprintf(`"type":%q`, kind), "unknown_type")
	}
	p.refused(`"type":"nonsense","match_id":[1],"world":7`, "unknown_type")
	wantFields(t, p.ask(`"type":"ping","t":0,"T":1,"future":{"a":[null]}`), object{"type": "pong", "t": 0})
	wantFields(t, p.ask(`"type":"join","world":"world1","ts":-5,"joined_at":1,"party":null,"attributes":null,"ticket":null`),
		object{"type": "joined"})
}

func TestRepliesToAnIdlePlayer(t *testing.T) {
	t.Parallel()
	p := run(t, serving(group("world1", 2))).greet("ana")
	for _, c := range []struct {
		request string
		want    object
	}{
		{`"type":"status"`, object{"type": "status", "queued": []any{}, "match": nil, "notices": []any{}}},
		{`"type":"leave"`, object{"type": "left", "worlds": []any{}}},
		{`"type":"leave","world":null`, object{"type": "left", "worlds": []any{}}},
		{`"type":"leave","world":"world1"`, object{"type": "left", "worlds": []any{}}},
		{`"type":"ping","t":-9007199254740992`, object{"type": "pong", "t": -9007199254740992}},
		{`"type":"leave","world":"nowhere"`, object{"type": "error", "code": "unknown_world"}},
		{`"type":"join","world":"nowhere"`, object{"type": "error", "code": "unknown_world"}},
		{`"type":"ack","match_id":"m"`, object{"type": "error", "code": "no_such_match"}},
		{`"type":"leave_match","match_id":"m"`, object{"type": "error", "code": "no_such_match"}},
		{`"type":"accept","match_id":"m"`, object{"type": "error", "code": "no_such_match"}},
		{`"type":"decline","match_id":"m"`, object{"type": "error", "code": "no_such_match"}},
	} {
		wantFields(t, p.ask(c.request), c.want)
	}
	if pong := p.ask(`"type":"ping"`); pong["t"] != nil {
		t.Errorf("a ping without t is answered %v", pong)
	}
}

// Redis stands still, so that the first request stays in flight and the others wait.
func TestSixteenRequestsMayWaitAndOneMoreIsRateLimited(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	p := run(t, func(c *configs.Config) { c.Redis.URL = configs.Secret(redis.URL()) }).greet("ana")
	redis.Pause()
	eventually(t, "redis stands still", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := redis.Do(ctx, "PING")
		return err != nil
	})
	var ids []string
	for range 1 + protocol.MaxWaitingRequests {
		ids = append(ids, p.send(`"type":"status"`))
	}
	wantFields(t, p.refused(`"type":"status"`, "rate_limited"), object{"retry_after_ms": 1000})
	redis.Resume()
	for _, id := range ids {
		if first := p.await("reply", func(o object) bool { return o["type"] == "status" || o["type"] == "error" }); first["id"] != id {
			t.Fatalf("reply to %v where %v was due", first["id"], id)
		}
	}
}
