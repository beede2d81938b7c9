//go:build race

package e2e

// raceEnabled has the instances built with the race detector, as the tests are.
const raceEnabled = true
