package hub

import (
	"sync"

	"github.com/musterhq/muster/internal/ident"
)

// numbering follows the numbers of what this instance was told. Publishes come in order, but replies carry
// numbers too, so that for a moment a later one can be here first.
type numbering struct {
	mu sync.Mutex
	// guarded by mu
	epoch ident.Place
	upTo  int64 // all numbers up to it have been seen, or made up for
	ahead map[int64]bool
}

// saw notes that something numbered was received.
func (n *numbering) saw(epoch ident.Place, number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if epoch < n.epoch {
		return
	}
	if epoch > n.epoch {
		n.epoch, n.upTo, n.ahead = epoch, 0, nil
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

// madeUp notes that all up to number is known, from reading the state. Numbers begin anew with a lease that
// was forgotten, so that it may be lower too.
func (n *numbering) madeUp(epoch ident.Place, number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if epoch > n.epoch {
		n.epoch, n.ahead = epoch, nil
	}
	n.upTo = max(n.upTo, number)
	for k := range n.ahead {
		if k <= n.upTo {
			delete(n.ahead, k)
		}
	}
	n.advance()
}

// restart begins anew at a number, with an epoch or with a lease that had lapsed.
func (n *numbering) restart(epoch ident.Place, number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.epoch, n.upTo, n.ahead = epoch, number, nil
}
