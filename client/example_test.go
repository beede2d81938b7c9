package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/coder/websocket"

	"muster/client"
	"muster/protocol"
)

// A player joins a world, waits for the match, and goes to the room.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(oneMatch)) // in place of ws://127.0.0.1:8080/v1/ws
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	player, err := client.Dial(ctx, server.URL, client.Options{PlayerID: "ann", ClientName: "example/1"})
	if err != nil {
		log.Fatal(err)
	}
	defer player.Close(protocol.CloseNormal)

	joined, err := player.Join(ctx, protocol.Join{World: "voice"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("waiting at place", joined.Position)

	for event := range player.Events() {
		complete, ok := event.(*protocol.MatchCompleted)
		if !ok {
			continue // queue_update and what newer servers tell
		}
		if err := player.Ack(ctx, complete.Match.ID); err != nil {
			log.Fatal(err)
		}
		fmt.Println("go to room", complete.Match.Rooms["game"])
		return
	}
	log.Fatal(player.Err())
	// Output:
	// waiting at place 1
	// go to room 0199d3c0-7b1a-7000-8000-000000000002
}

// oneMatch is a server for one player: a match follows its join.
func oneMatch(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow() //nolint:errcheck // the end of the example
	send := func(e protocol.Event) { _ = conn.Write(r.Context(), websocket.MessageText, protocol.Encode(e)) }
	for {
		_, frame, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		request, err := protocol.DecodeRequest(frame)
		if err != nil {
			return
		}
		id := protocol.Envelope{ID: request.MessageID()}
		switch m := request.(type) {
		case *protocol.Hello:
			send(&protocol.Welcome{Envelope: id, Protocol: protocol.Version, PlayerID: m.PlayerID})
		case *protocol.Join:
			send(&protocol.Joined{Envelope: id, World: m.World, TicketID: "voice.1", Position: 1, QueueSize: 2})
			send(&protocol.MatchCompleted{Match: &protocol.Match{
				ID: "0199d3c0-7b1a-7000-8000-000000000001", World: m.World, State: protocol.StateComplete,
				Rooms:   map[string]string{"game": "0199d3c0-7b1a-7000-8000-000000000002"},
				Players: protocol.List[protocol.Player]{{ID: "ann"}, {ID: "bob"}},
			}})
		case *protocol.Ack:
			send(&protocol.Acked{Envelope: id, MatchID: m.MatchID})
		}
	}
}
