package protocol_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"muster/protocol"
)

// longTicket is the id of a ticket in a world whose name is as long as can be.
var longTicket = strings.Repeat("w", protocol.MaxIDLength) + ".1796000000000000"

func TestDecodeRequest(t *testing.T) {
	t.Parallel()
	n := func(n int64) *int64 { return &n }
	for name, row := range map[string]struct {
		frame string
		want  protocol.Request
	}{
		"unknown fields are ignored": {
			`{"type":"leave","world":"w","World":7,"x":[{"world":1}]}`, &protocol.Leave{World: "w"}},
		"spaces are ignored": {
			" {\t\"type\" : \"leave\" ,\r\n\"id\" : \"1\" } \n", &protocol.Leave{Envelope: protocol.Envelope{ID: "1"}}},
		"null is as if absent": {
			`{"type":"join","id":null,"world":"w","party":null,"attributes":null,"ticket":null}`, &protocol.Join{World: "w"}},
		"64 characters of id, not bytes": {
			`{"type":"status","id":"` + strings.Repeat("ü", 64) + `"}`,
			&protocol.Status{Envelope: protocol.Envelope{ID: strings.Repeat("ü", 64)}}},
		"escapes in names and values": {
			`{"\u0074ype":"le\u0061ve","id":"\ud83d\ude00\n"}`, &protocol.Leave{Envelope: protocol.Envelope{ID: "😀\n"}}},
		"a type of another case is another field": {
			`{"Type":"join","type":"status"}`, &protocol.Status{}},
		"hello": {
			`{"type":"hello","token":"t","player_id":"p","client":"c/1","party":"x","have":{"tickets":["a","b"],"match":"m","more":1}}`,
			&protocol.Hello{Token: "t", PlayerID: "p", Client: "c/1", Party: "x",
				Have: &protocol.Have{Tickets: protocol.List[string]{"a", "b"}, Match: "m"}}},
		"a ticket's id is longer than the name of its world": {
			`{"type":"hello","have":{"tickets":["` + longTicket + `"]}}`,
			&protocol.Hello{Have: &protocol.Have{Tickets: protocol.List[string]{longTicket}}}},
		"client as an object": {
			`{"type":"hello","client":{"name":"c","version":"1"},"have":{}}`,
			&protocol.Hello{Client: "c/1", Have: &protocol.Have{}}},
		"a long client is cut": {
			`{"type":"hello","client":"` + strings.Repeat("ü", 129) + `"}`, &protocol.Hello{Client: strings.Repeat("ü", 128)}},
		"attributes stay as they were written": {
			`{"type":"join","world":"w","party":["a"],"attributes":{"b": 1.0,"a":"<&>"},"ticket":"k"}`,
			&protocol.Join{World: "w", Party: protocol.List[string]{"a"}, Ticket: "k", Attributes: json.RawMessage(`{"b": 1.0,"a":"<&>"}`)}},
		"the largest integer":  {`{"type":"ping","t":9007199254740992}`, &protocol.Ping{T: n(1 << 53)}},
		"the smallest integer": {`{"type":"ping","t":-9007199254740992}`, &protocol.Ping{T: n(-1 << 53)}},
		"zero is not absent":   {`{"type":"ping","t":-0}`, &protocol.Ping{T: n(0)}},
		"16 deep":              {`{"type":"ping","x":` + nested(15) + `}`, &protocol.Ping{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := protocol.DecodeRequest([]byte(row.frame))
			if err != nil {
				t.Fatalf("DecodeRequest: %v", err)
			}
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("got  %s\nwant %s", protocol.Encode(got), protocol.Encode(row.want))
			}
		})
	}
}

