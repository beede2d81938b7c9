package protocol_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

func ptr[T any](v T) *T { return &v }

func named(id string) protocol.Envelope { return protocol.Envelope{ID: id} }

const (
	matchID = "0199d3c0-7b1a-7000-8000-000000000001"
	roomID  = "0199d3c0-7b1a-7000-8000-000000000002"
	now     = 1795970000000
)

func complete() *protocol.Match {
	return &protocol.Match{
		ID: matchID, World: "ranked", State: protocol.StateComplete, CreatedAt: now, ExpiresAt: now + 60_000,
		Rooms: map[string]string{"game": roomID},
		Players: protocol.List[protocol.Player]{
			{ID: "ann", Team: "red", Role: "tank", Party: "ann"}, {ID: "bob"},
		},
		Attributes: json.RawMessage(`{"region":"eu"}`), Endpoint: json.RawMessage(`"198.51.100.7:7777"`),
	}
}

func proposed() *protocol.Match {
	return &protocol.Match{
		ID: matchID, World: "ranked", State: protocol.StateProposed, CreatedAt: now, ExpiresAt: now + 60_000,
		AcceptBy: now + 15_000, Accepted: ptr(int64(0)), Size: 4,
	}
}

func queued() protocol.Queued {
	return protocol.Queued{
		World: "world1", TicketID: "world1.1795970000000001", Position: 2, QueueSize: 2, EnqueuedAt: now, WaitedMS: 1500,
		Party:      protocol.List[string]{},
		WaitingFor: protocol.WaitingFor{Code: protocol.WaitingForPlayers, Need: 1, Text: "1 more player"},
	}
}

func state() protocol.PlayerState {
	return protocol.PlayerState{
		Queued: protocol.List[protocol.Queued]{queued()},
		Match:  complete(),
		Notices: protocol.Notices{
			&protocol.Dequeued{NoticeID: "n1", World: "voice", TicketID: "voice.1", Reason: protocol.ReasonExpired},
			&protocol.MatchCancelled{NoticeID: "n2", MatchID: matchID, Reason: protocol.ReasonTimeout},
			&protocol.MatchEnded{NoticeID: "n3", MatchID: matchID, Reason: protocol.ReasonEnded},
		},
	}
}

func welcome() *protocol.Welcome {
	return &protocol.Welcome{
		Envelope: named("1"), Protocol: protocol.Version, PlayerID: "ann", SessionID: "s1", Instance: "i1", Now: now,
		HeartbeatMS: 10_000, PresenceTTLMS: 25_000, ReconnectGraceMS: 15_000,
	}
}

