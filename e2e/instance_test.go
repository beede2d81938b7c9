package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"muster/internal/child"
	"muster/internal/faultproxy"
	"muster/internal/loopback"
	"muster/protocol"
)

// instance is one server, on ports that stay its own when it is started anew.
type instance struct {
	t       *testing.T
	cluster *cluster
	name    string
	config  string
	addr    string // host:port for clients
	opsAddr string
	logPath string
	ownURL  string            // where it finds Redis, if that is not where the cluster does
	program string            // the built server
	before  string            // what the shell does that becomes it, if anything
	env     []string          // NAME=value, beside the cluster's
	prepare func(*exec.Cmd)   // changes how the process is started; nil for nothing
	proxy   *faultproxy.Proxy // between it and Redis; nil without withProxies

	cmd  *exec.Cmd      // its ProcessState is set when proc has ended
	proc *child.Process // nil before start
}

// httpClient is for single requests to instances.
var httpClient = &http.Client{Timeout: patience}

func (c *cluster) newInstance(name, config string) *instance {
	c.t.Helper()
	i := &instance{
		t: c.t, cluster: c, name: name, config: config, program: program,
		addr: freeAddr(c.t), opsAddr: freeAddr(c.t), logPath: filepath.Join(c.t.TempDir(), name+".log"),
	}
	c.t.Cleanup(i.cleanup)
	return i
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := loopback.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }() // only the number is wanted
	return ln.Addr().String()
}

// redisURL is where the instance finds Redis.
func (i *instance) redisURL() string {
	switch {
	case i.ownURL != "":
		return i.ownURL
	case i.proxy != nil:
		return "redis://" + i.proxy.Addr() + "/0"
	default:
		return i.cluster.redisURL
	}
}

// start starts the process and does not wait for it. Its log is kept over several starts.
func (i *instance) start() {
	i.t.Helper()
	log, err := os.OpenFile(i.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	command := []string{i.program, "serve", "--config", i.config, "--listen", i.addr, "--ops-listen", i.opsAddr}
	if i.before != "" {
		command = append([]string{"sh", "-c", i.before + ` && exec "$0" "$@"`}, command...)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(i.cluster.environ(i.redisURL()), i.env...), log, log
	if i.prepare != nil {
		i.prepare(cmd)
	}
	proc, err := child.Launch(cmd, syscall.SIGKILL)
	if err != nil {
		i.t.Fatal(err)
	}
	i.cmd, i.proc = cmd, proc
}

// awaitReady waits until the instance says that it can serve.
func (i *instance) awaitReady() {
	i.t.Helper()
	eventually(i.t, func() string {
		if !i.running() {
			i.t.Fatalf("%s ended: %v\n%s", i.name, i.cmd.ProcessState, i.logTail())
		}
		return i.readiness()
	})
}

// readiness is "" where the instance is ready, otherwise what it answers.
func (i *instance) readiness() string {
	response, err := httpClient.Get("http://" + i.addr + "/readyz")
	if err != nil {
		return err.Error()
	}
	body, _ := io.ReadAll(response.Body) // a body cut short says enough
	_ = response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return ""
	}
	return fmt.Sprintf("%s: readyz answers %d %s", i.name, response.StatusCode, body)
}

func (i *instance) signal(s syscall.Signal) {
	i.mustRun()
	if err := i.proc.Signal(s); err != nil {
		i.t.Errorf("%s: %v", i.name, err)
	}
}

// mustRun fails the test where the process has ended by itself.
func (i *instance) mustRun() {
	if !i.running() {
		i.t.Errorf("%s has ended already: %v", i.name, i.cmd.ProcessState)
	}
}

// kill ends the process as a crash does, and returns when it has gone.
func (i *instance) kill() {
	i.mustRun()
	if err := i.proc.Kill(); err != nil {
		i.t.Errorf("%s: %v", i.name, err)
	}
}

// stop asks the process to end, waits for that and returns its exit code, -1 where it had to be killed.
func (i *instance) stop() int {
	i.mustRun()
	if err := i.proc.End(syscall.SIGTERM, patience); err != nil {
		i.t.Errorf("%s: %v", i.name, err)
		return -1
	}
	return i.cmd.ProcessState.ExitCode()
}

func (i *instance) running() bool {
	select {
	case <-i.proc.Exited():
		return false
	default:
		return true
	}
}

func (i *instance) url() string { return "ws://" + i.addr + protocol.Path }

// request makes an HTTP request as a player ("" for nobody) and returns status and body.
func (i *instance) request(method, path, player, body string) (status int, answer string) {
	i.t.Helper()
	request, err := http.NewRequest(method, "http://"+i.addr+path, bytes.NewBufferString(body))
	if err != nil {
		i.t.Fatal(err)
	}
	if player != "" {
		request.Header.Set("X-Player-Id", player)
	}
	return i.roundTrip(request)
}

// metrics is the page of metrics.
func (i *instance) metrics() string {
	i.t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://"+i.opsAddr+"/metrics", http.NoBody)
	if err != nil {
		i.t.Fatal(err)
	}
	_, page := i.roundTrip(request)
	return page
}

func (i *instance) roundTrip(request *http.Request) (status int, answer string) {
	i.t.Helper()
	response, err := httpClient.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it was read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func (i *instance) log() []byte {
	text, err := os.ReadFile(i.logPath)
	if err != nil {
		i.t.Error(err)
	}
	return text
}

func (i *instance) logTail() string {
	const lines = 30
	all := bytes.Split(bytes.TrimSpace(i.log()), []byte("\n"))
	return string(bytes.Join(all[max(0, len(all)-lines):], []byte("\n")))
}

// broken finds what no log may hold, whatever was done to the instance.
var broken = regexp.MustCompile(`(?m)^(panic:|fatal error:|WARNING: DATA RACE).*|http: response.WriteHeader on hijacked|message is dropped`)

// cleanup kills what still runs and looks at the log.
func (i *instance) cleanup() {
	if i.proc == nil {
		return
	}
	if i.running() {
		i.kill()
	}
	log := i.log()
	if at := broken.FindIndex(log); at != nil {
		i.t.Errorf("the log of %s holds:\n%s", i.name, log[at[0]:min(len(log), at[0]+4000)])
	}
	if i.t.Failed() {
		i.t.Logf("the log of %s ends:\n%s", i.name, i.logTail())
	}
}

// pause freezes the process, as a machine does that is out of memory or being moved.
func (i *instance) pause() { i.signal(syscall.SIGSTOP) }

func (i *instance) resume() { i.signal(syscall.SIGCONT) }

// counted reports whether a metric of the instance is above zero.
func (i *instance) counted(metric string) bool {
	i.t.Helper()
	return regexp.MustCompile(`(?m)^` + metric + `(\{.*\})? [1-9]`).MatchString(i.metrics())
}
