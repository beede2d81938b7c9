package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/ident"
)

// checked is a world of pairs that are asked whether they are there.
func checked(name ident.World, check, cooldown time.Duration) configs.World {
	w := duel(name)
	w.ReadyCheck, w.DeclineCooldown = check, cooldown
	return w
}

// proposed has two players asked about a match.
func proposed(a, b *peer, world string) object {
	a.tb.Helper()
	a.join(world)
	b.join(world)
	m := a.proposal()
	wantFields(a.tb, b.proposal(), object{"id": m["id"]})
	return m
}

// proposal is the match of the next match_proposed.
func (p *peer) proposal() object {
	p.tb.Helper()
	m, _ := p.next("match_proposed")["match"].(object)
	return m
}

func (p *peer) about(kind string, m object) string {
	return fmt.Sprintf(`"type":%q,"match_id":%q`, kind, m["id"])
}

func (p *peer) accept(m object) {
	p.tb.Helper()
	wantFields(p.tb, p.ask(p.about("accept", m)), object{"type": "accepted", "match_id": m["id"]})
}

func TestAMatchStandsWhenAllHaveAccepted(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", time.Minute, 0), group("other", 3)))
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.join("other")
	m := proposed(ana, ben, "checked")
	wantFields(t, m, object{"state": "proposed", "accepted": 0, "size": 2, "expires_at": m["accept_by"]})
	if left := number(m, "accept_by") - time.Now().UnixMilli(); left < 30_000 || left > 60_000 {
		t.Errorf("accept_by is in %d ms", left)
	}
	refused := ana.refused(`"type":"join","world":"other"`, "in_proposal")
	wantFields(t, refused["match"].(object), object{"id": m["id"], "state": "proposed"})
	status := ana.status()
	wantFields(t, status["match"].(object), object{"id": m["id"], "state": "proposed"})
	for _, q := range entries(status, "queued") { // in both worlds it waits for this match alone
		wantFields(t, q, object{"position": 1, "queue_size": 1})
		wantFields(t, q["waiting_for"].(object), object{"code": "match"})
	}

	ana.accept(m)
	for _, p := range []*peer{ana, ben} {
		wantFields(t, p.proposal(), object{"id": m["id"], "accepted": 1})
	}
	ana.accept(m) // again
	ben.accept(m)
	for _, p := range []*peer{ana, ben} {
		wantFields(t, p.match(), object{"id": m["id"], "state": "complete", "acked": false})
		wantFields(t, p.status(), object{"queued": []any{}, "notices": []any{}})
		p.refused(p.about("accept", m), "no_such_match")
		p.refused(p.about("decline", m), "no_such_match")
	}
}

func TestWhoDeclinesIsOutAndTheOthersAreBack(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", time.Minute, time.Minute), group("other", 3)))
	ana, ben, cem := i.greet("ana"), i.greet("ben"), i.greet("cem")
	other := ana.join("other")
	first := ana.join("checked")
	ben.join("other")
	ben.join("checked")
	m := ana.proposal()
	ben.proposal()
	cem.join("checked") // behind ana's old place
	ana.accept(m)
	wantFields(t, ben.ask(ben.about("decline", m)), object{"type": "declined", "match_id": m["id"]})

	for _, p := range []*peer{ana, ben} {
		wantFields(t, p.next("match_cancelled"), object{"match_id": m["id"], "reason": "declined"})
	}
	back := map[any]object{}
	for range 2 {
		r := ana.next("requeued")
		wantFields(t, r, object{"match_id": m["id"]})
		back[r["world"]] = r
	}
	wantFields(t, back["checked"], object{"ticket_id": first["ticket_id"], "enqueued_at": first["enqueued_at"], "position": 1})
	wantFields(t, back["other"], object{"ticket_id": other["ticket_id"], "enqueued_at": other["enqueued_at"]})
	ended := map[any]any{}
	for range 2 {
		d := ben.next("dequeued")
		ended[d["world"]] = d["reason"]
	}
	if fmt.Sprint(ended) != "map[checked:declined other:declined]" {
		t.Errorf("ben is told %v", ended)
	}
	again := ben.refused(`"type":"join","world":"checked"`, "rate_limited")
	if left := number(again, "retry_after_ms"); left < 30_000 || left > 60_000 {
		t.Errorf("ben may join again in %d ms", left)
	}
	ben.join("other") // the cooldown is the world's

	next := ana.proposal()
	wantFields(t, cem.proposal(), object{"id": next["id"]})
	ana.refused(ana.about("accept", m), "no_such_match")
	if next["id"] == m["id"] {
		t.Error("the match that fell through is proposed again")
	}
}

