package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/guard/sqlstore"
	"github.com/seed3447c163/bloom/internal/testing/child"
)

// folders are removed after all tests.
var folders []string

func TestMain(m *testing.M) {
	if os.Getenv("BLOOM_TEST_CHILD") != "" {
		child.Main(m, map[string]func(args []string) error{"serve": serve})
	}
	code := m.Run()
	for _, dir := range folders {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// The name and the column are words that only quotes make usable.
const create = `CREATE TABLE {order} ({key} varchar(50) NOT NULL PRIMARY KEY, {value} int NOT NULL)`

func quoted(s server, statement string) string {
	quote := `"`
	if s.dialect() == sqlstore.MySQL {
		quote = "`"
	}
	return strings.NewReplacer("{", quote, "}", quote).Replace(statement)
}

func execute(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(context.Background(), statement, args...)
	require.NoError(t, err, statement)
}

// get returns the only value, as text.
func get(t testing.TB, db *sql.DB, statement string, args ...any) (value string) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(context.Background(), statement, args...).Scan(&value), statement)
	return value
}

// A world is a program with a guard before a table.
type world struct {
	server
	db    *sql.DB
	table sqlstore.Table
	path  string

	guard *guard.Guard
}

func newWorld(t testing.TB, s server) *world {
	t.Helper()
	w := &world{
		server: s, path: filepath.Join(t.TempDir(), "guard"),
		table: sqlstore.Table{Dialect: s.dialect(), Name: "order", Key: "key"},
	}
	w.db = open(t, s, "")
	execute(t, w.db, quoted(s, create))
	w.setup(t)
	return w
}

func (w *world) setup(t testing.TB) {
	t.Helper()
	statements, err := w.table.Setup()
	require.NoError(t, err)
	for _, statement := range statements {
		execute(t, w.db, statement)
	}
}

// at returns the same program with another server and a copy of its file.
func (w *world) at(t testing.TB, s server) *world {
	t.Helper()
	w2 := *w
	w2.server, w2.db, w2.guard, w2.path = s, open(t, s, ""), nil, filepath.Join(t.TempDir(), "guard")
	raw, err := os.ReadFile(w.path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w2.path, raw, 0o600))
	return &w2
}

func (w *world) store(t testing.TB) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(w.db, w.table)
	require.NoError(t, err)
	return s
}

// restart is a kill and a start of the program.
func (w *world) restart(t testing.TB) {
	t.Helper()
	var err error
	w.guard, err = guard.New(w.path, 10_000, 1e-9, w.store(t))
	require.NoError(t, err)
	require.NoError(t, w.guard.Open(context.Background()))
}

func (w *world) save(t testing.TB) {
	t.Helper()
	_, err := w.guard.Save(context.Background())
	require.NoError(t, err)
}

const insert = `INSERT INTO {order} ({key}, {value}) VALUES ('%s', 1)`

// put puts keys through the guard, each in a transaction of its own.
func (w *world) put(t testing.TB, keys ...string) {
	t.Helper()
	for _, key := range keys {
		w.change(t, fmt.Sprintf(insert, key), key)
	}
}

// change runs a statement that puts a key.
func (w *world) change(t testing.TB, statement string, key string) {
	t.Helper()
	require.NoError(t, w.guard.Put(func() error {
		_, err := w.db.ExecContext(context.Background(), quoted(w, statement))
		return err
	}, []byte(key)), statement)
}

// burn writes in transactions that put no key, so that a server's numbers are larger than those of a new server.
func (w *world) burn(t testing.TB, n int) {
	t.Helper()
	execute(t, w.db, "CREATE TABLE other (x int)")
	for range n {
		execute(t, w.db, "INSERT INTO other VALUES (1)")
	}
}

func (w *world) delete(t testing.TB, key string) {
	t.Helper()
	execute(t, w.db, fmt.Sprintf(quoted(w, `DELETE FROM {order} WHERE {key} = '%s'`), key))
}

// listed returns how many keys the last build has listed.
func (w *world) listed() int { return int(w.guard.Metrics()["listed_keys"]) }

// lost returns the stored keys for which the guard says "no".
func (w *world) lost(t testing.TB) (keys []string) {
	t.Helper()
	rows, err := w.db.QueryContext(context.Background(), quoted(w, `SELECT {key} FROM {order} ORDER BY {key}`))
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var key string
		require.NoError(t, rows.Scan(&key))
		if !w.guard.ContainsString(key) {
			keys = append(keys, key)
		}
	}
	require.NoError(t, rows.Err())
	return keys
}
