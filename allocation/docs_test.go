package allocation

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/loopback"
	"muster/internal/race"
)

// The receivers in docs/allocation.md are run as they stand there.
func TestTheReceiversOfTheDocumentation(t *testing.T) {
	t.Parallel()
	for language, command := range map[string]func(t *testing.T, source string) *exec.Cmd{"go": buildGo, "python": runPython} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			url := serveDocumented(t, command(t, documented(t, language)))
			settings := Settings{Webhook: url, Secret: "hunter2", Timeout: 5 * time.Second, Attempts: 3}

			fake := newFakeStore(aMatch("m1"), aMatch("m2"))
			start(t, Options{Store: fake, Settings: always(settings)})
			for _, id := range fake.order {
				if m := fake.settled(t, id); m.state != complete || m.endpoint != `"wss://games.example/`+string(id)+`"` {
					t.Errorf("match = %+v", m)
				}
			}
			settings.Secret = "hunter3"
			fake = newFakeStore(aMatch("m1"))
			_, seen := start(t, Options{Store: fake, Settings: always(settings)})
			if m := fake.settled(t, "m1"); m.state != cancelled || !slices.Equal(seen.all(), []Outcome{Refused}) {
				t.Errorf("with a wrong secret: %+v, %v", m, seen.all())
			}
			replayed(t, url)
		})
	}
}

// replayed sends a request that is rightly signed, and old.
func replayed(t *testing.T, url string) {
	t.Helper()
	for age, want := range map[time.Duration]int{0: http.StatusOK, time.Hour: http.StatusUnauthorized, -time.Hour: http.StatusUnauthorized} {
		const body = `{"match_id":"m1"}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		timestamp := strconv.FormatInt(time.Now().Add(-age).Unix(), 10)
		request.Header.Set("Muster-Timestamp", timestamp)
		request.Header.Set("Muster-Signature", sign("hunter2", timestamp, []byte(body)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s old: %d, want %d", age, response.StatusCode, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// documented is the one block of a language in docs/allocation.md.
func documented(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "allocation.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks of %s", len(blocks), language)
	}
	return blocks[0][1] + "\n"
}

// serveDocumented runs a receiver and returns its address when it listens.
func serveDocumented(t *testing.T, cmd *exec.Cmd) (url string) {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	cmd.Env = append(os.Environ(), "LISTEN="+address, "SECRET_FILE="+secret)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; wait(t.Context(), 20*time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return "http://" + address + "/allocate"
		}
		if time.Now().After(deadline) {
			t.Fatalf("does not listen: %v", err)
		}
	}
}

func buildGo(t *testing.T, source string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-o", "receiver"}
	if race.Enabled { // the standard library is compiled for the tests in this form
		args = append(args, "-race")
	}
	build := exec.CommandContext(t.Context(), "go", append(args, "main.go")...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return exec.CommandContext(t.Context(), filepath.Join(dir, "receiver"))
}

func runPython(t *testing.T, source string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "receiver.py")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is needed to run the receiver of docs/allocation.md: apt-get install python3")
	}
	return exec.CommandContext(t.Context(), python, file)
}