func TestDecodeRequestRefuses(t *testing.T) {
	t.Parallel()
	const bad = protocol.CodeBadMessage
	for name, row := range map[string]struct {
		frame, code, id, message string // message: what it must contain
	}{
		"nothing":                      {``, bad, "", "not a JSON object"},
		"a list":                       {`[]`, bad, "", "not a JSON object"},
		"null":                         {`null`, bad, "", "not a JSON object"},
		"bad utf-8":                    {"{\"type\":\"leave\",\"x\":\"\xff\xfe\"}", bad, "", "UTF-8"},
		"cut short":                    {`{"id":"1","type":"lea`, bad, "1", "not valid JSON"},
		"a comma too many":             {`{"id":"1","type":"leave",}`, bad, "1", "not valid JSON"},
		"something after the object":   {`{"type":"leave","id":"1"}{}`, bad, "1", "follows"},
		"a NUL after the object":       {"{\"type\":\"leave\",\"id\":\"1\"}\x00", bad, "1", "follows"},
		"a name twice":                 {`{"type":"leave","type":"status","id":"1"}`, bad, "1", `"type" stands twice`},
		"a name twice, spelt apart":    {`{"type":"leave","\u0074ype":"leave","id":"1"}`, bad, "1", "stands twice"},
		"a name twice, deep":           {`{"type":"leave","x":[{"y":{"a":1,"a":1}}],"id":"1"}`, bad, "1", "stands twice"},
		"a name twice among many":      {`{"type":"leave","x":{` + members(40) + `,"n39":1},"id":"1"}`, bad, "1", "stands twice"},
		"17 deep":                      {`{"type":"ping","x":` + nested(16) + `,"id":"1"}`, bad, "1", "16 deep"},
		"brackets without end":         {`{"id":"1","x":` + strings.Repeat("[", 200_000), bad, "1", "not valid JSON"},
		"objects without end":          {`{"id":"1","x":` + strings.Repeat(`{"a":`, 200_000), bad, "1", "not valid JSON"},
		"half a pair":                  {`{"type":"leave","x":"\ud800","id":"1"}`, bad, "1", "surrogate"},
		"half a pair and a letter":     {`{"type":"leave","x":"\ud800\u0041","id":"1"}`, bad, "1", "surrogate"},
		"the second half alone":        {`{"type":"leave","\udc00":1,"id":"1"}`, bad, "1", "surrogate"},
		"no type":                      {`{"id":"1"}`, bad, "1", "type: is required"},
		"type null":                    {`{"id":"1","type":null}`, bad, "1", "type: is required"},
		"type of another case":         {`{"id":"1","Type":"leave"}`, bad, "1", "type: is required"},
		"type not a string":            {`{"id":"1","type":7}`, bad, "1", "type: must be a string"},
		"an unknown type":              {`{"id":"1","type":"<jump>"}`, protocol.CodeUnknownType, "1", `"<jump>"`},
		"an empty type":                {`{"id":"1","type":""}`, protocol.CodeUnknownType, "1", `""`},
		"a type of the server":         {`{"id":"1","type":"welcome"}`, protocol.CodeUnknownType, "1", "unknown"},
		"id not a string":              {`{"type":"leave","id":1}`, bad, "", "id: must be a string"},
		"an empty id":                  {`{"type":"status","id":""}`, bad, "", "id: must not be empty"},
		"half a surrogate in the id":   {`{"type":"status","id":"\ud800"}`, bad, "", "half of a surrogate pair"},
		"id too long":                  {`{"type":"leave","id":"` + strings.Repeat("x", 65) + `"}`, bad, "", "id: must have at most 64"},
		"no world":                     {`{"type":"join","id":"1"}`, bad, "1", "world: is required"},
		"world null":                   {`{"type":"join","world":null}`, bad, "", "world: is required"},
		"world of another case":        {`{"type":"join","WORLD":"w"}`, bad, "", "world: is required"},
		"world not a string":           {`{"type":"join","world":["w"]}`, bad, "", "world: must be a string"},
		"world empty":                  {`{"type":"leave","world":""}`, bad, "", "world: must be 1 to 64"},
		"world with a stroke":          {`{"type":"leave","world":"a|b"}`, bad, "", "world: must be 1 to 64"},
		"world too long":               {`{"type":"leave","world":"` + strings.Repeat("x", 65) + `"}`, bad, "", "world: must be 1 to 64"},
		"party not a list":             {`{"type":"join","world":"w","party":"a"}`, bad, "", "party: must be a list"},
		"party with a number":          {`{"type":"join","world":"w","party":["a",7]}`, bad, "", "party[1]: must be a string"},
		"party with null":              {`{"type":"join","world":"w","party":[null]}`, bad, "", "party[0]: must be a string"},
		"party with one twice":         {`{"type":"join","world":"w","party":["a","b","a"]}`, bad, "", "party: names a twice"},
		"attributes not an object":     {`{"type":"join","world":"w","attributes":[]}`, bad, "", "attributes: must be an object"},
		"ticket empty":                 {`{"type":"join","world":"w","ticket":""}`, bad, "", "ticket: must be 1 to 64"},
		"no match_id":                  {`{"type":"accept"}`, bad, "", "match_id: is required"},
		"match_id empty":               {`{"type":"ack","match_id":""}`, bad, "", "match_id: must be 1 to 64"},
		"match_id not a string":        {`{"type":"decline","match_id":7}`, bad, "", "match_id: must be a string"},
		"leave_match without match_id": {`{"type":"leave_match"}`, bad, "", "match_id: is required"},
		"token not a string":           {`{"type":"hello","token":{}}`, bad, "", "token: must be a string"},
		"player_id empty":              {`{"type":"hello","player_id":""}`, bad, "", "player_id: must be 1 to 64"},
		"client a number":              {`{"type":"hello","client":1}`, bad, "", "client: must be a string, or"},
		"version a number":             {`{"type":"hello","client":{"version":1}}`, bad, "", "client.version: must be a string"},
		"have a list":                  {`{"type":"hello","have":[]}`, bad, "", "have: must be an object"},
		"have.match a number":          {`{"type":"hello","have":{"match":1}}`, bad, "", "have.match: must be a string"},
		"have.tickets with a world that has no name this long": {`{"type":"hello","have":{"tickets":["` + strings.Repeat("w", protocol.MaxTicketIDLength+1) + `"]}}`, bad, "", "have.tickets[0]: must"},
		"have.tickets with an object":                          {`{"type":"hello","have":{"tickets":["a",{}]}}`, bad, "", "have.tickets[1]: must be a string"},
		"have.tickets without end":                             {`{"type":"hello","have":{"tickets":["a"` + strings.Repeat(`,"a"`, 64) + `]}}`, bad, "", "have.tickets: must have at most 64"},
		"t a string":                                           {`{"type":"ping","t":"1"}`, bad, "", "t: must be an integer"},
		"t a fraction":                                         {`{"type":"ping","t":1.5}`, bad, "", "t: must be an integer"},
		"t too large":                                          {`{"type":"ping","t":9007199254740993}`, bad, "", "t: must be an integer"},
		"t too small":                                          {`{"type":"ping","t":-9007199254740993}`, bad, "", "t: must be an integer"},
		"t beyond 64 bits":                                     {`{"type":"ping","t":99999999999999999999}`, bad, "", "t: must be an integer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := protocol.DecodeRequest([]byte(row.frame))
			var e *protocol.Error
			if got != nil || !errors.As(err, &e) {
				t.Fatalf("DecodeRequest = %v, %v; want an *Error", got, err)
			}
			if e.Code != row.code || e.ID != row.id || !strings.Contains(e.Message, row.message) {
				t.Errorf("got %+v\nwant code %q, id %q, message with %q", e, row.code, row.id, row.message)
			}
			if e.RetryAfterMS != nil {
				t.Error("the same frame cannot succeed later, but retry_after_ms is set")
			}
			if len(e.Message) > 512 {
				t.Errorf("message of %d bytes", len(e.Message))
			}
		})
	}
}

