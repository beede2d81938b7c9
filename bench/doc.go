// Package bench measures the built server, a real Redis and real clients, each figure beside a reference in the same
// run, and writes the tables of docs/benchmarks.md and docs/scaling.md. It has nothing but tests that run when asked
// for: `make bench` and `make bench-scale`.
package bench
