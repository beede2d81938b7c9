package server

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"muster/configs"
	"muster/internal/redistest"
)

// within is what clients may count on while Redis is out of reach, and when it is back.
const within = 3 * time.Second

// outages are how a Redis goes and comes back, with its data.
var outages = map[string]struct{ begin, end func(*redistest.Server) }{
	"stopped": {(*redistest.Server).Stop, (*redistest.Server).Restart},
	"killed":  {(*redistest.Server).Kill, (*redistest.Server).Restart},
	"paused":  {(*redistest.Server).Pause, (*redistest.Server).Resume},
}

// timely fails if something took several times as long as promised: the machine may be busy. A soak measures it.
func timely(t *testing.T, what string, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > 5*within {
		t.Errorf("%s took %v", what, took)
	}
}

func TestAnOutageOfRedisIsAnsweredInTimeAndHeals(t *testing.T) {
	t.Parallel()
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t, redistest.AppendOnly())
			config := settings(t, func(c *configs.Config) {
				c.Redis.URL = configs.Secret(redis.URL())
				c.Worlds = []configs.World{group("world1", 2), duel("voice")}
			})
			one, two := launch(t, config), launch(t, config)
			ana, ben, cem := one.greet("ana"), two.greet("ben"), one.greet("cem")
			match := matched(ana, ben, "voice")
			ticket := cem.join("world1")

			outage.begin(redis)
			whileAway(t, one, ana, cem)
			outage.end(redis)
			back := time.Now()
			// What became of the requests is told by state, without being asked.
			m, _ := ana.next("state")["match"].(object)
			wantFields(t, m, object{"id": match["id"]})
			wantFields(t, entries(cem.next("state"), "queued")[0], object{"ticket_id": ticket["ticket_id"]})
			timely(t, "the states", back)
			eventually(t, "it is ready again", func() bool {
				return one.call("", get, "/readyz", "").status == http.StatusOK && two.call("", get, "/readyz", "").status == http.StatusOK
			})
			timely(t, "readyz", back)
			dan := two.greet("dan")
			dan.join("world1")
			wantFields(t, cem.match(), object{"players": []any{object{"id": "cem"}, object{"id": "dan"}}})
			timely(t, "matching", back)
			wantFields(t, ben.status()["match"].(object), object{"id": match["id"]})
			if n := len(one.log.lines(t, "redis lost its data; sessions were asserted in a new epoch")); n != 0 {
				t.Error("the log says that data were lost")
			}
		})
	}
}

// whileAway has every request answered in time, over both ways.
func whileAway(t *testing.T, i *instance, matched, waiting *peer) {
	t.Helper()
	begin := time.Now()
	var calls sync.WaitGroup
	for _, c := range []struct{ method, path, body string }{
		{post, joinPath, `{"world":"world1"}`}, {post, leavePath, ``}, {post, heartbeatPath, ``}, {get, statusPath, ``},
		{get, queuePath + "voice", ``}, {get, worldsPath, ``}, {get, "/v1/matches/m", ``}, {remove, "/v1/matches/m", ``},
	} {
		calls.Go(func() {
			a := i.call("eve", c.method, c.path, c.body)
			if a.status != http.StatusServiceUnavailable || a.body["code"] != "unavailable" {
				t.Errorf("%s: status %d: %v", c.path, a.status, a.body)
			}
			timely(t, c.method+" "+c.path, begin)
		})
	}
	for p, requests := range map[*peer][]string{
		matched: {`"type":"leave_match","match_id":"m"`}, waiting: {`"type":"join","world":"voice"`},
	} {
		calls.Go(func() {
			for _, request := range requests {
				asked := time.Now()
				p.refused(request, "unavailable")
				timely(t, request, asked)
			}
			wantFields(t, p.ask(`"type":"ping","t":1`), object{"type": "pong", "t": 1}) // that needs no Redis
		})
	}
	calls.Wait()
	eventually(t, "readyz says so", func() bool { return i.call("", get, "/readyz", "").status == http.StatusServiceUnavailable })
	timely(t, "readyz", begin)
	if a := i.call("", get, "/healthz", ""); a.status != http.StatusOK {
		t.Errorf("healthz: status %d", a.status)
	}
}

