package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"muster/client"
	"muster/protocol"
)

const (
	// connectTimeout bounds one attempt, from dial to welcome.
	connectTimeout = 15 * time.Second
	// dialsAtOnce bounds how many attempts are under way: enough to fill the server, few enough that
	// none of them waits for this program.
	dialsAtOnce = 128
	// connBuffer is the size of a connection's two buffers, in bytes: most frames are shorter.
	connBuffer = 1024
	// Bounds of the pause before a lost connection is opened again.
	firstPause, longestPause = 50 * time.Millisecond, 5 * time.Second
)

// newClients are HTTP clients for the source addresses, one for the system's choice where there are none.
func newClients(sources []string) []*http.Client {
	if len(sources) == 0 {
		sources = []string{""}
	}
	clients := make([]*http.Client, len(sources))
	for i, source := range sources {
		dialer := &net.Dialer{Timeout: connectTimeout}
		if source != "" {
			dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
		}
		// No connection of it is used twice: a refused upgrade must not leave one behind.
		clients[i] = &http.Client{Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true,
			ReadBufferSize: connBuffer, WriteBufferSize: connBuffer,
		}}
	}
	return clients
}

// connectAll connects the players, at moments that are fixed where there is a rate. Life bounds the
// connections, ctx only the beginning.
func (r *run) connectAll(ctx, life context.Context) {
	s := schedule{start: time.Now(), rate: r.o.ConnectRate}
	var (
		next  atomic.Int64
		dials sync.WaitGroup
	)
	for range dialsAtOnce {
		dials.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= len(r.players) || !wait(ctx, s.at(k)) {
					return
				}
				due := s.at(k)
				if s.rate == 0 {
					due = time.Now()
				}
				r.players[k].connectFirst(life, due)
			}
		})
	}
	dials.Wait()
}

// connectFirst connects a player once. One that fails is not there.
func (p *player) connectFirst(ctx context.Context, due time.Time) {
	err := p.connect(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.run.failures.add(failure(err))
		p.gone, p.phase = true, done
		return
	}
	p.run.connect.record(time.Since(due))
	p.run.connected.Add(1)
	p.rest()
}

// connect opens a connection and says hello. The hello is no call of the client, so that the welcome
// and what follows it are heard in their order.
func (p *player) connect(ctx context.Context) error {
	attempt, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	greeted := make(chan error, 1)
	c, err := client.Open(attempt, p.address(), client.Options{
		HTTPClient: p.run.clients[p.number%len(p.run.clients)],
		OnEvent:    func(e protocol.Event) { p.hear(ctx, e, greeted) },
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.opening = c
	p.mu.Unlock()
	hello := &protocol.Hello{Envelope: protocol.Envelope{ID: helloID}, PlayerID: p.id, Client: "muster-load"}
	if err = c.SendText(ctx, protocol.Encode(hello)); err == nil {
		select {
		case err = <-greeted:
		case <-c.Done():
			err = c.Err()
		case <-attempt.Done():
			err = attempt.Err()
		}
	}
	if err != nil {
		c.CloseNow()
		p.mu.Lock()
		p.conn = nil // the welcome may have come when nobody waited any more
		p.mu.Unlock()
	}
	return err
}

// address is where the player connects: to another instance after each failure, as a client behind a
// balancer does.
func (p *player) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	urls := p.run.o.URLs
	return urls[(p.number+p.failed)%len(urls)]
}

// reconnect connects again, as a real client does: with a growing pause where it fails, and for ever
// unless the server says that there is no use.
func (p *player) reconnect(ctx context.Context) {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		p.run.dialing <- struct{}{}
		err := p.connect(ctx)
		<-p.run.dialing
		if err == nil {
			p.run.reconnect.record(time.Since(began))
			p.run.connected.Add(1)
			return
		}
		if ctx.Err() != nil {
			return
		}
		p.run.failures.add(failure(err))
		if p.fail(err); final(err) {
			return
		}
		if !wait(ctx, time.Now().Add(pause/2+rand.N(pause/2))) { //nolint:gosec // G404: spreads attempts
			return
		}
	}
}

// fail takes in that the player did not connect again.
func (p *player) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	if final(err) {
		p.giveUp()
	}
}

// giveUp is for a player who will not connect again. The caller holds mu.
func (p *player) giveUp() {
	p.gone = true
	if p.phase == waiting {
		p.run.waiting.Add(-1)
	}
	if p.phase != resting { // else it is among the free
		p.phase = done
	}
}

// lookAfter connects a player again whose connection has ended.
func (p *player) lookAfter(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.conn.Err() == nil {
		return
	}
	err := p.conn.Err()
	p.conn, p.pending, p.asked = nil, 0, false
	p.run.connected.Add(-1)
	p.run.closes.add(failure(err))
	if final(err) {
		p.giveUp()
		return
	}
	p.run.connections.Go(func() { p.reconnect(ctx) })
}

// failure names why a connection failed or ended: a close code, an error code, or what the network said.
func failure(err error) string {
	var (
		refused   *protocol.Error
		closed    *client.CloseError
		handshake *client.HandshakeError
		number    syscall.Errno
	)
	switch {
	case errors.As(err, &refused):
		return refused.Code
	case errors.As(err, &closed) && closed.Code >= 0:
		return strconv.Itoa(closed.Code)
	case errors.As(err, &handshake) && handshake.Status != 0:
		return fmt.Sprintf("status %d", handshake.Status)
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "broken"
}

// final reports whether connecting again unchanged would end the same way.
func final(err error) bool {
	var (
		refused *protocol.Error
		closed  *client.CloseError
	)
	switch {
	case errors.As(err, &refused):
		return !protocol.LookupCode(refused.Code).Retryable
	case errors.As(err, &closed):
		return !protocol.MayReconnect(closed.Code)
	}
	return errors.Is(err, client.ErrBadEvent)
}
