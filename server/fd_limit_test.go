package server

import (
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/rs/zerolog"

	"muster/configs"
	"muster/internal/loopback"
)

func TestFilesAreKeptFromPlayers(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ files, processors, want int }{
		{1, 1, 1},
		{300, 2, 204},
		{1024, 2, 928},
		{1024, 128, 512}, // no more than half is kept
		{1 << 20, 4, 1<<20 - 1<<16},
	} {
		if got := carried(of.files, of.processors); got != of.want {
			t.Errorf("with %d processors %d files carry %d players, want %d", of.processors, of.files, got, of.want)
		}
	}
}

// A port takes what the files carry, closes what is beyond, and takes again what was given back, once for each connection.
func TestAPortTakesNoMoreThanFilesCarry(t *testing.T) {
	t.Parallel()
	inner, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	const files, most = 8, 6
	refused := make(chan struct{}, 1)
	l := scarce(inner, files, 1, func() { refused <- struct{}{} })
	defer func() { _ = l.Close() }() // its error says nothing
	taken := make(chan net.Conn, 2*most)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			taken <- conn
		}
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	open := make([]net.Conn, most)
	for i := range open {
		dial()
		open[i] = <-taken
	}
	if n, err := dial().Read(make([]byte, 1)); err == nil {
		t.Errorf("the one too many reads %d bytes", n)
	}
	<-refused
	for range 2 {
		_ = open[0].Close() // the second time it gives nothing back
	}
	again := dial()
	conn := <-taken
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(again, make([]byte, 1)); err != nil {
		t.Errorf("the one that was taken again: %v", err)
	}
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("one was given back twice")
	}
	for _, conn := range append(open, conn) {
		_ = conn.Close()
	}
}

func TestFiles_AreNotedIfFew(t *testing.T) {
	t.Parallel()
	for files, noted := range map[int]bool{256: true, 1000: true, 20_000: false, 1_000_000: false} {
		log := new(logged)
		s := &Server{log: zerolog.New(log)}
		s.config.Limits.Connections = 100_000
		s.noteFiles(files)
		if got := log.buf.Len() > 0; got != noted {
			t.Errorf("%d files: noted %v, want %v", files, got, noted)
		}
	}
}

func TestServer_WarnsIfOpenToAll(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for name, c := range map[string]struct {
		config configs.Config
		warned bool
	}{
		"loopback":       {configs.Config{Auth: configs.Auth{Mode: configs.AuthDev}}, false},
		"behind a proxy": {configs.Config{Auth: configs.Auth{Mode: configs.AuthDev}, Limits: configs.Limits{TrustedProxies: proxies}}, true},
		"on the network": {configs.Config{Auth: configs.Auth{Mode: configs.AuthDev, AllowDev: true}}, true},
		"with tokens":    {configs.Config{Auth: configs.Auth{Mode: configs.AuthToken}, Limits: configs.Limits{TrustedProxies: proxies}}, false},
	} {
		log := new(logged)
		s := &Server{log: zerolog.New(log), config: c.config}
		s.warnOpenToAll()
		if got := log.buf.Len() > 0; got != c.warned {
			t.Errorf("%s: warned %v, want %v", name, got, c.warned)
		}
	}
}
