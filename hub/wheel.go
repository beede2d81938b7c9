package hub

import (
	"sync"
	"time"
)

const (
	// slotInterval is the time of one slot of the wheel, unless the bounds of the number of slots say otherwise.
	slotInterval = 20 * time.Millisecond
	// leastSlots and mostSlots bound the number of slots. At most 1,000 slots still hold only 100 of 100,000 sessions each.
	leastSlots, mostSlots = 4, 1000
)

// wheel is a ring of slots, one heartbeat long. Each session that is due within a heartbeat is in the slot of that time.
// Every operation costs O(1) a session; nothing ever looks at all sessions.
type wheel struct {
	interval time.Duration // of a slot

	mu sync.Mutex
	// guarded by mu
	slots [][]*Session
	at    int // index of the slot that was taken last
	fill  int // index of the slot that the last newcomer was put into
}

// duePlace is the place of a session in the wheel; guarded by the wheel's mu. The zero duePlace is none.
type duePlace struct {
	slot  int32 // the index of the slot plus one
	index int32 // within the slot
}

func newWheel(heartbeat time.Duration) *wheel {
	count := min(max(int(heartbeat/slotInterval), leastSlots), mostSlots)
	return &wheel{interval: heartbeat / time.Duration(count), slots: make([][]*Session, count)}
}

// add puts a newcomer into the slot behind the one of the newcomer before: however many come at once, their slots are
// spread evenly over the heartbeat.
func (w *wheel) add(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fill = (w.fill + 1) % len(w.slots)
	w.put(s, w.fill)
}

// schedule puts a session into the slot of a time from now on, at most a heartbeat.
func (w *wheel) schedule(s *Session, in time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	steps := min(max(int((in+w.interval-1)/w.interval), 1), len(w.slots))
	w.put(s, (w.at+steps)%len(w.slots))
}

// put moves a session to a slot; mu is held.
func (w *wheel) put(s *Session, slot int) {
	w.drop(s)
	s.due = duePlace{slot: int32(slot + 1), index: int32(len(w.slots[slot]))}
	w.slots[slot] = append(w.slots[slot], s)
}

// remove takes a session out, if it is in a slot.
func (w *wheel) remove(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(s)
}

// drop is remove with mu held. The last session of the slot takes the place.
func (w *wheel) drop(s *Session) {
	if s.due.slot == 0 {
		return
	}
	slot := w.slots[s.due.slot-1]
	last := slot[len(slot)-1]
	slot[s.due.index], last.due.index = last, s.due.index
	slot[len(slot)-1] = nil
	w.slots[s.due.slot-1] = slot[:len(slot)-1]
	s.due = duePlace{}
}

// next moves on by a slot and takes out the sessions that are due in it, appended to due.
func (w *wheel) next(due []*Session) []*Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = (w.at + 1) % len(w.slots)
	slot := w.slots[w.at]
	for i, s := range slot {
		s.due = duePlace{}
		due = append(due, s)
		slot[i] = nil
	}
	w.slots[w.at] = slot[:0]
	return due
}