func TestLeavingAProposalDeclinesIt(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", time.Minute, 0)))
	ana, ben := i.greet("ana"), i.greet("ben")
	m := proposed(ana, ben, "checked")
	ana.leaveMatch(m)
	wantFields(t, ana.next("match_cancelled"), object{"reason": "declined"})
	wantFields(t, ana.next("dequeued"), object{"reason": "declined"})
	wantFields(t, ben.next("match_cancelled"), object{"reason": "declined"})
	wantFields(t, ben.next("requeued"), object{"match_id": m["id"]})
}

// A leave that is confirmed is not followed by a match; tickets elsewhere are kept.
func TestLeavingTheWorldOfAProposalDeclinesIt(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", time.Minute, time.Minute), group("other", 3)))
	ana, ben := i.greet("ana"), i.greet("ben")
	other := ana.join("other")
	m := proposed(ana, ben, "checked")
	ana.accept(m)
	ana.proposal()
	wantFields(t, ana.ask(`"type":"leave","world":"checked"`), object{"type": "left", "worlds": "[checked]"})
	wantFields(t, ana.next("match_cancelled"), object{"match_id": m["id"], "reason": "declined"})
	wantFields(t, ana.next("requeued"), object{"ticket_id": other["ticket_id"], "match_id": m["id"]})
	ana.refused(`"type":"join","world":"checked"`, "rate_limited")
	wantFields(t, ben.next("match_cancelled"), object{"match_id": m["id"], "reason": "declined"})
	wantFields(t, ben.next("requeued"), object{"match_id": m["id"]})
	ben.refused(ben.about("accept", m), "no_such_match")
}

func TestWhoLetsAProposalPassIsOut(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", time.Second, time.Minute)))
	ana, ben := i.greet("ana"), i.greet("ben")
	m := proposed(ana, ben, "checked")
	ana.accept(m)
	for _, p := range []*peer{ana, ben} {
		wantFields(t, p.next("match_cancelled"), object{"match_id": m["id"], "reason": "timeout"})
	}
	ana.next("requeued")
	wantFields(t, ben.next("dequeued"), object{"reason": "declined"})
	ben.refused(`"type":"join","world":"checked"`, "rate_limited")
	wantFields(t, ana.status(), object{"match": nil})
}

// A player whose socket was gone before it could be asked has declined nothing.
func TestWhoWasNotAskedIsNotOut(t *testing.T) {
	t.Parallel()
	i := run(t, func(c *configs.Config) {
		c.Worlds = []configs.World{checked("checked", 1500*time.Millisecond, time.Minute)}
	})
	ana := i.greet("ana")
	ana.join("checked")
	// It lives by heartbeats and is asked nothing that it could answer.
	i.wantStatus(http.StatusOK, nil, "bot", http.MethodPost, "/v1/matching/heartbeat", "")
	i.wantStatus(http.StatusCreated, nil, "bot", http.MethodPost, "/v1/matching/join", `{"world":"checked"}`)
	m := ana.proposal()
	ana.accept(m)
	wantFields(t, ana.next("match_cancelled"), object{"match_id": m["id"], "reason": "timeout"})
	second := ana.proposal() // at once, as both are back
	if second["id"] == m["id"] {
		t.Error("the match that fell through is proposed again")
	}
	a := i.wantStatus(http.StatusOK, nil, "bot", http.MethodGet, "/v1/matching/my-status", "")
	wantFields(t, a.body["match"].(object), object{"id": second["id"], "state": "proposed"})
}

// Who lives by HTTP finds the proposal in its state, and may answer it; who found it and does not is out.
func TestAPlayerWithoutASocketIsAskedByItsState(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", 2*time.Second, time.Minute)))
	ana := i.greet("ana")
	beat := func() object {
		a := i.wantStatus(http.StatusOK, nil, "bot", http.MethodPost, "/v1/matching/heartbeat", "")
		m, _ := a.body["match"].(object)
		return m
	}
	join := func() {
		beat()
		i.wantStatus(http.StatusCreated, nil, "bot", http.MethodPost, "/v1/matching/join", `{"world":"checked"}`)
	}
	ana.join("checked")
	join()
	m := ana.proposal()
	ana.accept(m)
	wantFields(t, beat(), object{"id": m["id"], "state": "proposed"})
	answer := fmt.Sprintf(`{"match_id":%q}`, m["id"])
	i.wantStatus(http.StatusOK, object{"match_id": m["id"]}, "bot", http.MethodPost, "/v1/matching/accept", answer)
	wantFields(t, ana.match(), object{"id": m["id"]})
	i.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "bot", http.MethodPost, "/v1/matching/decline", answer)
	i.wantStatus(http.StatusNoContent, nil, "", http.MethodDelete, fmt.Sprint("/v1/matches/", m["id"]), "")

	ana.join("checked")
	join()
	m = ana.proposal()
	ana.accept(m)
	wantFields(t, beat(), object{"id": m["id"]})
	ana.next("requeued")
	i.wantStatus(http.StatusTooManyRequests, object{"code": "rate_limited"}, "bot", http.MethodPost, "/v1/matching/join", `{"world":"checked"}`)

	ben := i.greet("ben")
	ben.join("checked")
	m = ben.proposal()
	i.wantStatus(http.StatusOK, nil, "", http.MethodPost, "/v1/matching/decline", fmt.Sprintf(`{"match_id":%q,"player_id":"ben"}`, m["id"]))
	wantFields(t, ben.next("match_cancelled"), object{"match_id": m["id"], "reason": "declined"})
}

