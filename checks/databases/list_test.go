package databases

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
)

var allKinds = []*kind{postgreSQL, mariaDB, sqlite}

// nextPage is of docs/guard.md, with shorter pages here.
const nextPage = `WHERE name > $1 ORDER BY name LIMIT 10000`

// scanned returns the keys of some rows.
func scanned(rows *sql.Rows, err error) (keys [][]byte, _ error) {
	for err == nil && rows.Next() {
		var key []byte
		err = rows.Scan(&key)
		keys = append(keys, key)
	}
	if err != nil {
		return nil, err
	}
	return keys, rows.Err()
}

// paged lists by pages: the argument of the query comes from the page before.
func paged(db *sql.DB, query string, next func(page [][]byte) any, first any) guard.Store {
	return guard.All(func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for last := first; ; {
				page, err := scanned(db.QueryContext(ctx, query, last))
				if err != nil {
					yield(nil, err)
					return
				}
				for _, key := range page {
					if !yield(key, nil) {
						return
					}
				}
				if len(page) == 0 {
					return
				}
				last = next(page)
			}
		}
	})
}

// query returns a query of keys, with the clause's argument as the database names it.
func (s *server) query(clause string) string {
	if s.kind != postgreSQL {
		clause = strings.Replace(clause, "$1", "?", 1)
	}
	return selectUsers + " " + clause
}

func byKey(s *server, db *sql.DB, size int) guard.Store {
	clause := strings.Replace(nextPage, "10000", fmt.Sprint(size), 1)
	return paged(db, s.query(clause), func(page [][]byte) any { return string(page[len(page)-1]) }, "")
}

// fill fills the table with keys under the ids from 1 on.
func fill(t testing.TB, db *sql.DB, n int) {
	t.Helper()
	for from := 1; from <= n; from += 500 {
		var rows []string
		for id := from; id < min(from+500, n+1); id++ {
			rows = append(rows, fmt.Sprintf("(%d, 'key %06d %0150d')", id, id, id))
		}
		execute(t, db, "INSERT INTO users (id, name) VALUES "+strings.Join(rows, ", "))
	}
}

// Keys are put, replaced, moved and deleted, while a guard lists them again and again.
func TestListWhilePuts(t *testing.T) {
	each(t, allKinds, func(t *testing.T, s *server) {
		db := s.open(t, "app")
		fill(t, db, 1000)
		for name, store := range map[string]guard.Store{"one query": list(db, selectUsers), "pages": byKey(s, db, 50)} {
			g, stop := opened(t, store), make(chan bool)
			var writers sync.WaitGroup
			var puts atomic.Int64
			for w := range 3 {
				writers.Go(func() {
					random := rand.New(rand.NewPCG(1, uint64(w)))
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						id, key := random.IntN(300), fmt.Sprintf("%s %d %d", name, w, i)
						put := func(statement string, args ...any) {
							if g.Put(func() error { // an error, as in a deadlock, means that the key may have been put
								_, err := db.Exec(fmt.Sprintf(statement, args...))
								return err
							}, []byte(key)) == nil {
								puts.Add(1)
							}
						}
						switch random.IntN(4) {
						case 0:
							put("INSERT INTO users (id, name) VALUES (%d, '%s')", id, key)
						case 1:
							put("UPDATE users SET name = '%s' WHERE id = %d AND name = (SELECT * FROM (SELECT min(name) FROM users WHERE id = %d) AS x)", key, id, id)
						case 2:
							_, _ = db.Exec(fmt.Sprintf("DELETE FROM users WHERE id = %d", id))
						case 3: // puts no key
							_, _ = db.Exec(fmt.Sprintf("UPDATE users SET id = %d WHERE id = %d", random.IntN(300), id))
						}
					}
				})
			}
			for range 10 {
				require.NoError(t, g.Rebuild(t.Context(), 100_000, 1e-9))
			}
			close(stop)
			writers.Wait()
			require.Zero(t, lost(t, g, db), name)
			require.NotZero(t, puts.Load())
		}
	})
}

// during returns a store that lists and, after the n-th key, calls f.
func during(store guard.Store, n int, f func()) guard.Store {
	return guard.All(func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			i := 0
			for key, err := range store.Keys(ctx, nil) {
				if i++; i == n {
					f()
				}
				if !yield(key, err) {
					return
				}
			}
		}
	})
}

// Lists that docs/guard.md warns of miss a key, and its own do not, when a row moves while they run.
func TestListsThatMiss(t *testing.T) {
	each(t, allKinds, func(t *testing.T, s *server) {
		db := s.open(t, "app")
		fill(t, db, 30)
		next := 0
		number := func([][]byte) any { next += 10; return next }
		for name, c := range map[string]struct {
			store guard.Store
			moves string
			want  int
		}{
			"by key":    {byKey(s, db, 10), "UPDATE users SET id = 0 WHERE id = 25", 0},
			"by id":     {paged(db, s.query("WHERE id > $1 ORDER BY id LIMIT 10"), number, 0), "UPDATE users SET id = 0 WHERE id = 25", 1},
			"by offset": {paged(db, s.query("ORDER BY id LIMIT 10 OFFSET $1"), number, 0), "DELETE FROM users WHERE id = 1", 1},
		} {
			next = 0
			execute(t, db, "DELETE FROM users")
			fill(t, db, 30)
			g := opened(t, during(c.store, 5, func() { execute(t, db, c.moves) }))
			require.Equal(t, c.want, lost(t, g, db), name)
		}

		// A transaction that began before the put.
		level := map[*kind]sql.IsolationLevel{postgreSQL: sql.LevelRepeatableRead, mariaDB: sql.LevelRepeatableRead}[s.kind]
		early, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
		require.NoError(t, err)
		_, err = scanned(early.Query(selectUsers))
		require.NoError(t, err)
		execute(t, db, fmt.Sprintf(insert, "late"))
		require.Zero(t, lost(t, opened(t, list(db, selectUsers)), db))
		keys, err := scanned(early.Query(selectUsers))
		require.NoError(t, err)
		store := guard.All(func(context.Context) iter.Seq2[[]byte, error] {
			return func(yield func([]byte, error) bool) {
				for _, key := range keys {
					if !yield(key, nil) {
						return
					}
				}
			}
		})
		require.Equal(t, 1, lost(t, opened(t, store), db))
		require.NoError(t, early.Rollback())
	})
}

