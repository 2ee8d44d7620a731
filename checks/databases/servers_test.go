package databases

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// A kind of database. Servers run as account if the test is root, which they refuse to be.
type kind struct {
	name, driver, account, others string
	lock, unlock                  string // statements of a session: no other one can put keys, but list them
	blocked                       string // counts the statements of app that wait for lock
	create                        string // table users
}

var (
	postgreSQL = &kind{
		name: "PostgreSQL", driver: "pgx", account: "postgres", others: inPostgreSQL,
		lock: `BEGIN; LOCK TABLE users IN SHARE MODE`, unlock: `ROLLBACK`,
		blocked: `SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND wait_event_type = 'Lock'`,
		create:  `CREATE TABLE users (id bigint, name text PRIMARY KEY)`,
	}
	mariaDB = &kind{
		name: "MariaDB", driver: "mysql", account: "mysql", others: inMariaDB,
		lock: `LOCK TABLES users READ`, unlock: `UNLOCK TABLES`,
		blocked: `SELECT count(*) FROM information_schema.processlist WHERE user = 'app' AND state LIKE 'Waiting for%lock%'`,
		create:  `CREATE TABLE users (id bigint, name varbinary(200) PRIMARY KEY)`,
	}
	sqlite = &kind{name: "SQLite", driver: "sqlite", create: `CREATE TABLE users (id integer, name text PRIMARY KEY)`}
)

func init() { _ = mysql.SetLogger(quiet{}) } // of connections that a killed server has closed

type quiet struct{}

func (quiet) Print(...any) {}

// A server is a database server with a table users and a user app, whose data are in a folder of its own.
type server struct {
	*kind
	dir     string   // for data and socket
	options []string // of the program
	cmd     *exec.Cmd
	ended   chan struct{}
}

// each runs a test with a new server of each kind.
func each(t *testing.T, kinds []*kind, test func(t *testing.T, s *server)) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) { test(t, newServer(t, k)) })
	}
}

// program returns the path of a server's program. Debian does not put all of them into PATH.
func program(t testing.TB, name string) string {
	t.Helper()
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	more, _ := filepath.Glob("/usr/sbin/" + name)
	if paths = append(paths, more...); len(paths) > 0 {
		return slices.Max(paths)
	}
	return testkit.Program(t, name, "postgresql, mariadb-server and pgbouncer")
}

// newFolder returns a folder that belongs to an account if the test is root. It is short enough for a socket.
func newFolder(t testing.TB, account string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sql")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	if u, err := user.Lookup(account); err == nil && os.Getuid() == 0 {
		id, err := strconv.Atoi(u.Uid)
		require.NoError(t, err)
		require.NoError(t, os.Chown(dir, id, -1))
	}
	return dir
}

