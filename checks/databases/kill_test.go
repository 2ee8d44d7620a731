package databases

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/internal/testing/child"
)

const (
	insert     = `INSERT INTO users (name) VALUES ('%s')`
	terminate  = `count(pg_terminate_backend(pid))` // of docs/guard.md
	statements = 5                                  // of a program that is killed
	keysPut    = `SELECT count(*) FROM users WHERE name LIKE '%s%%'`
)

func TestMain(m *testing.M) {
	child.Main(m, map[string]func(args []string) error{
		"insert": insertKeys, "stopped": insertStopped, "transaction": putInTransaction,
	})
}

// insertKeys inserts keys by statements at the same time, prints "put" when they have ended, and keeps the connections.
func insertKeys(args []string) error {
	child.EndWithTest()
	db, err := sql.Open(args[0], args[1])
	if err != nil {
		return err
	}
	db.SetMaxIdleConns(statements)
	errs := make(chan error)
	for i := range statements {
		go func() {
			_, err := db.Exec(fmt.Sprintf(insert, args[2]+strconv.Itoa(i)))
			errs <- err
		}()
	}
	for range statements {
		if err := <-errs; err != nil {
			return err
		}
	}
	fmt.Println("put")
	select {}
}

// inPostgres runs a function with a connection of pgx, which can send without reading, and keeps it.
func inPostgres(source string, run func(c *pgconn.PgConn) error) error {
	child.EndWithTest()
	db, err := sql.Open("pgx", source)
	if err != nil {
		return err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	err = conn.Raw(func(c any) error { return run(c.(*stdlib.Conn).Conn().PgConn()) })
	if err != nil {
		return err
	}
	select {}
}

// insertStopped stops its server process, sends it an INSERT and prints the number of that process.
func insertStopped(args []string) error {
	return inPostgres(args[1], func(c *pgconn.PgConn) error {
		if err := syscall.Kill(int(c.PID()), syscall.SIGSTOP); err != nil {
			return err
		}
		c.Exec(context.Background(), fmt.Sprintf(insert, args[2]))
		fmt.Println(c.PID())
		return nil
	})
}

// putInTransaction sends a first statement and then others with the commit.
func putInTransaction(args []string) error {
	return inPostgres(args[1], func(c *pgconn.PgConn) error {
		if _, err := c.Exec(context.Background(), "BEGIN; "+args[2]).ReadAll(); err != nil {
			return err
		}
		c.Exec(context.Background(), args[3])
		return nil
	})
}

// kill kills a program, as an operating system does that lacks memory, and waits for its end.
func kill(p *child.Process) {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// waits requires that start does not end until release is called, and then does.
func waits(t *testing.T, start func() error, release func()) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- start() }()
	select {
	case err := <-ended:
		t.Fatalf("it has not waited: %v", err)
	case <-time.After(300 * time.Millisecond): // if start waits, it does so for ever
	}
	release()
	require.NoError(t, <-ended)
}

// start starts a program while the server still does something for a killed one, until release. With a recipe, the
// guard misses none of the n keys that come of it, and without one all of them.
func start(t *testing.T, s *server, recipe func(db *sql.DB) error, release func(), prefix string, n int) {
	t.Helper()
	db := s.open(t, "app")
	defer db.Close()
	if recipe != nil {
		waits(t, func() error { return recipe(db) }, release)
		until(t, db, fmt.Sprintf(keysPut, prefix), n)
		require.Zero(t, lost(t, opened(t, list(db, selectUsers)), db))
		return
	}
	g := opened(t, list(db, selectUsers))
	release()
	until(t, db, fmt.Sprintf(keysPut, prefix), n)
	require.Equal(t, n, lost(t, g, db))
}

// recipes are of the tests below; the control has none.
func recipes(s *server) map[string]func(db *sql.DB) error {
	return map[string]func(db *sql.DB) error{
		"control": nil,
		"alone":   func(db *sql.DB) error { return alone(context.Background(), db, s.others) },
	}
}

// locks are of the tests of transactions.
var locks = map[string]func(db *sql.DB) error{
	"control": nil,
	"locked":  func(db *sql.DB) error { _, err := db.Exec(beforeList); return err },
}

// A killed program's statements, which wait for a lock, put keys after the next program has started.
func TestKilledStatements(t *testing.T) {
	each(t, []*kind{postgreSQL, mariaDB}, func(t *testing.T, s *server) {
		admin := s.open(t, "admin")
		for prefix, recipe := range recipes(s) {
			execute(t, admin, `DELETE FROM users`)
			release := s.hold(t)
			p := child.Start(t, "insert", s.driver, s.source("app"), prefix)
			until(t, admin, s.blocked, statements)
			kill(p)
			start(t, s, recipe, release, prefix, statements)
		}
	})
}

