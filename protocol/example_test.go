package protocol_test

import (
	"errors"
	"fmt"

	"muster/protocol"
)

// A server reads a request, answers it, and sends a fault back as it is.
func Example() {
	for _, frame := range []string{
		`{"type":"ping","id":"1","t":7}`,
		`{"type":"join","id":"2","world":7}`,
	} {
		request, err := protocol.DecodeRequest([]byte(frame))
		var refused *protocol.Error
		if errors.As(err, &refused) {
			fmt.Println(string(protocol.Encode(refused)))
			continue
		}
		if ping, ok := request.(*protocol.Ping); ok {
			fmt.Println(string(protocol.Encode(&protocol.Pong{Envelope: ping.Envelope, T: ping.T})))
		}
	}
	// Output:
	// {"type":"pong","id":"1","t":7}
	// {"type":"error","id":"2","code":"bad_message","message":"world: must be a string"}
}
