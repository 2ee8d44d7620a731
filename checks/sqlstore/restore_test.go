package sqlstore

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard/sqlstore"
)

// copied returns a copy of the server's folder, as a backup of the whole machine makes it.
func copied(t *testing.T, s server) string {
	t.Helper()
	s.stop(t)
	folder := filepath.Join(newFolder(t, accountOf(s)), "copy")
	run(t, exec.Command("cp", "-a", s.folder(), folder))
	s.start(t)
	return folder
}

func accountOf(s server) string {
	if s.dialect() == sqlstore.PostgreSQL {
		return postgresUser
	}
	return mariaUser
}

// A start lists what came since the last save, and nothing else.
func TestRestart(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.db.SetMaxOpenConns(1) // no call waits for a second connection
		execute(t, w.db, quoted(w, fmt.Sprintf(insert, "before the guard")))
		w.restart(t)
		w.put(t, "a", "b")
		w.save(t)
		w.put(t, "c")
		w.restart(t)
		require.Equal(t, 1, w.listed())
		require.Empty(t, w.lost(t))
		require.True(t, w.guard.ContainsString("before the guard"))
		require.False(t, w.guard.ContainsString("d"))

		// A kill between Position and the rename of the file.
		_, err := w.store(t).Position(t.Context())
		require.NoError(t, err)
		w.put(t, "d")
		w.restart(t)
		require.Equal(t, 2, w.listed())
		require.Empty(t, w.lost(t))
	})
}

// The last rows and the log are deleted, and the server starts again, before new rows come. None of them gets a number again:
// otherwise the row of another position would have the number of the first one.
func TestDeletedLastRows(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.put(t, "a", "b", "c")
		w.save(t)
		for _, table := range []string{"{order}", "{order_bloom_log}"} {
			execute(t, w.db, quoted(w, "DELETE FROM "+table))
		}
		s.stop(t)
		s.start(t)
		w.put(t, "d", "e", "f")
		other := *w
		other.table.Guard = "other"
		_, err := other.store(t).Position(t.Context())
		require.NoError(t, err)
		w.restart(t)
		require.Empty(t, w.lost(t))
	})
}

// Saves delete the positions of the guard but ten, those that are a week old, and what of the log is not needed. Keys that the
// log had are listed from the table.
func TestPrunedLog(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		count := func(table string) string {
			return get(t, w.db, quoted(w, `SELECT COUNT(*) FROM {order_bloom_`+table+`}`))
		}
		w.restart(t)
		w.save(t)
		other := *w
		other.table.Guard, other.path = "other", w.path+" of other"
		other.restart(t)
		other.save(t)
		first := w.at(t, s)
		for i := range 12 {
			w.put(t, fmt.Sprint("key ", i))
			w.save(t)
		}
		require.Equal(t, "11", count("positions"), "ten of one guard, one of another")
		other.restart(t)
		require.Equal(t, 12, other.listed())
		require.Empty(t, other.lost(t))

		execute(t, w.db, quoted(w, `UPDATE {order_bloom_positions} SET {at} = 0 WHERE {guard} = 'other'`))
		w.save(t)
		require.Equal(t, "10", count("positions"))
		require.Equal(t, "18", count("log"), "ten positions, eight keys after the first")
		for _, w := range []*world{&other, first} {
			w.restart(t)
			require.Equal(t, 12, w.listed(), "the table, as the position is gone")
			require.Empty(t, w.lost(t))
		}
		w.restart(t)
		require.Zero(t, w.listed())

		w.put(t, "new")
		execute(t, w.db, quoted(w, `DELETE FROM {order_bloom_log}`)) // by somebody else
		w.restart(t)
		require.Empty(t, w.lost(t))
	})
}

// Two guards with one name lose nothing, too.
func TestGuardsOfOneName(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		other := *w
		other.path += " of other"
		other.restart(t)
		w.save(t)
		for i := range 12 {
			other.put(t, fmt.Sprint("key ", i))
			other.save(t)
		}
		w.restart(t)
		require.Empty(t, w.lost(t))
	})
}

// An older copy of the data takes the place of the server: it gives the numbers again.
func TestCopyOfFolder(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.put(t, "a")
		w.save(t)
		folder := copied(t, s)
		w.put(t, "b", "c", "d")
		w.save(t)
		s.kill(t)
		r := s.restored(t, folder)
		r.start(t)
		w = w.at(t, r)
		for i := range 4 { // the new keys have numbers before and after the position
			execute(t, w.db, quoted(w, fmt.Sprintf(insert, fmt.Sprint("new ", i))))
		}
		w.restart(t)
		require.Empty(t, w.lost(t))
	})
}

