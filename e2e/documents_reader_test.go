package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"muster/internal/child"
	"muster/internal/pgtest"
)

// docReader follows a document.
type docReader struct {
	t       *testing.T
	dir     string
	address string // of the server, in the place of 127.0.0.1:8080
	mu      sync.Mutex
	ports   map[string]string // guarded by mu
	server  *child.Process

	startPostgres sync.Once
	postgres      *pgtest.Server

	printed printed // what was printed by all blocks
}

// printed is what processes write. Its methods may be called concurrently.
type printed struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// newReader writes the files that a document shows.
func newReader(t *testing.T, blocks []block) *docReader {
	t.Helper()
	r := &docReader{t: t, dir: t.TempDir(), address: freeAddr(t), ports: map[string]string{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(r.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	configs, err := filepath.Abs("../configs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(configs, filepath.Join(r.dir, "configs")); err != nil {
		t.Fatal(err)
	}
	r.write("bin/sudo", "#!/bin/sh\nshift 2 # -u postgres: the test's PostgreSQL trusts everybody\nexec \"$@\"\n")
	r.write("bin/websocat", "#!/bin/sh\n"+asWebsocat+"=1 exec '"+self+"' \"$@\"\n")
	for _, b := range blocks {
		if b.file != "" {
			r.write(b.file, r.rewrite(b.text))
		}
	}
	return r
}

func (r *docReader) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// addressOf is where a port of the document is in this test.
func (r *docReader) addressOf(port string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ports[port] == "" {
		r.ports[port] = freeAddr(r.t)
	}
	return r.ports[port]
}

// postgresAddr is the address of a PostgreSQL of the test's own, started for a text that speaks of one.
func (r *docReader) postgresAddr(text string) string {
	if !strings.Contains(text, "127.0.0.1:5432") && !strings.Contains(text, "psql") {
		return ""
	}
	r.startPostgres.Do(func() { r.postgres = pgtest.Start(r.t) })
	return r.postgres.Addr()
}

func (r *docReader) environ() []string {
	env := []string{
		"PATH=" + filepath.Join(r.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + r.dir,
		"MUSTER_LISTEN=" + r.address, "MUSTER_OPS_LISTEN=", "MUSTER_REDIS_RECOVERY=100ms",
	}
	if r.postgres != nil {
		host, port, _ := net.SplitHostPort(r.postgres.Addr())
		env = append(env, "PGHOST="+host, "PGPORT="+port, "PGUSER=postgres")
	}
	return env
}

// paste does what a reader does with a block.
func (r *docReader) paste(b block) {
	r.t.Helper()
	switch first, _, _ := strings.Cut(b.text, "\n"); {
	case b.language == "js":
		r.console(b)
	case b.language != "sh":
	case strings.HasPrefix(first, "go run .") && !strings.Contains(first, "matches") && !strings.Contains(first, "--check"):
		r.serve(b)
	case strings.Contains(b.text, "websocat"):
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { r.shell(b) })
		}
		both.Wait()
	default:
		r.shell(b)
	}
}

// shell runs a block in a shell of its own. What it leaves in the background ends with the test.
func (r *docReader) shell(b block) {
	r.t.Helper()
	text := r.rewrite(b.text) // starts what it speaks of
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*patience)
	defer cancel()
	var out printed
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir, cmd.Env = r.dir, r.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe() // a terminal's does not end
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	both := io.MultiWriter(&out, &r.printed)
	// A file, so that what goes on in the background holds nothing up.
	reader, writer, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	_ = writer.Close()
	go func() { _, _ = io.Copy(both, reader) }()
	r.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = reader.Close()
	})
	if strings.Contains(text, "websocat") { // which is ended by its reader
		awaitText(r.t, &out, `"type":"match_complete"`)
		_ = stdin.Close()
	}
	err = cmd.Wait()
	for _, want := range resultful.FindAllStringSubmatch(text, -1) {
		awaitText(r.t, &out, want[1])
	}
	if err != nil || strings.Contains(out.String(), `"type":"about:blank"`) {
		r.t.Errorf("line %d: %v\n%s\n%s", b.line, err, text, out.String())
	}
}

// program runs the server's program.
func (r *docReader) program(args ...string) (string, error) {
	cmd := exec.CommandContext(r.t.Context(), program, args...)
	cmd.Dir, cmd.Env = r.dir, r.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// serve starts the server in the place of the one before, and waits until it forms matches.
func (r *docReader) serve(b block) {
	r.t.Helper()
	if r.server != nil {
		_ = r.server.Kill()
		<-r.server.Exited()
	}
	cmd := exec.Command(program, strings.Fields(strings.TrimPrefix(b.text, "go run ."))...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, r.environ(), &r.printed, &r.printed
	var err error
	if r.server, err = child.Launch(cmd, syscall.SIGKILL); err != nil {
		r.t.Fatal(err)
	}
	server := r.server
	r.t.Cleanup(func() {
		_ = server.Kill()
		if r.t.Failed() {
			r.t.Log(r.printed.String())
		}
	})
	eventually(r.t, func() string {
		response, err := httpClient.Get("http://" + r.address + "/readyz")
		if err != nil {
			return err.Error()
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return response.Status
		}
		return ""
	})
}

// console runs a script in the consoles of two tabs, and waits until both print the same room.
func (r *docReader) console(b block) {
	r.t.Helper()
	browser := newBrowser(r.t)
	var rooms []string
	tabs := []*tab{{r.t, browser}}
	page := "http://" + r.address + "/"
	tabs[0].do(chromedp.Navigate(page))
	tabs = append(tabs, tabs[0].duplicate(page))
	script := "globalThis.lines = []; console.log = console.error = (...parts) => lines.push(parts.join(' '));\n{" + r.rewrite(b.text) + "}\ntrue"
	for _, tab := range tabs {
		tab.awaitPlayer()
		read(tab, chromedp.Evaluate[bool](script))
	}
	for _, tab := range tabs {
		eventually(r.t, func() string {
			for _, line := range read(tab, chromedp.Evaluate[[]string]("lines")) {
				if rest, ok := strings.CutPrefix(line, "room "); ok {
					rooms = append(rooms, strings.Fields(rest)[0])
					return ""
				}
			}
			return fmt.Sprintf("line %d: no room: %q", b.line, read(tab, chromedp.Evaluate[[]string]("lines")))
		})
	}
	if len(rooms) != 2 || rooms[0] != rooms[1] {
		r.t.Errorf("line %d: the rooms are %q", b.line, rooms)
	}
}

// awaitText waits until a text is printed.
func awaitText(t *testing.T, p *printed, text string) {
	t.Helper()
	eventually(t, func() string {
		if !strings.Contains(p.String(), text) {
			return "nothing prints " + text + ":\n" + p.String()
		}
		return ""
	})
}

// asWebsocat makes the test's program a WebSocket client for shells.
const asWebsocat = "MUSTER_TEST_AS_WEBSOCAT"

// websocat sends lines and prints frames, until a match is there.
func websocat(args []string, in io.Reader, out io.Writer) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, args[0], nil) //nolint:bodyclose // the library closes it
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 1
	}
	defer func() { _ = conn.CloseNow() }()
	go func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			_ = conn.Write(ctx, websocket.MessageText, lines.Bytes())
		}
	}()
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			_, _ = fmt.Fprintln(out, err)
			return 1
		}
		_, _ = fmt.Fprintf(out, "%s\n", frame)
		if strings.Contains(string(frame), `"type":"match_complete"`) {
			return 0
		}
	}
}
