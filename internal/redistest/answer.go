package redistest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"muster/internal/child"
)

// answerTimeout is how long a server may take to answer; it needs some 10 ms on an idle machine.
const answerTimeout = 20 * time.Second

// answerInterval is the pause between two questions to a server that starts.
const answerInterval = 5 * time.Millisecond

// errEnded is returned when a server ended before it answered, most often as its port was taken.
var errEnded = errors.New("the process ended before it answered")

// awaitAnswer waits until proc itself, and not another server that took the port, answers at addr
// and has read its data.
func awaitAnswer(addr string, proc *child.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	client := redis.NewClient(clientOptions(addr))
	defer func() { _ = client.Close() }()
	tick := time.NewTicker(answerInterval)
	defer tick.Stop()
	for {
		err := ask(ctx, client, proc.PID())
		if err == nil {
			return nil
		}
		select {
		case <-proc.Exited():
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s within %v: %w", addr, answerTimeout, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// ask returns nil when the server with this pid answers and has read its data. It knocks before
// it lets the client in, as the client logs each refused connection.
func ask(ctx context.Context, client *redis.Client, pid int) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", client.Options().Addr)
	if err != nil {
		return err
	}
	_ = conn.Close()
	info, err := client.Info(ctx).Result()
	if err != nil {
		return err
	}
	if !ready(info, pid) {
		return errors.New("another server answers, or this one still reads its data")
	}
	return nil
}

// ready reads the reply of INFO.
func ready(info string, pid int) bool {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields["process_id"] == strconv.Itoa(pid) && fields["loading"] == "0"
}

// tail returns the last lines of a log for an error message.
func tail(path string) string {
	const lines = 10
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}