// SQLite needs no recipe: the statements of a killed program end with it.
func TestKilledStatementsOfSQLite(t *testing.T) {
	s := newServer(t, sqlite)
	db := s.open(t, "app")
	lock, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	execute(t, lock, fmt.Sprintf(insert, "other"))
	p := child.Start(t, "insert", s.driver, s.source("app"), "waits")
	time.Sleep(100 * time.Millisecond) // most likely it waits for the lock; if not, nothing is lost either
	kill(p)
	require.NoError(t, lock.Commit())
	g := opened(t, list(db, selectUsers))
	until(t, db, fmt.Sprintf(keysPut, "waits"), 0)
	require.Zero(t, lost(t, g, db))

	p = child.Start(t, "insert", s.driver, s.source("app"), "put")
	line, ok := p.Line()
	require.True(t, ok && line == "put", p.Errors())
	kill(p)
	require.Zero(t, lost(t, opened(t, list(db, selectUsers)), db))
	until(t, db, fmt.Sprintf(keysPut, "put"), statements)
}

// A server process has not yet read the statement that a killed program has sent. A lock of the table does not wait for
// it.
func TestInFlight(t *testing.T) {
	s := newServer(t, postgreSQL)
	for prefix, recipe := range recipes(s) {
		execute(t, s.open(t, "admin"), `DELETE FROM users`)
		p := child.Start(t, "stopped", s.driver, s.source("app"), prefix)
		line, ok := p.Line()
		require.True(t, ok, p.Errors())
		pid, err := strconv.Atoi(line)
		require.NoError(t, err)
		kill(p)
		release := func() { require.NoError(t, syscall.Kill(pid, syscall.SIGCONT)) }
		if recipe == nil {
			s.hold(t)()
		}
		start(t, s, recipe, release, prefix, 1)
	}
}

// Where a pool keeps connections open, a lock of the transactions that put keys takes the place of alone.
func TestTransactionLock(t *testing.T) {
	direct := newServer(t, postgreSQL)
	admin := direct.open(t, "admin")
	for name, s := range map[string]*server{"direct": direct, "pgbouncer": bouncer(t, direct)} {
		for prefix, recipe := range locks {
			t.Run(name+" "+prefix, func(t *testing.T) {
				execute(t, admin, `DELETE FROM users`)
				release := direct.hold(t)
				p := child.Start(t, "transaction", s.driver, s.source("app"), beginPut, fmt.Sprintf(insert, prefix)+"; COMMIT")
				until(t, admin, s.blocked, 1)
				kill(p)
				start(t, s, recipe, release, prefix, 1)
			})
		}
	}
}

// A prepared transaction is no connection, but has the lock.
func TestPreparedTransaction(t *testing.T) {
	s := newServer(t, postgreSQL)
	admin := s.open(t, "admin")
	for prefix, recipe := range locks {
		execute(t, admin, `DELETE FROM users`)
		p := child.Start(t, "transaction", s.driver, s.source("app"), beginPut, fmt.Sprintf(insert, prefix)+"; PREPARE TRANSACTION 'p'")
		until(t, admin, `SELECT count(*) FROM pg_prepared_xacts`, 1)
		kill(p)
		db := s.open(t, "app")
		require.NoError(t, alone(t.Context(), db, s.others))
		require.NoError(t, db.Close())
		start(t, s, recipe, func() { execute(t, admin, `COMMIT PREPARED 'p'`) }, prefix, 1)
	}
}

// The connections of a program that has vanished stay open: alone waits until they are ended.
func TestVanishedProgram(t *testing.T) {
	each(t, []*kind{postgreSQL, mariaDB}, func(t *testing.T, s *server) {
		p := child.Start(t, "insert", s.driver, s.source("app"), "a")
		line, ok := p.Line()
		require.True(t, ok && line == "put", p.Errors())
		require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
		db, others := s.open(t, "app"), s.others
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, alone(ctx, db, others), context.DeadlineExceeded)
		if s.kind == postgreSQL {
			others = strings.Replace(others, "count(*)", terminate, 1)
		} else {
			var kills []string
			for id, err := range list(db, strings.Replace(others, "count(*)", "id", 1)).Keys(t.Context(), nil) {
				require.NoError(t, err)
				kills = append(kills, "KILL "+string(id))
			}
			for _, kill := range kills {
				_, _ = db.Exec(kill) // an error if the connection has ended: the one of the first alone
			}
		}
		require.NoError(t, alone(t.Context(), db, others))
		require.Zero(t, lost(t, opened(t, list(db, selectUsers)), db))
	})
}
