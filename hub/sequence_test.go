package hub

import (
	"testing"

	"muster/internal/ident"
)

func TestNumbering(t *testing.T) {
	t.Parallel()
	type n = numbering
	saw := func(epoch ident.Place, numbers ...int64) func(*n) {
		return func(n *n) {
			for _, number := range numbers {
				n.saw(epoch, number)
			}
		}
	}
	madeUp := func(number int64) func(*n) { return func(n *n) { n.madeUp(n.life(), number) } }
	restart := func(epoch ident.Place, number int64) func(*n) { return func(n *n) { n.restart(epoch, number) } }
	for name, c := range map[string]struct {
		steps []func(*n)
		upTo  int64
	}{
		"nothing":                               {nil, 0},
		"in order":                              {[]func(*n){saw(1, 1, 2, 3)}, 3},
		"a gap":                                 {[]func(*n){saw(1, 1, 3, 4)}, 1},
		"a reply that was faster":               {[]func(*n){saw(1, 2, 3, 1)}, 3},
		"twice":                                 {[]func(*n){saw(1, 1, 1, 2, 1)}, 2},
		"a gap made up":                         {[]func(*n){saw(1, 1, 3, 5), madeUp(3)}, 3},
		"made up to just before what was ahead": {[]func(*n){saw(1, 1, 4, 5), madeUp(3)}, 5},
		"made up to less than was seen":         {[]func(*n){saw(1, 1, 2, 3), madeUp(2)}, 3},
		"a new epoch":                           {[]func(*n){saw(1, 1, 2, 3), saw(2, 1)}, 1},
		"a late one of the old epoch":           {[]func(*n){saw(2, 1), saw(1, 2, 3)}, 1},
		"a new epoch that goes on counting":     {[]func(*n){saw(1, 1, 2), restart(2, 0), saw(2, 3), madeUp(3)}, 3},
		"a lease that was forgotten":            {[]func(*n){saw(1, 1, 2, 3), restart(1, 0), saw(1, 1)}, 1},
		"a lease that had lapsed":               {[]func(*n){saw(1, 1), restart(1, 7), saw(1, 8)}, 8},
		"made up for a lease that was forgotten": {[]func(*n){saw(1, 1, 2, 3), func(n *n) {
			life := n.life()
			n.restart(1, 0)
			n.saw(1, 1)
			n.madeUp(life, 50)
		}}, 1},
		"made up while a new epoch began": {[]func(*n){func(n *n) {
			life := n.life()
			n.saw(2, 1)
			n.madeUp(life, 50)
		}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var n numbering
			for _, step := range c.steps {
				step(&n)
			}
			if n.behind(c.upTo) || !n.behind(c.upTo+1) {
				t.Errorf("all is known up to %d, want %d", n.upTo, c.upTo)
			}
			for number := range n.ahead {
				if number <= n.upTo {
					t.Errorf("%d is kept though it is known", number)
				}
			}
		})
	}
}
