// Package client is a Go client of Muster's protocol.
//
// [Dial] connects and says hello. Calls such as [Client.Join] wait for their reply; what the server
// tells by itself comes through [Client.Events] or Options.OnEvent, in the order in which it was sent.
// Nothing is dropped: a client whose events are not taken in time is closed with ErrSlowConsumer.
// Pings of the server are answered by themselves.
//
// [Reconnecting] keeps a player connected over lost connections and stopping instances.
//
// All methods may be called concurrently.
//
// The module is not published under a path of its own: a program uses it from a checkout or a fork.
//
//	git clone <the repository> ../muster
//	go mod edit -require muster@v0.0.0 -replace muster=../muster
package client
