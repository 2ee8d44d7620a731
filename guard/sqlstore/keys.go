package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// Keys yields the keys that were put since a position, or all keys of the table. It reads them from the server row by row.
//
// Before it lists, it waits for the transactions that have put a key: after a kill, the server may still be at the last
// commit of the process before. In MySQL it waits for a second, in which writes to the guarded table wait too, and then
// yields the server's error. In SQLite, writes wait during the list, or fail with SQLITE_BUSY, unless the database is in WAL mode.
//
// It yields an error that wraps [bloom.ErrIncompatible] if the collation of the key takes different bytes for equal, unless
// [Table.Folded] is set, and if PostgreSQL's row security hides rows from the role.
func (s *Store) Keys(ctx context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		goOn := true
		err := s.list(ctx, since, func(key []byte) bool {
			goOn = yield(key, nil)
			return goOn
		})
		if err != nil && goOn {
			yield(nil, fmt.Errorf("sqlstore: %w", err))
		}
	}
}

func (s *Store) list(ctx context.Context, since []byte, yield func(key []byte) bool) error {
	conn, err := s.conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	db := session{s, conn}
	if err := db.checkTable(ctx); err != nil {
		return err
	}
	if err := db.wait(ctx, conn); err != nil {
		return err
	}
	listed, err := db.listSince(ctx, conn, since, yield)
	if listed || err != nil {
		return err
	}
	return db.rows(ctx, yield, `SELECT {key} FROM {table} WHERE {key} IS NOT NULL`)
}

// checkTable returns an error if the database may find a key that the filter does not have.
func (s session) checkTable(ctx context.Context) error {
	if s.d.hides != "" {
		hides, err := s.get(ctx, s.d.hides)
		if err == nil && hides != "" {
			err = failure.Errorf(bloom.ErrIncompatible, "%s of %s hides rows from this role, want a role that sees all rows", hides, s.table.Name)
		}
		if err != nil {
			return err
		}
	}
	if s.table.Folded {
		return nil
	}
	collation, err := s.get(ctx, s.d.folds)
	if err == nil && collation != "" {
		err = failure.Errorf(bloom.ErrIncompatible,
			"column %s of %s has the collation %s, which takes different bytes for equal: case, accents or trailing spaces; want %s, or Table.Folded",
			s.table.Key, s.table.Name, collation, s.d.exact)
	}
	return err
}

// wait returns when the transactions have ended that had written to the log at the call.
func (s session) wait(ctx context.Context, conn *sql.Conn) error {
	if s.d.settle != nil {
		return s.alone(ctx, conn, s.d.settle, func() error { return nil })
	}
	if s.d.writers == "" {
		return nil
	}
	writers := map[string]bool{}
	err := s.rows(ctx, func(id []byte) bool { writers[string(id)] = true; return true }, s.d.writers)
	for err == nil && len(writers) > 0 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		left := map[string]bool{}
		err = s.rows(ctx, func(id []byte) bool { left[string(id)] = writers[string(id)]; return true }, s.d.writers)
		maps.DeleteFunc(writers, func(id string, _ bool) bool { return !left[id] })
	}
	return err
}

// listSince lists the log if it is the one of the position and goes back to it. One transaction sees both, so no other
// Position deletes a part of the log in between.
func (s session) listSince(ctx context.Context, conn *sql.Conn, since []byte, yield func(key []byte) bool) (listed bool, err error) {
	parts := strings.SplitN(string(since), " ", 3)
	if len(parts) < 3 {
		return false, nil // no position, or one of another store
	}
	token, number, identity := parts[0], parts[1], parts[2]
	tx, err := conn.BeginTx(ctx, s.d.snapshot)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	in := session{s.Store, tx}
	now, err := in.get(ctx, s.d.identity)
	if err != nil || now != identity {
		return false, err
	}
	has, err := in.get(ctx, `SELECT token FROM {positions} WHERE token = ? AND n = {n}
	AND EXISTS (SELECT 1 FROM {log} WHERE n = {n} AND k IS NULL)`, token, number, number)
	if err != nil || has == "" {
		return false, err
	}
	return true, in.rows(ctx, yield, `SELECT k FROM {log} WHERE k IS NOT NULL AND n `+s.d.since+` {n}`, number)
}

// rows yields the only column of each row.
func (s session) rows(ctx context.Context, yield func(value []byte) bool, text string, args ...any) error {
	rows, err := s.QueryContext(ctx, s.statement(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var value sql.RawBytes
		if err := rows.Scan(&value); err != nil {
			return err
		}
		if !yield(value) {
			return nil
		}
	}
	return rows.Err()
}
