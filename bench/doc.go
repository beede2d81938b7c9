// Package bench measures the built server, a real Redis and real clients, each figure beside a plain reference
// in the same run, and writes the table of docs/benchmarks.md. It has nothing but tests that run when asked
// for: `make bench` and `make bench-scale`.
package bench
