package history

import (
	"fmt"
	"io"

	"muster/protocol"
)

// Tell writes a player's log, one entry a line, for whoever looks into a violation.
func (h *History) Tell(w io.Writer, player string) error {
	if _, err := fmt.Fprintf(w, "%s\n", player); err != nil {
		return err
	}
	for _, e := range h.Player(player).Entries() {
		if _, err := fmt.Fprintf(w, "  %s %s\n", e.At.Format("15:04:05.000000"), e); err != nil {
			return err
		}
	}
	return nil
}

// String is the entry without its time.
func (e Entry) String() string {
	switch e.Kind {
	case Dialed:
		return fmt.Sprintf("%d dialed", e.Conn)
	case Sent:
		return fmt.Sprintf("%d > %s", e.Conn, protocol.Encode(e.Request))
	case Heard:
		return fmt.Sprintf("%d < %s", e.Conn, protocol.Encode(e.Event))
	default:
		return fmt.Sprintf("%d ended with %d", e.Conn, e.Code)
	}
}
