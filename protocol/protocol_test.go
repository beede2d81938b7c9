package protocol_test

import (
	"encoding/json"
	"errors"
	"testing"

	"muster/protocol"
)

func TestDecodeEventIgnoresWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	if _, err := protocol.DecodeEvent([]byte(`{"type":"fireworks"}`)); !errors.Is(err, protocol.ErrUnknownEvent) {
		t.Errorf("an unknown type: %v", err)
	}
	e, err := protocol.DecodeEvent([]byte(`{"type":"state","queued":[],"match":null,"more":1,
		"notices":[{"type":"fireworks"},{"type":"pong"},{"type":"match_ended","notice_id":"n1","match_id":"m","reason":"ended"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	notices := e.(*protocol.State).Notices
	if len(notices) != 1 || notices[0].NoticeKey() != "n1" {
		t.Errorf("notices = %v", notices)
	}
	for _, frame := range []string{`{`, `[]`, `{"type":1}`, `{"type":"pong","t":"x"}`, `{"type":"pong","t":1,"t":2}`, `{"type":"state","notices":[{"type":"dequeued","world":1}]}`} {
		if _, err := protocol.DecodeEvent([]byte(frame)); err == nil || errors.Is(err, protocol.ErrUnknownEvent) {
			t.Errorf("%s: %v", frame, err)
		}
	}
}

func TestDecodeEventFindsTheTypeWhereverItStands(t *testing.T) {
	t.Parallel()
	for _, frame := range []string{
		`{"type":"pong","t":7}`, `{"t":7,"type":"pong"}`, ` { "type" : "pong" , "t" : 7 }`, `{"type":"po\u006eg","t":7}`,
	} {
		e, err := protocol.DecodeEvent([]byte(frame))
		if err != nil {
			t.Errorf("%s: %v", frame, err)
		} else if pong, ok := e.(*protocol.Pong); !ok || pong.T == nil || *pong.T != 7 {
			t.Errorf("%s is %+v", frame, e)
		}
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	join := func(attributes string, party ...string) *protocol.Join {
		return &protocol.Join{World: "w", Party: party, Attributes: json.RawMessage(attributes)}
	}
	base := join(`{"a":1,"b":{"c":"x","d":[1,2]}}`, "p", "q")
	if got := base.Fingerprint(); len(got) != 16 {
		t.Errorf("fingerprint %q", got)
	}
	for name, same := range map[string]*protocol.Join{
		"order of names, spaces, spelling": join(` { "b":{"d":[1, 2],"c":"\u0078"}, "\u0061":1}`, "p", "q"),
		"order of the party":               join(`{"a":1,"b":{"c":"x","d":[1,2]}}`, "q", "p"),
	} {
		if same.Fingerprint() != base.Fingerprint() {
			t.Errorf("%s: %s and %s differ", name, same.Attributes, base.Attributes)
		}
	}
	for name, other := range map[string]*protocol.Join{
		"a value":         join(`{"a":2,"b":{"c":"x","d":[1,2]}}`, "p", "q"),
		"order of a list": join(`{"a":1,"b":{"c":"x","d":[2,1]}}`, "p", "q"),
		"a type":          join(`{"a":"1","b":{"c":"x","d":[1,2]}}`, "p", "q"),
		"a digit beyond":  join(`{"a":1.00000000000000000001,"b":{"c":"x","d":[1,2]}}`, "p", "q"),
		"the party":       join(`{"a":1,"b":{"c":"x","d":[1,2]}}`, "p"),
		"no attributes":   join(``, "p", "q"),
	} {
		if other.Fingerprint() == base.Fingerprint() {
			t.Errorf("%s makes no difference", name)
		}
	}
	if join(``).Fingerprint() != join(`{}`).Fingerprint() {
		t.Error("no attributes and {} differ")
	}
}

func TestCodesAreComplete(t *testing.T) {
	t.Parallel()
	retryable := map[string]bool{
		protocol.CodeQueueFull: true, protocol.CodeRateLimited: true, protocol.CodeUnavailable: true, protocol.CodeDraining: true,
	}
	for code, status := range map[string]int{
		protocol.CodeBadMessage: 400, protocol.CodeBadAttributes: 400, protocol.CodePartyTooLarge: 400,
		protocol.CodeUnknownType: 400, protocol.CodeNotHello: 400,
		protocol.CodeUnauthorized: 401, protocol.CodeUnknownWorld: 404, protocol.CodeNoSuchMatch: 404,
		protocol.CodeAlreadyQueued: 409, protocol.CodeInMatch: 409, protocol.CodeInProposal: 409, protocol.CodeNoPresence: 409,
		protocol.CodePartyMemberAbsent: 409, protocol.CodePartyMemberBusy: 409, protocol.CodeWorldClosed: 409,
		protocol.CodeTooManyWorlds: 409, protocol.CodeReplaced: 409, protocol.CodeRateLimited: 429,
		protocol.CodeQueueFull: 503, protocol.CodeUnavailable: 503, protocol.CodeDraining: 503, protocol.CodeInternal: 500,
	} {
		info := protocol.LookupCode(code)
		if info.HTTPStatus != status || info.Retryable != retryable[code] || info.Text == "" {
			t.Errorf("%s: %+v", code, info)
		}
	}
	if protocol.LookupCode("what") != protocol.LookupCode(protocol.CodeInternal) {
		t.Error("an unknown code is not internal")
	}
}

func TestCloseCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{
		-1: true, 1000: true, 1001: true, 1006: true, 1011: true, 1013: true, 4000: true, 4002: true, 4003: true, 4399: true, 4500: true,
		1003: false, 1007: false, 1009: false, 4400: false, 4401: false, 4408: false, 4409: false, 4429: false, 4499: false,
	} {
		if got := protocol.MayReconnect(code); got != want {
			t.Errorf("MayReconnect(%d) = %v", code, got)
		}
	}
	for _, code := range []int{
		protocol.CloseNormal, protocol.CloseGoingAway, protocol.CloseUnsupported, protocol.CloseInvalidText, protocol.CloseTooLarge,
		protocol.CloseInternal, protocol.CloseTooMany, protocol.CloseSlow, protocol.CloseNoHeartbeat, protocol.CloseUnauthorized,
		protocol.CloseHelloTimeout, protocol.CloseReplaced, protocol.CloseTooManyMessages,
	} {
		if name := protocol.CloseName(code); name == "" || len(name) > protocol.MaxCloseReasonBytes {
			t.Errorf("CloseName(%d) = %q", code, name)
		}
	}
}
