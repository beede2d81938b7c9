package server

import (
	"encoding/json"
	"maps"
	"testing"

	"muster/protocol"
)

// What PROTOCOL, section 4, says of each message that this version sends: each field, whether it must be there,
// and its type.
var (
	waitingFor = fields{"code": exactly("players", "match", "opponent"), "need?": from(1), "text": text}

	queuedFields = fields{
		"world": id, "ticket_id": id, "party": list(id), "position": from(0), "queue_size": from(0),
		"enqueued_at": moment, "waited_ms": from(0), "estimated_wait_ms": orNull(from(0)), "waiting_for": waitingFor.check,
	}

	completeFields = fields{
		"id": uuidText, "world": id, "state": exactly(protocol.StateComplete), "created_at": moment, "expires_at": moment,
		"acked": boolean, "rooms": named(uuidText), "players": list(fields{"id": id}.check), "endpoint?": anything,
	}
	proposedFields = fields{
		"id": uuidText, "world": id, "state": exactly(protocol.StateProposed, protocol.StateAllocating), "created_at": moment,
		"expires_at": moment, "acked": boolean, "accept_by": moment, "accepted": from(0), "size": from(2),
	}

	dequeuedFields = fields{
		"type": exactly("dequeued"), "notice_id": id, "world": id, "ticket_id": id,
		"reason": exactly("expired", "presence_lost", "world_closed", "declined", "lost"),
	}
	cancelledFields = fields{"type": exactly("match_cancelled"), "notice_id": id, "match_id": id, "reason": exactly("declined", "timeout", "allocation_failed", "left", "lost")}
	endedFields     = fields{"type": exactly("match_ended"), "notice_id": id, "match_id": id, "reason": exactly("expired", "ended")}

	stateFields = fields{"queued": list(queuedFields.check), "match": orNull(match), "notices": list(notice)}

	joinedFields = fields{
		"world": id, "ticket_id": id, "position": from(0), "queue_size": from(0), "enqueued_at": moment,
		"estimated_wait_ms": orNull(from(0)), "party": list(id),
	}
)

func anything(any) string { return "" }

// match is one that stands, or is proposed. Nobody is asked about one that only waits for its server.
func match(v any) string {
	if proposedFields.check(v) == "" || without(proposedFields, "accept_by").check(v) == "" {
		return ""
	}
	return completeFields.check(v)
}

func without(f fields, name string) fields {
	rest := maps.Clone(f)
	delete(rest, name)
	return rest
}

func notice(v any) string {
	for _, f := range []fields{dequeuedFields, cancelledFields, endedFields} {
		if f.check(v) == "" {
			return ""
		}
	}
	return " is no notice"
}

// messageFields are by the type of the message. Replies have an id if the request had one, events none.
var messageFields = map[string]fields{
	"welcome": with(stateFields, fields{
		"id?": text, "protocol": exactly(json.Number("1")), "player_id": id, "session_id": id, "instance": id, "now": moment,
		"heartbeat_ms": from(1), "presence_ttl_ms": from(1), "reconnect_grace_ms": from(0),
	}),
	"joined":          with(joinedFields, fields{"id?": text}),
	"left":            {"id?": text, "worlds": list(id)},
	"status":          with(stateFields, fields{"id?": text}),
	"state":           stateFields,
	"queue_update":    queuedFields,
	"dequeued":        dequeuedFields,
	"match_cancelled": cancelledFields,
	"match_ended":     endedFields,
	"match_proposed":  {"match": proposedFields.check},
	"match_complete":  {"match": completeFields.check},
	"match_update":    {"match": completeFields.check},
	"requeued":        with(queuedFields, fields{"match_id": uuidText}),
	"accepted":        {"id?": text, "match_id": id},
	"declined":        {"id?": text, "match_id": id},
	"going_away":      {"reconnect_in_ms": from(0)},
	"acked":           {"id?": text, "match_id": id},
	"left_match":      {"id?": text, "match_id": id},
	"pong":            {"id?": text, "t?": from(-protocol.MaxInteger)},
	"error": {
		"id?": text, "code": id, "message": text, "retry_after_ms?": from(1), "ticket_id?": id, "match?": match,
	},
}

// with are the fields of both; b wins.
func with[M ~map[string]V, V any](a, b M) M {
	sum := maps.Clone(a)
	maps.Copy(sum, b)
	return sum
}

// retried are the codes after which the same request can succeed later.
var retried = map[string]bool{"queue_full": true, "rate_limited": true, "unavailable": true, "draining": true}

// errorFault looks at what an error must have besides, as a message and as a problem alike.
func errorFault(o object) string {
	code, _ := o["code"].(string)
	for field, due := range map[string]bool{
		"retry_after_ms": retried[code], "ticket_id": code == "already_queued", "match": code == "in_match" || code == "in_proposal",
	} {
		if _, there := o[field]; there != due {
			return code + ": " + field + " is there where it must not be, or the other way about"
		}
	}
	return ""
}

// messageFault is what is wrong with a message of the server, "" for nothing.
func messageFault(o object) string {
	kind, _ := o["type"].(string)
	f, known := messageFields[kind]
	if !known {
		return "the type is unknown"
	}
	if fault := with(f, fields{"type": exactly(kind)}).check(o); fault != "" {
		return fault
	}
	if kind == "error" {
		return errorFault(o)
	}
	return ""
}

func TestTheTablesFindWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame string
		sound bool
	}{
		"as it should be":         {`{"type":"left","id":"1","worlds":[]}`, true},
		"a list that is null":     {`{"type":"left","worlds":null}`, false},
		"a field too few":         {`{"type":"left"}`, false},
		"a field too many":        {`{"type":"left","worlds":[],"world":"w"}`, false},
		"an event with an id":     {`{"type":"going_away","id":"1","reconnect_in_ms":0}`, false},
		"a fraction":              {`{"type":"going_away","reconnect_in_ms":0.5}`, false},
		"a retry that is not due": {`{"type":"error","code":"unknown_world","message":"m","retry_after_ms":1}`, false},
		"a retry that is due":     {`{"type":"error","code":"queue_full","message":"m"}`, false},
		"seconds":                 {`{"type":"joined","world":"w","ticket_id":"w.1","position":1,"queue_size":1,"enqueued_at":1795974561,"estimated_wait_ms":null,"party":[]}`, false},
	} {
		o, err := parseObject([]byte(c.frame))
		if err != nil {
			t.Fatal(err)
		}
		if fault := messageFault(o); (fault == "") != c.sound {
			t.Errorf("%s: fault %q", name, fault)
		}
	}
}