// as returns a command that runs as the account if the test is root.
func as(account, program string, args ...string) *exec.Cmd {
	if os.Getuid() == 0 {
		args = append([]string{"--reuid", account, "--regid", account, "--clear-groups", program}, args...)
		program = "setpriv"
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = os.TempDir()
	return cmd
}

func newServer(t testing.TB, k *kind, options ...string) *server {
	t.Helper()
	if !*testkit.Long {
		t.Skip("NOT TESTED without -long: the recipes with real servers")
	}
	s := &server{kind: k, options: options}
	var install []string
	switch k {
	case postgreSQL:
		install = []string{program(t, "initdb"), "-U", "admin", "-A", "trust", "-N", "-E", "UTF8", "--locale=C", "--pgdata="}
	case mariaDB:
		install = []string{program(t, "mariadb-install-db"), "--no-defaults", "--auth-root-authentication-method=normal", "--datadir="}
	}
	s.dir = newFolder(t, k.account)
	if install != nil {
		install[len(install)-1] += s.dir + "/data"
		out, err := as(k.account, install[0], install[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	s.start(t)
	db := s.open(t, "admin")
	execute(t, db, k.create)
	for _, statement := range map[*kind][]string{
		postgreSQL: {`CREATE ROLE app LOGIN`, `GRANT ALL ON users TO app`},
		mariaDB:    {`CREATE USER app@localhost`, `GRANT ALL ON test.* TO app@localhost`},
	}[k] {
		execute(t, db, statement)
	}
	return s
}

func (s *server) start(t testing.TB) {
	t.Helper()
	switch s.kind {
	case postgreSQL:
		_ = os.Remove(s.dir + "/data/postmaster.pid") // of a killed one
		s.launch(t, program(t, "postgres"), append([]string{"-D", s.dir + "/data", "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off",
			"-c", "autovacuum=off", "-c", "shared_buffers=16MB", "-c", "max_prepared_transactions=1"}, s.options...)...)
	case mariaDB:
		s.launch(t, program(t, "mariadbd"), append([]string{"--no-defaults", "--datadir=" + s.dir + "/data", "--socket=" + s.dir + "/socket",
			"--pid-file=" + s.dir + "/pid", "--skip-networking", "--innodb-buffer-pool-size=16M"}, s.options...)...)
	}
}

// source returns what sql.Open needs.
func (s *server) source(user string) string {
	switch s.kind {
	case postgreSQL:
		// pgbouncer wants the simple protocol.
		return fmt.Sprintf("host=%s user=%s database=postgres default_query_exec_mode=simple_protocol", s.dir, user)
	case mariaDB:
		return fmt.Sprintf("%s@unix(%s/socket)/test", strings.Replace(user, "admin", "root", 1), s.dir)
	}
	return "file:" + s.dir + "/db?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"
}

// open returns a pool of connections.
func (s *server) open(t testing.TB, user string) *sql.DB {
	t.Helper()
	db, err := sql.Open(s.driver, s.source(user))
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func (s *server) launch(t testing.TB, program string, args ...string) {
	t.Helper()
	s.cmd = as(s.account, program, args...)
	log, err := os.OpenFile(s.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	require.NoError(t, s.cmd.Start())
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) { _ = cmd.Wait(); close(ended) }(s.cmd, s.ended)
	t.Cleanup(s.kill)
	db := s.open(t, "admin")
	for err = db.Ping(); err != nil; err = db.Ping() {
		select {
		case <-s.ended:
			log, _ := os.ReadFile(s.dir + "/log")
			t.Fatalf("the server does not start: %v\n%s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// children returns the server's processes: PostgreSQL has one for each connection, and some more.
func (s *server) children() (pids []int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.cmd.Process.Pid))
	for _, field := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(field)
		pids = append(pids, pid)
	}
	return pids
}

// kill kills the server and its children, stopped ones too, and waits for their end.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	pids := append(s.children(), s.cmd.Process.Pid)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-s.ended
	for _, pid := range pids {
		for {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	s.cmd = nil
}

// bouncer returns a server that reaches s by pgbouncer, with transaction pooling.
func bouncer(t testing.TB, s *server) *server {
	path := program(t, "pgbouncer")
	b := &server{kind: s.kind, dir: newFolder(t, s.account)}
	config := fmt.Sprintf("[databases]\npostgres = host=%s user=app\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n"+
		"unix_socket_dir = %s\nlisten_addr =\nlisten_port = 5432\n", s.dir, b.dir)
	require.NoError(t, os.WriteFile(b.dir+"/ini", []byte(config), 0o644))
	b.launch(t, path, b.dir+"/ini")
	return b
}

func execute(t testing.TB, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statement string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(context.Background(), statement, args...)
	require.NoError(t, err, statement)
}

// until returns when a query returns a number.
func until(t testing.TB, db *sql.DB, query string, want int) {
	t.Helper()
	got := -1
	for range 3000 {
		require.NoError(t, db.QueryRow(query).Scan(&got), query)
		if got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s is %d, want %d", query, got, want)
}

// hold locks the table and returns the function that unlocks it.
func (s *server) hold(t testing.TB) (release func()) {
	t.Helper()
	session, err := s.open(t, "admin").Conn(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	execute(t, session, s.lock)
	return func() { execute(t, session, s.unlock) }
}

const selectUsers = "SELECT name FROM users"

// opened returns a guard that has listed a store.
func opened(t testing.TB, store guard.Store) *guard.Guard {
	t.Helper()
	g, err := guard.New("", 100_000, 1e-9, store)
	require.NoError(t, err)
	require.NoError(t, g.Open(context.Background()))
	return g
}

// lost returns how many stored keys the guard calls absent.
func lost(t testing.TB, g *guard.Guard, db *sql.DB) (n int) {
	t.Helper()
	keys, err := scanned(db.Query(selectUsers))
	require.NoError(t, err)
	for _, key := range keys {
		if !g.Contains(key) {
			n++
		}
	}
	return n
}