// A dump goes into a new server, whose numbers may begin anew. The file of the guard has a position that the dump contains.
func TestDump(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.burn(t, 2000)
		w.restart(t)
		w.put(t, "a")
		w.save(t)
		dump := s.dump(t)
		s.kill(t)
		r := servers[map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "PostgreSQL", sqlstore.MySQL: "MariaDB", sqlstore.SQLite: "SQLite"}[s.dialect()]](t)
		r.load(t, dump)
		w = w.at(t, r)
		for i := range 5 {
			execute(t, w.db, quoted(w, fmt.Sprintf(insert, fmt.Sprint("new ", i))))
		}
		w.restart(t)
		require.Empty(t, w.lost(t))
		w.put(t, "last")
		w.save(t)
		w.restart(t)
		require.Zero(t, w.listed())
		require.Empty(t, w.lost(t))
	})
}

// The server is killed and loses its last commits: deletes come back, and numbers are given again.
func TestKilledServer(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.put(t, "a", "b")
		for round := range 3 {
			w.delete(t, "a")
			require.NoError(t, w.guard.Rebuild(t.Context(), 10_000, 1e-9))
			w.save(t)
			w.put(t, fmt.Sprint("may be lost ", round))
			s.kill(t)
			s.start(t)
			execute(t, w.db, quoted(w, fmt.Sprintf(insert, fmt.Sprint("new ", round))))
			execute(t, w.db, quoted(w, fmt.Sprintf(insert, fmt.Sprint("new too ", round))))
			w.restart(t)
			require.Empty(t, w.lost(t))
			if get(t, w.db, quoted(w, `SELECT COUNT(*) FROM {order} WHERE {key} = 'a'`)) == "0" {
				w.put(t, "a")
			}
		}
	})
}

// A trigger was missing or off for a while. Saves are errors meanwhile, and the next start lists the table.
func TestTriggerOff(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.save(t)
		setup, err := w.table.Setup()
		require.NoError(t, err)
		off, on := `DROP TRIGGER {order_bloom_insert}`, setup[2]
		if s.dialect() == sqlstore.PostgreSQL {
			off, on = `ALTER TABLE {order} DISABLE TRIGGER {order_bloom_insert}`, `ALTER TABLE {order} ENABLE ALWAYS TRIGGER {order_bloom_insert}`
		}
		execute(t, w.db, quoted(w, off))
		w.put(t, "a")
		_, err = w.guard.Save(t.Context())
		require.ErrorContains(t, err, "triggers")
		w.restart(t)
		require.Empty(t, w.lost(t))
		execute(t, w.db, quoted(w, fmt.Sprintf(insert, "b")))
		execute(t, w.db, quoted(w, on))
		w.restart(t)
		require.Empty(t, w.lost(t))
	})
}

// A partition brings rows when it is attached, and a table that inherits has no triggers.
func TestPartitions(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	db := open(t, s, "")
	execute(t, db, `CREATE TABLE parts (name text, day int) PARTITION BY RANGE (day)`)
	execute(t, db, `CREATE TABLE first PARTITION OF parts FOR VALUES FROM (0) TO (10)`)
	w := &world{server: s, db: db, path: filepath.Join(t.TempDir(), "guard"), table: sqlstore.Table{Dialect: s.dialect(), Name: "parts", Key: "name"}}
	w.setup(t)
	w.restart(t)
	list := func() (keys []string) {
		w.restart(t)
		for key, err := range w.store(t).Keys(t.Context(), nil) {
			require.NoError(t, err)
			require.True(t, w.guard.Contains(key), "%s", key)
			keys = append(keys, string(key))
		}
		return keys
	}
	w.save(t)
	execute(t, db, `INSERT INTO parts VALUES ('a', 1)`)
	execute(t, db, `INSERT INTO first VALUES ('b', 2)`)
	require.ElementsMatch(t, []string{"a", "b"}, list())
	require.Equal(t, 2, w.listed())
	w.save(t)
	execute(t, db, `CREATE TABLE second (name text, day int)`)
	execute(t, db, `INSERT INTO second VALUES ('c', 11)`)
	execute(t, db, `ALTER TABLE parts ATTACH PARTITION second FOR VALUES FROM (10) TO (20)`)
	require.ElementsMatch(t, []string{"a", "b", "c"}, list())
	w.save(t)
	require.ElementsMatch(t, []string{"a", "b", "c"}, list())
	require.Zero(t, w.listed())

	execute(t, db, `CREATE TABLE parent (name text)`)
	w.table.Name, w.path = "parent", w.path+" of parent"
	w.setup(t)
	w.restart(t)
	w.save(t)
	execute(t, db, `CREATE TABLE child () INHERITS (parent)`)
	execute(t, db, `INSERT INTO child VALUES ('d')`)
	require.Equal(t, []string{"d"}, list())
	_, err := w.guard.Save(t.Context())
	require.ErrorContains(t, err, "triggers")
}
