// Package databases has the recipes for SQL databases in docs/guard.md. Its tests run each recipe with real servers,
// and also without the recipe, which must lose keys:
//
//	go test ./checks/databases -long
package databases

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"github.com/seed3447c163/bloom/guard"
)

// list makes a store of the keys that a query returns.
func list(db *sql.DB, query string) guard.Store {
	return guard.All(func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			rows, err := db.QueryContext(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			defer rows.Close()
			for rows.Next() {
				var key []byte
				if err := rows.Scan(&key); !yield(key, err) || err != nil {
					return
				}
			}
			if err := rows.Err(); err != nil {
				yield(nil, err)
			}
		}
	})
}

const inPostgreSQL = `SELECT count(*) FROM pg_stat_activity
	WHERE usename = session_user AND pid <> pg_backend_pid()`
const inMariaDB = `SELECT count(*) FROM information_schema.processlist
	WHERE user = substring_index(user(), '@', 1) AND id <> connection_id()`

// alone waits until the other connections of the database user have ended.
func alone(ctx context.Context, db *sql.DB, others string) error {
	for n := 1; ; time.Sleep(100 * time.Millisecond) {
		if err := db.QueryRowContext(ctx, others).Scan(&n); err != nil || n == 0 {
			return err
		}
	}
}

const beginPut = `SELECT pg_advisory_xact_lock_shared(42)` // the first statement of each transaction that puts a key
const beforeList = `SELECT pg_advisory_xact_lock(42)`      // before Keep