// Requests that wait behind one that Redis does not answer are answered in time too, counted from when they were sent, and
// what became of all is told by a state.
func TestWhatIsSentAtOnceWhileRedisIsAwayIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	i := run(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret(redis.URL())
		c.Worlds = []configs.World{group("world1", 30)}
	})
	ana := i.greet("ana")
	others := make([]*peer, 10)
	for n := range others {
		others[n] = i.greet(fmt.Sprint("other", n))
	}
	redis.Pause()
	var ids []string
	begin := time.Now()
	for range 4 {
		for _, request := range []string{`"type":"join","world":"world1"`, `"type":"leave"`, `"type":"leave_match","match_id":"m"`, `"type":"status"`} {
			ids = append(ids, ana.send(request))
		}
	}
	var asking sync.WaitGroup
	for _, p := range others {
		asking.Go(func() {
			p.refused(`"type":"join","world":"world1"`, "unavailable")
			timely(t, "a join of many", begin)
		})
	}
	for _, id := range ids {
		reply := ana.await("reply "+id, func(o object) bool { return o["id"] == id })
		wantFields(t, reply, object{"type": "error", "code": "unavailable"})
		timely(t, "reply "+id, begin)
	}
	asking.Wait()
	redis.Resume()
	for _, p := range append(others, ana) {
		p.next("state")
	}
}

func TestAnInstanceThatStartsWithoutRedisSaysSo(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	redis.Stop()
	i := launchUnready(t, settings(t, func(c *configs.Config) { c.Redis.URL = configs.Secret(redis.URL()) }))
	for _, path := range []string{worldsPath, queuePath + "world1", "/readyz"} {
		begin := time.Now()
		i.wantStatus(http.StatusServiceUnavailable, object{"code": "unavailable"}, "", get, path, "")
		timely(t, path, begin)
	}
	p := i.open()
	p.refused(`"type":"hello","player_id":"ana"`, "unavailable")
	redis.Restart()
	back := time.Now()
	eventually(t, "it is ready", i.server.Ready)
	timely(t, "readyz", back)
	wantFields(t, p.ask(`"type":"hello","player_id":"ana"`), object{"type": "welcome"})
	p.join("world1")
}

func TestARedisThatIsFullRefusesJoinsAndFreesAll(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	i := run(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret(redis.URL())
		c.Worlds = []configs.World{group("world1", 3), duel("voice")}
	})
	ana, ben, cem := i.greet("ana"), i.greet("ben"), i.greet("cem")
	match := matched(ana, ben, "voice")
	cem.join("world1")
	limit := func(bytes string) {
		if _, err := redis.Do(t.Context(), "CONFIG", "SET", "maxmemory", bytes); err != nil {
			t.Fatal(err)
		}
	}
	limit("1")
	wantFields(t, cem.refused(`"type":"join","world":"voice"`, "unavailable"), object{"retry_after_ms": 1000})
	wantFields(t, cem.ask(`"type":"leave"`), object{"worlds": []any{"world1"}})
	ana.leaveMatch(match)
	wantFields(t, i.greet("dan").status(), object{"queued": []any{}})
	limit("0")
	wantFields(t, cem.ask(`"type":"join","world":"voice"`), object{"type": "joined", "position": 1, "queue_size": 1})
}

func TestScriptsThatRedisForgotAreNoErrorToAnybody(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	i := run(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret(redis.URL())
		c.Worlds = []configs.World{duel("voice")}
	})
	ana, ben := i.greet("ana"), i.greet("ben")
	for _, step := range []func(){
		func() { ana.join("voice") }, func() { ben.join("voice") }, func() { ana.leaveMatch(ana.match()) }, func() { ben.status() },
		func() { i.greet("cem") }, func() { i.wantStatus(http.StatusOK, nil, "dan", post, heartbeatPath, "") },
	} {
		if _, err := redis.Do(t.Context(), "SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
		step()
	}
}

// A Redis that comes back empty has the waiting and the matched from the instances' memory.
func TestWhatRedisForgetsTheInstancesBringBack(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	config := settings(t, func(c *configs.Config) {
		c.Redis.URL = configs.Secret(redis.URL())
		c.Worlds = []configs.World{group("world1", 3), duel("voice")}
	})
	one, two := launch(t, config), launch(t, config)
	ana, ben, cem, dan := one.greet("ana"), two.greet("ben"), one.greet("cem"), two.greet("dan")
	match := matched(ana, ben, "voice")
	tickets := map[*peer]object{cem: cem.join("world1"), dan: dan.join("world1")}
	redis.Restart()
	eventually(t, "a new epoch is entered by both", func() bool {
		return one.server.presence.Epochs() == 2 && two.server.presence.Epochs() == 2 && one.server.Ready() && two.server.Ready()
	})
	if n := len(one.log.lines(t, "redis lost its data; sessions were asserted in a new epoch")); n != 1 {
		t.Errorf("the log says %d times that data were lost", n)
	}
	wantFields(t, ana.status()["match"].(object), object{"id": match["id"], "rooms": match["rooms"], "players": match["players"]})
	for p, ticket := range tickets {
		wantFields(t, entries(p.status(), "queued")[0], object{"ticket_id": ticket["ticket_id"], "enqueued_at": ticket["enqueued_at"]})
	}
	two.greet("eve").join("world1")
	wantFields(t, cem.match(), object{"players": []any{object{"id": "cem"}, object{"id": "dan"}, object{"id": "eve"}}})
}
