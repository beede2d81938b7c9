package server

import (
	"errors"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"muster/configs"
	"muster/protocol"
)

// echoVariable names the environment variable with the address that TestServeEcho listens on.
const echoVariable = "MUSTER_ECHO"

// TestServeEcho serves plain echoes through the engine and the transport of the server until it is told to end:
// what package bench holds the server against. It is no test, and does nothing, unless it is asked for.
func TestServeEcho(t *testing.T) {
	address := os.Getenv(echoVariable)
	if address == "" {
		t.Skip("serves " + echoVariable + " only")
	}
	limit := configs.Default().Limits.MessageBytes
	engine := newEngine(zerolog.Nop(), nil, limit)
	engine.GET(protocol.Path, func(c *gin.Context) {
		conn, err := accept(c.Writer, c.Request, limit)
		if err == nil {
			go echo(conn)
		}
	})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-end
		_ = listener.Close()
	}()
	_ = newHTTPServer(engine, zerolog.Nop()).Serve(listener) // until it is closed
}

// echo sends back what it reads until the connection is over.
func echo(conn *transport) {
	for {
		conn.Await()
		for conn.More() {
			frame, err := conn.ReadArrived()
			if errors.Is(err, errNothing) {
				break
			}
			if err != nil {
				conn.Over(err)
				return
			}
			if write(conn, frame) != nil {
				return
			}
		}
	}
}
