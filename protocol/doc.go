// Package protocol holds the messages of the client protocol, version 1: their fields, the codes of
// errors and closes, the limits, and how frames are encoded and decoded. The server, the hub and the
// Go client share it, so that there is one definition of what goes over the wire.
//
// A [Request] goes from a client to the server, an [Event] from the server to a client; both are
// always pointers to one of the structs of this package. [Encode] turns any of them into a frame.
// [DecodeRequest] and [DecodeBody] read what a client wrote and trust nothing in it; [DecodeEvent]
// reads what a server wrote and ignores what it does not know.
//
// Times ending in At (and Now, AcceptBy) are Unix milliseconds, fields ending in MS are durations in
// milliseconds. The package does no I/O and keeps no state: every function may be called
// concurrently, and a message that nobody changes may be encoded concurrently too.
package protocol
