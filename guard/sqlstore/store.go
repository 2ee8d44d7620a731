package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/opaque"
)

const (
	kept    = 10                 // positions of each guard
	expired = 7 * 24 * time.Hour // after which a position of a guard that saves no more is deleted
)

// noEncoding makes a Store refuse encoders.
type noEncoding = opaque.Type

// A Store is a [guard.Store] for a table. Make one with [New]. All methods are safe for concurrent use. The zero Store returns
// errors.
type Store struct {
	noEncoding
	db    *sql.DB
	table Table
	d     *dialect
	names *strings.Replacer
}

var _ guard.Store = (*Store)(nil)

// New returns a Store for a table. It does not use the database, which must be the one that takes the writes, not a
// replica.
//
// The error wraps [bloom.ErrInvalid] and names the bad field, or says that db is nil.
func New(db *sql.DB, table Table) (*Store, error) {
	d, names, err := table.parse()
	if err == nil && db == nil {
		err = failure.Errorf(bloom.ErrInvalid, "the database is nil")
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	return &Store{db: db, table: table, d: d, names: names}, nil
}

var errZero = failure.Errorf(bloom.ErrInvalid, "the zero sqlstore.Store, want one of New")

func (s *Store) conn(ctx context.Context) (*sql.Conn, error) {
	if s.db == nil {
		return nil, errZero
	}
	return s.db.Conn(ctx)
}

// String describes the store in a line for a log.
func (s *Store) String() string {
	if s.db == nil {
		return "sqlstore.Store(zero)"
	}
	return fmt.Sprintf("sqlstore.Store(%s table=%q key=%q guard=%q)", s.table.Dialect, s.table.Name, s.table.Key, s.table.Guard)
}

// LogValue returns String.
func (s *Store) LogValue() slog.Value { return slog.StringValue(s.String()) }

// statement fills in the names and numbers the parameters for PostgreSQL.
func (s *Store) statement(text string) string {
	text = s.names.Replace(text)
	if s.table.Dialect == PostgreSQL {
		for i := 1; strings.Contains(text, "?"); i++ {
			text = strings.Replace(text, "?", "$"+strconv.Itoa(i), 1)
		}
	}
	return text
}

// A session is a connection: all that one call does, one server does.
type session struct {
	*Store
	querier
}

type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (s session) exec(ctx context.Context, text string, args ...any) error {
	_, err := s.ExecContext(ctx, s.statement(text), args...)
	return err
}

func (s session) all(ctx context.Context, statements []string) error {
	for _, text := range statements {
		if err := s.exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// get returns the only value, and "" if there is no row.
func (s session) get(ctx context.Context, text string, args ...any) (value string, err error) {
	err = s.QueryRowContext(ctx, s.statement(text), args...).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, err
}

// alone runs f between two lists of statements, and undoes all if one fails.
func (s session) alone(ctx context.Context, conn *sql.Conn, begin []string, f func() error) error {
	err := s.all(ctx, begin)
	if err == nil {
		err = f()
	}
	if err == nil {
		if err = s.all(ctx, s.d.end); err == nil {
			return nil
		}
	}
	bad := false
	for _, text := range s.d.undo {
		bad = s.exec(context.WithoutCancel(ctx), text) != nil || bad
	}
	if bad { // close the connection, which may have a lock or other settings
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// Position returns the current position. It inserts a row for it, deletes the oldest of the guard's rows but ten, the rows
// that are a week old, and the part of the log that no row needs.
//
// It takes some milliseconds, and one Position waits for another. In MySQL, writes to the guarded table wait meanwhile; if a transaction
// that has put a key stays open for more than a second, Position returns the server's error, and the next one tries again.
func (s *Store) Position(ctx context.Context) (position []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("sqlstore: %w", err)
		}
	}()
	conn, err := s.conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	db := session{s, conn}
	identity, err := db.get(ctx, s.d.identity) // before the number: what a trigger missed afterwards is not covered
	if err == nil && identity == "" {
		err = errors.New(s.names.Replace("the triggers {insert} and {update} of {table} are missing or off: see Table.Setup"))
	}
	if err != nil {
		return nil, err
	}
	if s.table.Dialect == MySQL {
		step, err := db.get(ctx, `SELECT CAST(@@auto_increment_increment AS CHAR)`)
		if err == nil && step != "1" {
			err = fmt.Errorf("auto_increment_increment is %s, want 1: with several servers that take writes, numbers are not in order", step)
		}
		if err != nil {
			return nil, err
		}
	}
	token := newToken()
	var number, oldest string
	trim := func() error { return db.exec(ctx, `DELETE FROM {log} WHERE n < {n}`, oldest) }
	err = db.alone(ctx, conn, s.d.begin, func() error {
		if number, err = db.anchor(ctx); err != nil {
			return err
		}
		if oldest, err = db.replace(ctx, token, number); err != nil || s.d.waits {
			return err
		}
		return trim()
	})
	if err == nil && s.d.waits {
		err = trim()
	}
	if err != nil {
		return nil, err
	}
	return []byte(strings.Join([]string{token, number, identity}, " ")), nil
}

func newToken() string {
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	return hex.EncodeToString(token[:])
}

// anchor inserts a row without a key and returns the number that covers every visible transaction and no other one.
func (s session) anchor(ctx context.Context) (number string, err error) {
	last := len(s.d.anchor) - 1
	if err := s.all(ctx, s.d.anchor[:last]); err != nil {
		return "", err
	}
	return s.get(ctx, s.d.anchor[last])
}

// replace inserts a position, deletes old ones, and returns the least number of those that are left.
func (s session) replace(ctx context.Context, token, number string) (oldest string, err error) {
	now := time.Now()
	err = s.exec(ctx, `INSERT INTO {positions} (token, guard, n, at) VALUES (?, ?, {n}, ?)`, token, s.table.Guard, number, now.Unix())
	if err != nil {
		return "", err
	}
	last, err := s.get(ctx, fmt.Sprintf(`SELECT CAST(id AS %s) AS number FROM {positions} WHERE guard = ? ORDER BY id DESC LIMIT 1 OFFSET %d`, s.d.text, kept), s.table.Guard)
	if err == nil && last != "" {
		err = s.exec(ctx, `DELETE FROM {positions} WHERE guard = ? AND id <= `+last, s.table.Guard)
	}
	if err == nil {
		err = s.exec(ctx, `DELETE FROM {positions} WHERE at < ?`, now.Add(-expired).Unix())
	}
	if err != nil {
		return "", err
	}
	return s.get(ctx, fmt.Sprintf(`SELECT CAST(n AS %s) AS number FROM {positions} ORDER BY n LIMIT 1`, s.d.text))
}