// messages has every message at least once, by the name of its golden file.
func messages() map[string]protocol.Message {
	idle := welcome()
	idle.PlayerState = protocol.PlayerState{Queued: protocol.List[protocol.Queued]{}, Notices: protocol.Notices{}}
	full := welcome()
	full.TokenExpiresAt, full.PlayerState = now+3_600_000, state()
	estimated := queued()
	estimated.EstimatedWaitMS = ptr(int64(4000))
	inMatch := protocol.NewError(protocol.CodeInMatch)
	inMatch.Envelope, inMatch.Match = named("2"), complete()
	already := protocol.NewError(protocol.CodeAlreadyQueued)
	already.TicketID = "world1.1795970000000001"

	return map[string]protocol.Message{
		"hello": &protocol.Hello{Envelope: named("1"), Token: "<token>", PlayerID: "ann", Client: "demo/1", Party: "us",
			Have: &protocol.Have{Tickets: protocol.List[string]{"world1.1795970000000001"}, Match: matchID}},
		"hello_bare": &protocol.Hello{},
		"join": &protocol.Join{Envelope: named("2"), World: "ranked", Party: protocol.List[string]{"bob"},
			Attributes: json.RawMessage(`{"rating":1200,"name":"<ann & bob>"}`), Ticket: "k1"},
		"join_bare":   &protocol.Join{World: "world1"},
		"leave":       &protocol.Leave{Envelope: named("3"), World: "world1"},
		"leave_all":   &protocol.Leave{},
		"status":      &protocol.Status{Envelope: named("4")},
		"accept":      &protocol.Accept{MatchID: matchID},
		"decline":     &protocol.Decline{MatchID: matchID},
		"ack":         &protocol.Ack{MatchID: matchID},
		"leave_match": &protocol.LeaveMatch{MatchID: matchID},
		"ping":        &protocol.Ping{T: ptr(int64(0))},
		"ping_bare":   &protocol.Ping{},

		"welcome":        full,
		"welcome_idle":   idle,
		"status_reply":   &protocol.StatusReply{Envelope: named("4"), PlayerState: state()},
		"state":          &protocol.State{PlayerState: state()},
		"joined":         &protocol.Joined{Envelope: named("2"), World: "world1", TicketID: "world1.1", Position: 1, QueueSize: 1, EnqueuedAt: now, Party: protocol.List[string]{}},
		"joined_party":   &protocol.Joined{World: "ranked", TicketID: "ranked.1", Position: 1, QueueSize: 2, EnqueuedAt: now, EstimatedWaitMS: ptr(int64(0)), Party: protocol.List[string]{"ann", "bob"}},
		"left":           &protocol.Left{Envelope: named("3"), Worlds: protocol.List[string]{"world1"}},
		"left_nothing":   &protocol.Left{Worlds: protocol.List[string]{}},
		"queue_update":   &protocol.QueueUpdate{Queued: estimated},
		"requeued":       &protocol.Requeued{Queued: queued(), MatchID: matchID},
		"dequeued":       &protocol.Dequeued{NoticeID: "n1", World: "world1", TicketID: "world1.1", Reason: protocol.ReasonPresenceLost},
		"match_proposed": &protocol.MatchProposed{Match: proposed()},
		"match_complete": &protocol.MatchCompleted{Match: complete()},
		"match_update":   &protocol.MatchUpdate{Match: &protocol.Match{ID: matchID, World: "arena", State: protocol.StateComplete, Acked: true, Rooms: map[string]string{}, Players: protocol.List[protocol.Player]{}}},
		"match_cancelled": &protocol.MatchCancelled{NoticeID: "n2", MatchID: matchID,
			Reason: protocol.ReasonDeclined},
		"match_ended":    &protocol.MatchEnded{NoticeID: "n3", MatchID: matchID, Reason: protocol.ReasonExpired},
		"token_expiring": &protocol.TokenExpiring{TokenExpiresAt: now},
		"going_away":     &protocol.GoingAway{ReconnectInMS: 2500},
		"accepted":       &protocol.Accepted{Envelope: named("5"), MatchID: matchID},
		"declined":       &protocol.Declined{MatchID: matchID},
		"acked":          &protocol.Acked{MatchID: matchID},
		"left_match":     &protocol.LeftMatch{MatchID: matchID},
		"pong":           &protocol.Pong{T: ptr(int64(-7))},
		"pong_bare":      &protocol.Pong{},

		"error":                protocol.Errorf(protocol.CodeBadMessage, "world: must be a string"),
		"error_retry":          protocol.NewError(protocol.CodeUnavailable).RetryAfter(0),
		"error_in_match":       inMatch,
		"error_already_queued": already,
	}
}

func TestMessagesAreAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	all := messages()
	for name, m := range all {
		path := filepath.Join("testdata", name+".json")
		frame := append(protocol.Encode(m), '\n')
		if *update {
			if err := os.WriteFile(path, frame, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(frame)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(all) {
		t.Errorf("%d golden files for %d messages: %v", len(files), len(all), err)
	}
}

func TestMessagesAreDecodedAsTheyWereEncoded(t *testing.T) {
	t.Parallel()
	for name, m := range messages() {
		frame := protocol.Encode(m)
		var got protocol.Message
		var err error
		if _, ok := m.(protocol.Request); ok {
			got, err = protocol.DecodeRequest(frame)
		} else {
			got, err = protocol.DecodeEvent(frame)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, m) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(m, got))
		}
	}
}

// A list is never null, a match that is not there is, and what is absent is absent.
func TestZeroMessages(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]protocol.Message{
		`{"type":"state","queued":[],"match":null,"notices":[]}`: &protocol.State{},
		`{"type":"left","worlds":[]}`:                            &protocol.Left{},
		`{"type":"joined","world":"","ticket_id":"","position":0,"queue_size":0,"enqueued_at":0,"estimated_wait_ms":null,"party":[]}`: &protocol.Joined{},
		`{"type":"status"}`: &protocol.Status{},
		`{"type":"pong"}`:   &protocol.Pong{},
	} {
		if got := string(protocol.Encode(m)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestEncodeOfAttributesThatAreNotJSONIsInternal(t *testing.T) {
	t.Parallel()
	got := string(protocol.Encode(&protocol.Join{Envelope: named("7"), World: "w", Attributes: json.RawMessage(`{`)}))
	if !strings.HasPrefix(got, `{"type":"error","id":"7","code":"internal"`) {
		t.Errorf("got %s", got)
	}
}
