package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard/sqlstore"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// orders are all orders of the events of two transactions, which insert (A, B) and commit (a, b), and of a save.
func orders() (all []string) {
	var extend func(order, left string)
	extend = func(order, left string) {
		if left == "" {
			all = append(all, order)
		}
		for i, event := range left {
			commit := event == 'a' || event == 'b'
			if !commit || strings.ContainsRune(order, event-'a'+'A') {
				extend(order+string(event), left[:i]+left[i+1:])
			}
		}
	}
	extend("", "AaBbS")
	return all
}

// Two transactions put keys, commit in any order, and stay open during a save. Then the program starts again. In MySQL, a save
// fails after a second while a transaction is open. In SQLite, the second transaction waits for the first.
func TestTransactionsInEveryOrder(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.save(t)
		for i, order := range orders() {
			open := strings.Index(order, "S") > strings.Index(order, "A") && strings.Index(order, "S") < strings.Index(order, "a") ||
				strings.Index(order, "S") > strings.Index(order, "B") && strings.Index(order, "S") < strings.Index(order, "b")
			overlap := !slices.Contains([]string{"AaBb", "BbAa"}, strings.ReplaceAll(order, "S", ""))
			if s.dialect() == sqlstore.SQLite && (overlap || open) || s.dialect() == sqlstore.MySQL && open && i%5 != 0 && !*testkit.Long {
				continue
			}
			w.play(t, order, open)
		}
	})
}

func (w *world) play(t *testing.T, order string, open bool) {
	running := map[rune]*sql.Tx{}
	for _, event := range order {
		switch event {
		case 'A', 'B':
			tx, err := w.db.BeginTx(context.Background(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(context.Background(), quoted(w, fmt.Sprintf(insert, order+string(event))))
			require.NoError(t, err)
			running[event-'A'+'a'] = tx
		case 'a', 'b':
			require.NoError(t, w.guard.Put(running[event].Commit, []byte(order+strings.ToUpper(string(event)))))
		case 'S':
			_, err := w.guard.Save(context.Background())
			require.Equal(t, open && w.dialect() == sqlstore.MySQL, err != nil, "%s: %v", order, err)
		}
	}
	w.restart(t)
	require.Empty(t, w.lost(t), order)
}

// A save that begins while a transaction is open waits for it in MySQL and has its key.
func TestSaveWaits(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		if s.dialect() == sqlstore.SQLite {
			t.Skip("a transaction at a time")
		}
		w := newWorld(t, s)
		w.restart(t)
		w.save(t)
		tx, err := w.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), quoted(w, fmt.Sprintf(insert, "slow")))
		require.NoError(t, err)
		saved := make(chan error)
		go func() { _, err := w.guard.Save(t.Context()); saved <- err }()
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, w.guard.Put(tx.Commit, []byte("slow")))
		require.NoError(t, <-saved)
		w.restart(t)
		require.Empty(t, w.lost(t))
	})
}

// The program is killed during a commit, and the server finishes the commit after the program has started again. The start
// waits for it.
func TestCommitAfterKill(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.save(t)
		before := open(t, s, "") // the connections of the process before
		tx, err := before.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), quoted(w, fmt.Sprintf(insert, "late")))
		require.NoError(t, err)
		if s.dialect() == sqlstore.SQLite { // the commit is of the killed process itself
			require.NoError(t, tx.Rollback())
			return
		}
		committed := make(chan error)
		time.AfterFunc(300*time.Millisecond, func() { committed <- tx.Commit() })
		w.restart(t)
		require.NoError(t, <-committed)
		require.Empty(t, w.lost(t))
		w.save(t)
		w.restart(t)
		require.Zero(t, w.listed())
	})
}

// A transaction that stays open fails a save in MySQL after a second, leaves nothing locked, and restores the settings of
// the connection.
func TestOpenTransaction(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		if s.dialect() != sqlstore.MySQL {
			t.Skip("a save waits for no transaction")
		}
		w := newWorld(t, s)
		w.db.SetMaxOpenConns(2)
		w.restart(t)
		tx, err := w.db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), quoted(w, fmt.Sprintf(insert, "open")))
		require.NoError(t, err)
		settings := `SELECT CONCAT(@@lock_wait_timeout, ' ', @@autocommit)`
		before := get(t, w.db, settings)
		_, err = w.guard.Save(t.Context())
		require.ErrorContains(t, err, "timeout")
		require.Equal(t, before, get(t, w.db, settings))
		w.put(t, "other")
		require.NoError(t, w.guard.Put(tx.Commit, []byte("open")))
		w.save(t)
		require.Equal(t, before, get(t, w.db, settings))
		w.restart(t)
		require.Zero(t, w.listed())
		require.Empty(t, w.lost(t))
	})
}

// twoGuards returns two programs with a guard of the same table each, in a PostgreSQL whose transactions are repeatable reads
// by default. second is the other guard's name.
func twoGuards(t *testing.T, second string) (w, other *world) {
	s := newPostgres(t)
	w = newWorld(t, s)
	execute(t, w.db, `ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'`)
	w.db = open(t, s, "")
	copied := *w
	copied.table.Guard, copied.path = second, w.path+" of "+second
	return w, &copied
}

// A save does not delete a part of the log that the position of another save, which has not committed yet, needs.
func TestSavesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	w, slow := twoGuards(t, "slow")
	w.restart(t)
	w.put(t, "older")
	execute(t, w.db, quoted(w, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$`))
	execute(t, w.db, quoted(w, `CREATE TRIGGER slow AFTER INSERT ON {order_bloom_positions} FOR EACH ROW WHEN (NEW.guard = 'slow') EXECUTE FUNCTION slow()`))
	slow.restart(t)
	tx, err := w.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), quoted(w, fmt.Sprintf(insert, "key")))
	require.NoError(t, err)
	saved := make(chan error)
	go func() { _, err := slow.guard.Save(t.Context()); saved <- err }()
	for get(t, w.db, `SELECT CAST(count(*) AS text) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`) == "0" {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, w.guard.Put(tx.Commit, []byte("key"))) // after the position of slow
	w.save(t)
	require.NoError(t, <-saved)
	slow.restart(t)
	require.Empty(t, slow.lost(t))
	require.Equal(t, 1, slow.listed(), "its part of the log is there")
}

// Two saves at the same time both delete the old part of the log, also where transactions are repeatable reads by default: then
// PostgreSQL refuses to delete a row that another transaction has just deleted.
func TestSavesTogether(t *testing.T) {
	t.Parallel()
	w, other := twoGuards(t, "other")
	w.restart(t)
	other.restart(t)
	for i := range 12 { // more than a guard keeps
		w.put(t, fmt.Sprint("key ", i))
		w.save(t)
		other.save(t)
	}
	w.put(t, "last")
	execute(t, w.db, quoted(w, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$`))
	execute(t, w.db, quoted(w, `CREATE TRIGGER slow BEFORE DELETE ON {order_bloom_log} FOR EACH STATEMENT EXECUTE FUNCTION slow()`))
	saved := make(chan error)
	go func() { _, err := other.guard.Save(t.Context()); saved <- err }()
	w.save(t)
	require.NoError(t, <-saved)
	w.restart(t)
	require.Empty(t, w.lost(t))
	require.Zero(t, w.listed())
}
