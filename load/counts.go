package load

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// counts are numbers by name. Their methods may be called concurrently.
type counts struct {
	mu     sync.Mutex
	byName map[string]int // guarded by mu
}

func (c *counts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName = map[string]int{}
	}
	c.byName[name]++
}

// total is the sum over all names.
func (c *counts) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, count := range c.byName {
		n += count
	}
	return n
}

func (c *counts) snapshot() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.byName)
}

// lines are the counts in words, by name.
func (c *counts) lines() []string {
	byName := c.snapshot()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		lines = append(lines, fmt.Sprintf("%s × %d", name, byName[name]))
	}
	return lines
}