// An allocator that says no is not asked as fast as it can say so.
func TestAWorldWhoseAllocatorRefusesPauses(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	i := run(t, serving(served(t, 0, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	})))
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.join("checked")
	ben.join("checked")
	start := time.Now()
	for range 3 {
		wantFields(t, ana.next("match_cancelled"), object{"reason": "allocation_failed"})
	}
	// Half a second after the first, a second after the next.
	if took := time.Since(start); took < 1500*time.Millisecond {
		t.Errorf("three matches fell through within %v", took)
	}
	if n := asked.Load(); n > 4 {
		t.Errorf("the allocator was asked %d times", n)
	}
}

// Who comes back while the match is proposed is asked in its welcome, and still may accept.
func TestAProposalOutlivesAConnection(t *testing.T) {
	t.Parallel()
	i := run(t, serving(checked("checked", time.Minute, 0)))
	ana, ben := i.greet("ana"), i.greet("ben")
	m := proposed(ana, ben, "checked")
	ana.c.CloseNow()
	again := i.greet("ana")
	wantFields(t, again.welcome["match"].(object), object{"id": m["id"], "state": "proposed"})
	again.accept(m)
	ben.accept(m)
	wantFields(t, again.match(), object{"id": m["id"]})
	wantFields(t, ben.match(), object{"id": m["id"]})
}

// served is a world whose matches wait for a server, which a receiver gives.
func served(t *testing.T, check time.Duration, answer http.HandlerFunc) configs.World {
	t.Helper()
	receiver := httptest.NewServer(answer)
	t.Cleanup(receiver.Close)
	w := checked("checked", check, 0)
	w.Allocator = &configs.Allocator{Webhook: configs.Secret(receiver.URL), Timeout: 5 * time.Second, Attempts: 2}
	return w
}

func TestAMatchHasItsServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	i := run(t, serving(served(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, `{"endpoint":{"address":"198.51.100.7","ports":[7777]}}`)
	})))
	ana, ben := i.greet("ana"), i.greet("ben")
	m := proposed(ana, ben, "checked")
	ana.accept(m)
	ana.proposal()
	ben.accept(m)
	for _, p := range []*peer{ana, ben} {
		wantFields(t, p.match(), object{"id": m["id"], "endpoint": "map[address:198.51.100.7 ports:[7777]]"})
	}
	a := i.wantStatus(http.StatusOK, nil, "ana", http.MethodGet, fmt.Sprint("/v1/matches/", m["id"]), "")
	wantFields(t, a.body, object{"state": "complete", "endpoint": "map[address:198.51.100.7 ports:[7777]]"})
	if asked.Load() != 2 {
		t.Errorf("the allocator was asked %d times", asked.Load())
	}
}

func TestAMatchWithoutAServerFallsThrough(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	i := run(t, serving(served(t, 0, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) <= 2 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, `{"endpoint":"198.51.100.7:7777"}`)
	})))
	ana, ben := i.greet("ana"), i.greet("ben")
	first := ana.join("checked")
	ben.join("checked")
	cancelled := ana.next("match_cancelled")
	wantFields(t, cancelled, object{"reason": "allocation_failed"})
	wantFields(t, ana.next("requeued"), object{"ticket_id": first["ticket_id"], "match_id": cancelled["match_id"]})
	m := ana.match() // they are tried again at once
	wantFields(t, m, object{"endpoint": "198.51.100.7:7777"})
	wantFields(t, ben.match(), object{"id": m["id"]})
	if m["id"] == cancelled["match_id"] {
		t.Error("the match that fell through stands")
	}
}

// lounge is a world whose rooms let players in one by one.
func lounge(size int) configs.World {
	w := group("lounge", size)
	w.Mode, w.SeatHold = configs.ModeFill, time.Minute
	return w
}

