package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard/sqlstore"
)

// A server is a database server with one database, whose data are in a folder of its own.
type server interface {
	dialect() sqlstore.Dialect
	folder() string
	start(t testing.TB)
	stop(t testing.TB)
	kill(t testing.TB)
	restored(t testing.TB, folder string) server // a server, not started, with this folder
	dump(t testing.TB) string                    // a file
	load(t testing.TB, dump string)              // into an empty database
	source(user string) (driver, source string)  // for sql.Open; the user "" may do everything
}

// servers make a server that runs.
var servers = map[string]func(t testing.TB) server{"PostgreSQL": newPostgres, "MariaDB": newMariaDB, "SQLite": newSQLite}

// each runs a test with each server, at the same time.
func each(t *testing.T, test func(t *testing.T, s server)) {
	t.Parallel()
	for name, newServer := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newServer(t))
		})
	}
}

// measured reports whether a benchmark runs.
func measured(t testing.TB) bool {
	_, is := t.(*testing.B)
	return is
}

func open(t testing.TB, s server, user string) *sql.DB {
	t.Helper()
	driver, source := s.source(user)
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// A process is a server's process, which runs as a user that is not root.
type process struct {
	account string
	dir     string // for data and socket
	cmd     *exec.Cmd
	ended   chan struct{}
}

// newFolder returns a folder that belongs to an account if the test runs as root, else to the test's user. It is short
// enough for a socket.
func newFolder(t testing.TB, account string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sql")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		u, err := user.Lookup(account)
		require.NoError(t, err)
		id, err := strconv.Atoi(u.Uid)
		require.NoError(t, err)
		require.NoError(t, os.Chown(dir, id, -1))
	}
	return dir
}

// as returns a command that runs as the account.
func as(account, program string, args ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		args = append([]string{"--reuid", account, "--regid", account, "--clear-groups", program}, args...)
		program = "setpriv"
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = os.TempDir()
	return cmd
}

func run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", cmd, out)
}

// template makes the data of a new server once, and returns a function that copies them.
func template(make func(t testing.TB) (folder string)) func(t testing.TB, to string) {
	var once sync.Once
	var from string
	return func(t testing.TB, to string) {
		once.Do(func() { from = make(t) })
		run(t, exec.Command("cp", "-a", from, to))
	}
}

func (p *process) launch(t testing.TB, program string, args ...string) {
	t.Helper()
	p.cmd = as(p.account, program, args...)
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	require.NoError(t, p.cmd.Start())
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) { _ = cmd.Wait(); close(ended) }(p.cmd, p.ended)
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
}

// end sends a signal to the server and its children, and waits.
func (p *process) end(signal syscall.Signal) {
	if p.cmd == nil {
		return
	}
	pid := p.cmd.Process.Pid
	pids := []int{pid}
	if signal == syscall.SIGKILL { // PostgreSQL has a process per connection
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for _, text := range strings.Fields(string(children)) {
			child, _ := strconv.Atoi(text)
			pids = append(pids, child)
		}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, signal)
	}
	<-p.ended
	for _, pid := range pids {
		for signal == syscall.SIGKILL && alive(pid) {
			time.Sleep(time.Millisecond)
		}
	}
	p.cmd = nil
}

// alive reports whether there is a process, which is no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// wait returns when the server answers.
func (p *process) wait(t testing.TB, driver, source string) {
	t.Helper()
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	defer db.Close()
	for range 3000 {
		if err = db.PingContext(context.Background()); err == nil {
			return
		}
		select {
		case <-p.ended:
		case <-time.After(20 * time.Millisecond):
			continue
		}
		break
	}
	log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	t.Fatalf("the server does not start: %v\n%s", err, log)
}
