package protocol_test

import (
	"testing"

	"muster/protocol"
)

func BenchmarkDecodeRequest(b *testing.B) {
	frame := []byte(`{"type":"join","id":"17","world":"ranked","ticket":"k1","attributes":{"rating":1200,"regions":["eu","us"]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := protocol.DecodeRequest(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	event := &protocol.MatchCompleted{Match: complete()}
	b.ReportAllocs()
	for b.Loop() {
		protocol.Encode(event)
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	frame := protocol.Encode(&protocol.MatchCompleted{Match: complete()})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := protocol.DecodeEvent(frame); err != nil {
			b.Fatal(err)
		}
	}
}
