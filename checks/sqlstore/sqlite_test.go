package sqlstore

import (
	"os/exec"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/seed3447c163/bloom/guard/sqlstore"
)

// sqlite is a file instead of a server.
type sqlite struct{ dir string }

func newSQLite(t testing.TB) server { return sqlite{t.TempDir()} }

func (s sqlite) dialect() sqlstore.Dialect { return sqlstore.SQLite }
func (s sqlite) folder() string            { return s.dir }
func (s sqlite) start(testing.TB)          {}
func (s sqlite) stop(testing.TB)           {}
func (s sqlite) kill(testing.TB)           {}

func (s sqlite) restored(t testing.TB, folder string) server {
	r := sqlite{filepath.Join(t.TempDir(), "data")}
	run(t, exec.Command("cp", "-a", folder, r.dir))
	return r
}

func (s sqlite) dump(t testing.TB) string {
	file := filepath.Join(t.TempDir(), "dump")
	db := open(t, s, "")
	execute(t, db, "VACUUM INTO '"+file+"'")
	return file
}

func (s sqlite) load(t testing.TB, dump string) {
	run(t, exec.Command("cp", dump, filepath.Join(s.dir, "db")))
}

func (s sqlite) source(string) (string, string) {
	return "sqlite", "file:" + filepath.Join(s.dir, "db") + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)"
}
