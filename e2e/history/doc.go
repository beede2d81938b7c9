// Package history records what every client of a realm sent and heard, and judges the whole of it
// afterwards: what a server promises can be broken between two looks at it, but not without a trace
// in what it told its clients.
//
// It sees messages and the wall clock only, never the server or its Redis, which must run on the same
// machine: times that the server names are compared with those of the record. Recording may be done
// concurrently; judging comes after the recording.
package history
