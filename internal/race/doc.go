// Package race tells tests whether they run with the race detector, which allocates and is slow.
package race
