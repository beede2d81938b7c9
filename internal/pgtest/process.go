package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"

	"muster/internal/child"
)

// servants are the users as whom PostgreSQL runs where the tests are root's: it refuses to be that.
var servants = []string{"postgres", "nobody"}

// servant is the user as whom programs run, nil for the tests' own.
func servant() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range servants {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("postgres does not run as root, and there is no user %s", strings.Join(servants, " or "))
}

// newDirectory is a directory of the user as whom the programs run. It is not the test's own, which only root may
// enter.
func newDirectory() (string, error) {
	as, err := servant()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil || as == nil {
		return dir, err
	}
	return dir, os.Chown(dir, int(as.Uid), int(as.Gid))
}

// command is one of PostgreSQL's programs, as a user that it does not refuse.
func command(dir, name string, args ...string) (*exec.Cmd, error) {
	path, err := binary(name)
	if err != nil {
		return nil, err
	}
	as, err := servant()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args...) //nolint:gosec // G204: arguments are the test's own
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true}
	return cmd, nil
}

// launch starts cmd. The signal by which a server ends when the test binary dies without its cleanups ends its
// connections too, as it does in quit.
func launch(cmd *exec.Cmd) (*child.Process, error) { return child.Launch(cmd, syscall.SIGQUIT) }

// quit ends the server and its connections at once (SIGQUIT: no checkpoint) and returns when it has gone.
func quit(proc *child.Process) error { return proc.End(syscall.SIGQUIT, answerTimeout) }