func TestRoomsFillOneByOne(t *testing.T) {
	t.Parallel()
	i := run(t, serving(lounge(2)))
	ana, ben, cem := i.greet("ana"), i.greet("ben"), i.greet("cem")
	ana.join("lounge")
	m := ana.match()
	ben.join("lounge")
	wantFields(t, ben.match(), object{"id": m["id"], "rooms": m["rooms"], "players": "[map[id:ana] map[id:ben]]"})
	wantFields(t, ana.next("match_update")["match"].(object), object{"id": m["id"], "players": "[map[id:ana] map[id:ben]]"})
	cem.join("lounge")
	second := cem.match()
	if second["id"] == m["id"] {
		t.Fatal("a full room took a third player")
	}
	ana.leaveMatch(m)
	wantFields(t, ben.next("match_update")["match"].(object), object{"players": "[map[id:ben]]"})
	cem.leaveMatch(second)
	cem.join("lounge")
	wantFields(t, cem.match(), object{"id": m["id"], "players": "[map[id:ben] map[id:cem]]"})
	a := i.wantStatus(http.StatusOK, nil, "", http.MethodGet, "/v1/matching/queue-status/lounge", "")
	wantFields(t, a.body, object{"mode": "fill", "size": 2, "waiting": 0, "open_matches": 1, "matches_total": 2})
}

func TestASeatThatNobodyTakesUpIsGivenBack(t *testing.T) {
	t.Parallel()
	w := lounge(2)
	w.SeatHold = 700 * time.Millisecond
	i := run(t, serving(w))
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.join("lounge")
	m := ana.match()
	wantFields(t, ana.ask(ana.about("ack", m)), object{"type": "acked"})
	ben.join("lounge")
	ben.match()
	wantFields(t, ben.next("match_ended"), object{"match_id": m["id"], "reason": "expired"})
	ana.next("match_update")
	wantFields(t, ana.next("match_update")["match"].(object), object{"players": "[map[id:ana]]"})
	wantFields(t, ana.status()["match"].(object), object{"id": m["id"]})
}

func TestASeatOfSomebodyGoneIsGivenBack(t *testing.T) {
	t.Parallel()
	i := run(t, func(c *configs.Config) {
		c.Worlds = []configs.World{lounge(2)}
		c.Presence.ReconnectGrace = 200 * time.Millisecond
	})
	ana, ben := i.greet("ana"), i.greet("ben")
	ana.join("lounge")
	ana.match()
	ben.join("lounge")
	ben.match()
	ana.next("match_update")
	ben.c.CloseNow()
	wantFields(t, ana.next("match_update")["match"].(object), object{"players": "[map[id:ana]]"})
}

func TestBackfillComesBeforeNewMatches(t *testing.T) {
	t.Parallel()
	i := run(t, serving(duel("voice")))
	ana, ben := i.greet("ana"), i.greet("ben")
	m := matched(ana, ben, "voice")
	seats := fmt.Sprint("/v1/matches/", m["id"], "/seats")
	ana.leaveMatch(m)
	open := i.wantStatus(http.StatusOK, nil, "", http.MethodPost, seats, `{"open":1}`)
	wantFields(t, open.body, object{"open": 1, "taken": 0})
	cem, dan, eve := i.greet("cem"), i.greet("dan"), i.greet("eve")
	cem.join("voice")
	wantFields(t, cem.match(), object{"id": m["id"], "rooms": m["rooms"], "players": "[map[id:ben] map[id:cem]]"})
	wantFields(t, ben.next("match_update")["match"].(object), object{"players": "[map[id:ben] map[id:cem]]"})
	late := i.wantStatus(http.StatusOK, nil, "", http.MethodPost, seats, `{"open":1,"taken":0}`)
	wantFields(t, late.body, object{"open": 0, "taken": 1})
	second := matched(dan, eve, "voice")
	if second["id"] == m["id"] {
		t.Error("the match was overfilled")
	}
	i.wantStatus(http.StatusNotFound, object{"code": "no_such_match"}, "", http.MethodPost, "/v1/matches/none/seats", `{"open":1}`)
}

func TestAWorldFormsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	w := duel("voice")
	w.MaxMatchesPerSecond = 2
	i := run(t, serving(w))
	var players []*peer
	for n := range 10 {
		p := i.greet(fmt.Sprint("p", n))
		p.join("voice")
		players = append(players, p)
	}
	var formed []int64
	for _, p := range players {
		formed = append(formed, number(p.match(), "created_at"))
	}
	// Of the five matches each third one comes a second after the one two before it.
	for n := 0; n+4 < len(formed); n += 2 {
		if apart := formed[n+4] - formed[n]; apart < 1000 {
			t.Errorf("three matches within %d ms: %v", apart, formed)
		}
	}
}