// nested is depth lists, one in the other.
func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

// members is n members of an object, n0 to n<n-1>.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal("n" + string(rune('0'+i/10)) + string(rune('0'+i%10)))
		b.Write(name)
		b.WriteString(":1")
	}
	return b.String()
}

func TestDecodeRequestKeepsNothingOfTheFrame(t *testing.T) {
	t.Parallel()
	frame := []byte(`{"type":"join","world":"w","attributes":{"a":1}}`)
	r, err := protocol.DecodeRequest(frame)
	if err != nil {
		t.Fatal(err)
	}
	clear(frame)
	if got := string(r.(*protocol.Join).Attributes); got != `{"a":1}` {
		t.Errorf("attributes changed with the frame: %q", got)
	}
}

func TestDecodeBody(t *testing.T) {
	t.Parallel()
	var join protocol.JoinBody
	if err := protocol.DecodeBody([]byte(`{"world":"w","player_id":"p","party":["a"]}`), &join); err != nil {
		t.Fatal(err)
	}
	if join.World != "w" || join.PlayerID != "p" || len(join.Party) != 1 {
		t.Errorf("join = %+v", join)
	}
	var leave protocol.LeaveBody
	if err := protocol.DecodeBody([]byte(`{"world":"w","player_id":"p"}`), &leave); err != nil || leave.World != "w" || leave.PlayerID != "p" {
		t.Errorf("leave = %+v, %v", leave, err)
	}
	var seats protocol.SeatsBody
	if err := protocol.DecodeBody([]byte(`{"open":3}`), &seats); err != nil || seats.Open != 3 {
		t.Errorf("seats = %+v, %v", seats, err)
	}
	var heartbeat protocol.HeartbeatBody
	if err := protocol.DecodeBody([]byte(" \n"), &heartbeat); err != nil || heartbeat.PlayerID != "" {
		t.Errorf("an empty body: %+v, %v", heartbeat, err)
	}
}

func TestDecodeBodyRefuses(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		body    string
		into    protocol.Body
		message string
	}{
		"empty where a field is required": {``, new(protocol.JoinBody), "world: is required"},
		"a name twice":                    {`{"world":"a","world":"b"}`, new(protocol.LeaveBody), "stands twice"},
		"something after the object":      {`{"world":"a"} x`, new(protocol.LeaveBody), "follows"},
		"player_id a number":              {`{"world":"a","player_id":1}`, new(protocol.JoinBody), "player_id: must be a string"},
		"open missing":                    {`{}`, new(protocol.SeatsBody), "open: is required"},
		"open negative":                   {`{"open":-1}`, new(protocol.SeatsBody), "open: must not be negative"},
		"open a string":                   {`{"open":"1"}`, new(protocol.SeatsBody), "open: must be an integer"},
		"a list":                          {`[]`, new(protocol.HeartbeatBody), "not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *protocol.Error
			if err := protocol.DecodeBody([]byte(row.body), row.into); !errors.As(err, &e) {
				t.Fatalf("DecodeBody = %v, want an *Error", err)
			}
			if e.Code != protocol.CodeBadMessage || !strings.Contains(e.Message, row.message) {
				t.Errorf("got %+v, want a message with %q", e, row.message)
			}
		})
	}
}
