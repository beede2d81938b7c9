package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"muster/internal/child"
	"muster/load"
	"muster/protocol"
)

// runLoad runs `muster load` and returns its report, nil where it wrote none, its exit code and what it
// printed.
func runLoad(t *testing.T, url string, args ...string) (report *load.Report, exit int, printed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	dir := t.TempDir()
	file, page := filepath.Join(dir, "load.json"), filepath.Join(dir, "load.html")
	cmd := exec.CommandContext(ctx, program, append([]string{"load", "--url", url, "--json", file, "--html", page, "--settle", "2s"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	proc, err := child.Launch(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	<-proc.Exited()
	exit, printed = cmd.ProcessState.ExitCode(), out.String()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, exit, printed
	}
	report = new(load.Report)
	if err := json.Unmarshal(text, report); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("</html>")) {
		t.Errorf("the page is not whole: %v", err)
	}
	return report, exit, printed
}

func TestLoadFindsAServerCorrect(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 2, calmPresence)
	urls := c.instances[0].url() + "," + c.instances[1].url()
	for name, x := range map[string]struct {
		args    []string
		told    int64 // at least
		matches int   // at least
	}{
		"burst":            {[]string{"--players", "200", "--world", "duel"}, 200, 100},
		"in several":       {[]string{"--players", "120", "--world", "trio,five", "--every-world"}, 110, 22},
		"steady":           {[]string{"--pattern", "steady", "--players", "50", "--rate", "200", "--duration", "500ms", "--leave", "--world", "duel"}, 98, 49},
		"those who return": {[]string{"--pattern", "churn", "--players", "40", "--rate", "80", "--duration", "500ms", "--world", "trio"}, 38, 13},
		"idle":             {[]string{"--pattern", "idle", "--players", "50", "--duration", "200ms"}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			report, exit, printed := runLoad(t, urls, x.args...)
			if exit != 0 || report == nil || !report.Correct {
				t.Fatalf("ends with %d:\n%s", exit, printed)
			}
			if report.Told < x.told || report.Matches < x.matches {
				t.Errorf("%d told in %d matches, want %d in %d:\n%s", report.Told, report.Matches, x.told, x.matches, printed)
			}
			if len(report.Errors)+len(report.Closes)+len(report.Failures) > 0 {
				t.Errorf("there were errors:\n%s", printed)
			}
		})
	}
}

func TestLoadSaysWhenTheServersLimitRefusesIt(t *testing.T) {
	t.Parallel()
	c := startCluster(t, 1, withEnv("LIMITS_CONNECTIONS_PER_IP=20"))
	args := []string{"--pattern", "idle", "--players", "40", "--duration", "100ms"}
	report, exit, printed := runLoad(t, c.instances[0].url(), args...)
	if exit != 3 || report == nil || !report.Correct || !strings.Contains(printed, "overloaded: ") || report.Connected+int64(report.Failures["1013"]) != 40 || report.Connected > 20 ||
		!strings.Contains(printed, "connections_per_ip") {
		t.Errorf("from one address, ends with %d:\n%s", exit, printed)
	}
	eventually(t, func() string { // the first run's connections are counted until they are gone
		report, _, printed = runLoad(t, c.instances[0].url(), append(args, "--sources", "127.0.0.2,127.0.0.3")...)
		if report == nil || report.Connected != 40 {
			return printed
		}
		return ""
	})
}

func TestLoadTellsAWrongCommandLineFromAServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	if _, exit, printed := runLoad(t, "http://127.0.0.1", "--pattern", "storm"); exit != 2 ||
		!strings.Contains(printed, "url:") || !strings.Contains(printed, "pattern:") {
		t.Errorf("ends with %d:\n%s", exit, printed)
	}
	if _, exit, printed := runLoad(t, "ws://"+freeAddr(t)+protocol.Path); exit != 1 || !strings.Contains(printed, "refused") {
		t.Errorf("ends with %d:\n%s", exit, printed)
	}
}

func TestLoadFindsAServerThatIsNotCorrect(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		answer func(player string) []protocol.Event // to a join
		want   load.Kind
	}{
		"a match of one":      {matchOf("m", ""), load.WrongSize},
		"a match of others":   {func(string) []protocol.Event { return matchOf("m", "y")("x") }, load.NotParticipant},
		"a second match":      {func(p string) []protocol.Event { return append(matchOf("m", "x")(p), matchOf("n", "x")(p)...) }, load.NotAsked},
		"a ticket that fades": {func(string) []protocol.Event { return nil }, load.Lost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(wrongServer(x.answer))
			defer server.Close()
			url := strings.Replace(server.URL, "http", "ws", 1) + protocol.Path
			report, exit, printed := runLoad(t, url, "--players", "1", "--world", "duel")
			if exit != 1 || report == nil || report.Violations[x.want] != 1 {
				t.Errorf("ends with %d, want %s:\n%s", exit, x.want, printed)
			}
		})
	}
}

// matchOf answers a join with a match of the player and another, of the player alone where other is "".
func matchOf(id, other string) func(player string) []protocol.Event {
	return func(player string) []protocol.Event {
		m := &protocol.Match{ID: id + player, World: "duel", State: protocol.StateComplete, ExpiresAt: protocol.MaxInteger}
		for _, p := range []string{player, other} {
			if p != "" {
				m.Players = append(m.Players, protocol.Player{ID: p})
			}
		}
		return []protocol.Event{&protocol.MatchCompleted{Match: m}}
	}
}

// wrongServer is a server with a world of duels that answers a join with `joined` and what it is given.
func wrongServer(answer func(player string) []protocol.Event) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != protocol.Path {
			_, _ = w.Write([]byte(`{"worlds":[{"name":"duel","mode":"duel","size":2}]}`))
			return
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }() // the client has gone
		send := func(e protocol.Event, id string) {
			e.SetMessageID(id)
			_ = conn.Write(r.Context(), websocket.MessageText, protocol.Encode(e)) // or the client has gone
		}
		player := ""
		for {
			_, frame, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			request, err := protocol.DecodeRequest(frame)
			if err != nil {
				return
			}
			switch m := request.(type) {
			case *protocol.Hello:
				player = m.PlayerID
				send(&protocol.Welcome{Protocol: protocol.Version, PlayerID: player}, m.ID)
			case *protocol.Join:
				send(&protocol.Joined{World: m.World, TicketID: "duel.1"}, m.ID)
				for _, e := range answer(player) {
					send(e, "")
				}
			case *protocol.Status:
				send(&protocol.StatusReply{}, m.ID)
			}
		}
	})
}