// MariaDB with READ UNCOMMITTED reads a row neither where it was nor where it is.
func TestReadUncommitted(t *testing.T) {
	s := newServer(t, mariaDB)
	db := s.open(t, "admin")
	execute(t, db, "DROP TABLE users")
	execute(t, db, "CREATE TABLE users (id bigint PRIMARY KEY, name varbinary(200))")
	const rows = 20_000 // of 160 bytes: more than the connection holds
	for _, level := range []string{"READ UNCOMMITTED", "READ COMMITTED"} {
		execute(t, db, "DELETE FROM users")
		fill(t, db, rows)
		execute(t, db, "SET GLOBAL TRANSACTION ISOLATION LEVEL "+level)
		reader := s.open(t, "admin")
		g := opened(t, during(list(reader, selectUsers), 5, func() { execute(t, db, fmt.Sprintf("UPDATE users SET id = 0 WHERE id = %d", rows)) }))
		require.Equal(t, map[string]int{"READ UNCOMMITTED": 1, "READ COMMITTED": 0}[level], lost(t, g, reader), level)
		require.NoError(t, reader.Close())
	}
}

// A pool with autocommit=0 lists what was there when its connection read for the first time.
func TestAutocommit(t *testing.T) {
	s := newServer(t, mariaDB)
	for param, want := range map[string]int{"": 0, "?autocommit=0": 1} {
		db, err := sql.Open(s.driver, s.source("app")+param)
		require.NoError(t, err)
		until(t, db, "SELECT count(*) - count(*) FROM users", 0)
		execute(t, s.open(t, "app"), fmt.Sprintf(insert, "late"+param))
		require.Equal(t, want, lost(t, opened(t, list(db, selectUsers)), s.open(t, "app")), param)
		require.NoError(t, db.Close())
	}
}

// Another program's keys are absent until the next Rebuild.
func TestOtherWriters(t *testing.T) {
	each(t, allKinds, func(t *testing.T, s *server) {
		db := s.open(t, "app")
		g := opened(t, list(db, selectUsers))
		fill(t, s.open(t, "admin"), 100)
		require.Equal(t, 100, lost(t, g, db))
		require.NoError(t, g.Rebuild(t.Context(), 1000, 1e-9))
		require.Zero(t, lost(t, g, db))
	})
}

// A server that crashes and loses commits brings deleted keys back, which the filter may not have. Rebuild adds them.
func TestLostCommits(t *testing.T) {
	for setting, c := range map[string]struct {
		kind *kind
		want int
	}{
		"SET synchronous_commit = off":                  {postgreSQL, 100},
		"SET synchronous_commit = on":                   {postgreSQL, 0},
		"SET GLOBAL innodb_flush_log_at_trx_commit = 0": {mariaDB, 100},
		"SET GLOBAL innodb_flush_log_at_trx_commit = 1": {mariaDB, 0},
	} {
		t.Run(setting, func(t *testing.T) {
			var options []string
			if c.kind == mariaDB {
				options = []string{"--innodb-flush-log-at-timeout=2700"} // seconds between writes of the log in the background
			}
			s := newServer(t, c.kind, options...)
			db := s.open(t, "admin")
			db.SetMaxOpenConns(1)
			fill(t, db, 100)
			for _, pid := range s.children() { // PostgreSQL's processes that write the log in the background
				title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				if strings.Contains(string(title), "writer") || strings.Contains(string(title), "checkpointer") {
					require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
				}
			}
			execute(t, db, setting)
			execute(t, db, "DELETE FROM users")
			g := opened(t, list(db, selectUsers))
			s.kill()
			s.start(t)
			for db.Ping() != nil { // its connection was of the killed server
			}
			until(t, db, "SELECT count(*) FROM users", c.want)
			require.Equal(t, c.want, lost(t, g, db))
			require.NoError(t, g.Rebuild(t.Context(), 1000, 1e-9))
			require.Zero(t, lost(t, g, db))
		})
	}
}

// BenchmarkList gives the figure of docs/guard.md.
func BenchmarkList(b *testing.B) {
	for _, k := range allKinds {
		b.Run(k.name, func(b *testing.B) {
			s := newServer(b, k)
			db := s.open(b, "app")
			fill(b, db, 100_000)
			for b.Loop() {
				opened(b, list(db, selectUsers))
			}
			b.ReportMetric(10*b.Elapsed().Seconds()/float64(b.N), "s/million")
		})
	}
}
