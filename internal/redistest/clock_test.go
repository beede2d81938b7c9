package redistest

import (
	"strconv"
	"testing"
	"time"
)

func TestAClockOfItsOwn(t *testing.T) {
	t.Parallel()
	clock := NewClock(t)
	s := Start(t, OwnClock(clock))
	set(t, s, "ends", "later")
	if _, err := s.Do(t.Context(), "PEXPIRE", "ends", time.Minute.Milliseconds()); err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []time.Duration{0, time.Hour, -time.Hour, 1500 * time.Millisecond, 0} {
		clock.Set(ahead)
		reply, err := s.Do(t.Context(), "TIME")
		if err != nil {
			t.Fatal(err)
		}
		parts := reply.([]any)
		seconds, err := strconv.ParseInt(parts[0].(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		micros, err := strconv.ParseInt(parts[1].(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		off := time.Until(time.Unix(seconds, micros*1000)) - ahead
		if off.Abs() > time.Second {
			t.Errorf("set %v ahead, the server's clock is off by %v", ahead, off)
		}
		// What Redis times from now on ends as it should.
		if _, err := s.Do(t.Context(), "CLIENT", "PAUSE", 20); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := s.Do(t.Context(), "SET", "key", "value"); err != nil || time.Since(began) > time.Minute {
			t.Errorf("%v ahead: a write after a pause of 20 ms took %v: %v", ahead, time.Since(began), err)
		}
	}
	if n, err := s.Do(t.Context(), "EXISTS", "ends"); err != nil || n != int64(0) {
		t.Errorf("the clock was past its end, and the key is still there: %v, %v", n, err)
	}
}
