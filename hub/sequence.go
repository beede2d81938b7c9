package hub

import (
	"maps"
	"sync"

	"muster/internal/ident"
)

// numbering follows the numbers of what this instance was told. Publishes come in order, but replies carry
// numbers too, so that for a moment a later one can be here first.
type numbering struct {
	mu sync.Mutex
	// guarded by mu
	epoch ident.Place
	upTo  int64 // all numbers up to it have been seen, or made up for
	ahead map[int64]bool
	lives int // how often they began anew
}

// saw notes that something numbered was received.
func (n *numbering) saw(epoch ident.Place, number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if epoch < n.epoch {
		return
	}
	if epoch > n.epoch {
		n.begin(epoch, 0)
	}
	if number <= n.upTo {
		return
	}
	if n.ahead == nil {
		n.ahead = map[int64]bool{}
	}
	n.ahead[number] = true
	n.advance()
}

func (n *numbering) advance() {
	for n.ahead[n.upTo+1] {
		delete(n.ahead, n.upTo+1)
		n.upTo++
	}
}

// behind tells whether something up to number is missing.
func (n *numbering) behind(number int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.upTo < number
}

// life names the time since the numbers began anew.
func (n *numbering) life() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lives
}

// madeUp notes that all up to number is known, from reading the state, unless the numbers have begun anew since
// life was asked for: then it is one of others.
func (n *numbering) madeUp(life int, number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if life != n.lives {
		return
	}
	n.upTo = max(n.upTo, number)
	maps.DeleteFunc(n.ahead, func(k int64, _ bool) bool { return k <= n.upTo })
	n.advance()
}

// restart begins anew at a number, with an epoch or with a lease that had lapsed.
func (n *numbering) restart(epoch ident.Place, number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.begin(epoch, number)
}

// begin is restart with mu held.
func (n *numbering) begin(epoch ident.Place, number int64) {
	n.epoch, n.upTo, n.ahead = epoch, number, nil
	n.lives++
}
