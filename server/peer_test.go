package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"muster/client"
	"muster/protocol"
)

// peer is a client of which a test sees every frame. Each one is held against the tables of the protocol as it
// comes; what it must not be fails the test.
type peer struct {
	tb testing.TB
	c  *client.Client
	// welcome is the reply to the hello of greet.
	welcome object

	lastID int

	mu       sync.Mutex
	frames   []object      // those that await has not passed yet; guarded by mu
	arrivals chan struct{} // has room for one: there is something new
}

// open connects and says nothing yet.
func (i *instance) open() *peer {
	i.tb.Helper()
	return i.dial(client.Options{})
}

// openSilent is open for a client that does not answer pings.
func (i *instance) openSilent() *peer {
	i.tb.Helper()
	return i.dial(client.Options{OnPing: func() bool { return false }})
}

func (i *instance) dial(o client.Options) *peer {
	i.tb.Helper()
	p := &peer{tb: i.tb, arrivals: make(chan struct{}, 1)}
	o.OnFrame, o.OnEvent, o.HTTPClient = p.take, func(protocol.Event) {}, stranger
	var err error
	p.c, err = client.Open(i.tb.Context(), i.ws(), o)
	if err != nil {
		i.tb.Fatal(err)
	}
	i.tb.Cleanup(p.c.CloseNow)
	return p
}

// greet connects as a player and says hello; have is what it believes, as JSON, "" for nothing.
func (i *instance) greet(player string, have ...string) *peer {
	i.tb.Helper()
	p := i.open()
	hello := fmt.Sprintf(`"type":"hello","player_id":%q`, player)
	for _, h := range have {
		hello += `,"have":` + h
	}
	p.welcome = p.ask(hello)
	wantFields(i.tb, p.welcome, object{"type": "welcome", "player_id": player})
	return p
}

// take is called for every frame, by the goroutine that reads.
func (p *peer) take(frame []byte) {
	o, err := parseObject(frame)
	fault := ""
	if err != nil {
		fault = err.Error()
	} else {
		fault = messageFault(o)
	}
	if fault != "" {
		p.tb.Errorf("%s: %s", fault, frame)
	}
	p.mu.Lock()
	p.frames = append(p.frames, o)
	p.mu.Unlock()
	select {
	case p.arrivals <- struct{}{}:
	default:
	}
}

// await returns the next frame that fits and drops it and those before it.
func (p *peer) await(what string, fits func(object) bool) object {
	p.tb.Helper()
	deadline := time.After(patience)
	for {
		if o := p.find(fits); o != nil {
			return o
		}
		select {
		case <-p.arrivals:
		case <-p.c.Done():
			if o := p.find(fits); o != nil {
				return o
			}
			p.tb.Fatalf("no %s: %v", what, p.c.Err())
		case <-deadline:
			p.tb.Fatalf("no %s in time; there were %v", what, p.heard())
		}
	}
}

func (p *peer) find(fits func(object) bool) object {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, o := range p.frames {
		if fits(o) {
			p.frames = p.frames[at+1:]
			return o
		}
	}
	return nil
}

// heard are the frames that no await has passed, without updates of queues, which come when they like.
func (p *peer) heard() []object {
	p.mu.Lock()
	defer p.mu.Unlock()
	var frames []object
	for _, o := range p.frames {
		if o["type"] != "queue_update" {
			frames = append(frames, o)
		}
	}
	return frames
}

// next is the next message of a type.
func (p *peer) next(kind string) object {
	p.tb.Helper()
	return p.await(kind, func(o object) bool { return o["type"] == kind })
}

// ask sends a request, given as the fields of an object, under an id, and returns its reply.
func (p *peer) ask(request string) object {
	p.tb.Helper()
	id := p.send(request)
	return p.await("reply to "+request, func(o object) bool { return o["id"] == id })
}

// send sends a request and returns the id under which the reply will come.
func (p *peer) send(request string) string {
	p.tb.Helper()
	p.lastID++
	id := strconv.Itoa(p.lastID)
	p.raw(fmt.Sprintf(`{%s,"id":%q}`, request, id))
	return id
}

// raw sends a text frame.
func (p *peer) raw(frame string) {
	p.tb.Helper()
	if err := p.c.SendText(p.tb.Context(), []byte(frame)); err != nil {
		p.tb.Fatal(err)
	}
}

// answered has everything that the server sent so far arrive: a later reply is the sign.
func (p *peer) answered() {
	p.tb.Helper()
	id := p.send(`"type":"ping"`)
	eventually(p.tb, "pong", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for at, o := range p.frames {
			if o["id"] == id {
				p.frames = append(p.frames[:at:at], p.frames[at+1:]...)
				return true
			}
		}
		return false
	})
}

// refused is ask for a request that must be refused with a code.
func (p *peer) refused(request, code string) object {
	p.tb.Helper()
	reply := p.ask(request)
	wantFields(p.tb, reply, object{"type": "error", "code": code})
	return reply
}

// join joins a world and returns the reply.
func (p *peer) join(world string) object {
	p.tb.Helper()
	joined := p.ask(`"type":"join","world":"` + world + `"`)
	wantFields(p.tb, joined, object{"type": "joined", "world": world})
	return joined
}

// status is the player's state.
func (p *peer) status() object {
	p.tb.Helper()
	status := p.ask(`"type":"status"`)
	wantFields(p.tb, status, object{"type": "status"})
	return status
}

// match is the match of the next match_complete.
func (p *peer) match() object {
	p.tb.Helper()
	m, _ := p.next("match_complete")["match"].(object)
	return m
}

// leaveMatch leaves the open match.
func (p *peer) leaveMatch(match object) {
	p.tb.Helper()
	reply := p.ask(fmt.Sprintf(`"type":"leave_match","match_id":%q`, match["id"]))
	wantFields(p.tb, reply, object{"type": "left_match", "match_id": match["id"]})
}

// closed waits for the end of the connection and returns its code.
func (p *peer) closed() int {
	p.tb.Helper()
	select {
	case <-p.c.Done():
	case <-time.After(patience):
		p.tb.Fatalf("the connection does not end; there were %v", p.heard())
	}
	var closed *client.CloseError
	if !errors.As(p.c.Err(), &closed) {
		p.tb.Fatalf("the end is %v", p.c.Err())
	}
	return closed.Code
}

// wantFields compares some fields of an object.
func wantFields(tb testing.TB, o, want object) {
	tb.Helper()
	for name, value := range want {
		if fmt.Sprint(o[name]) != fmt.Sprint(value) {
			tb.Fatalf("%s is %v, want %v, in %v", name, o[name], value, o)
		}
	}
}

// number is a field that is an integer.
func number(o object, name string) int64 {
	n, _ := o[name].(json.Number)
	i, _ := n.Int64()
	return i
}

// entries is a field that is a list of objects.
func entries(o object, name string) []object {
	var list []object
	values, _ := o[name].([]any)
	for _, v := range values {
		entry, _ := v.(object)
		list = append(list, entry)
	}
	return list
}
