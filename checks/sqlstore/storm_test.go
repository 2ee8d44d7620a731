package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/guard/sqlstore"
	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// serve opens a guard, says how many stored keys it misses, and puts keys by twenty writers while it saves.
func serve(args []string) error {
	child.EndWithTest()
	ctx := context.Background()
	w := world{path: args[3]}
	w.table = sqlstore.Table{Dialect: sqlstore.Dialect(args[0]), Name: "storm", Key: "name"}
	var err error
	if w.db, err = sql.Open(args[1], args[2]); err != nil {
		return err
	}
	store, err := sqlstore.New(w.db, w.table)
	if err != nil {
		return err
	}
	if w.guard, err = guard.New(w.path, 100_000, 1e-9, store); err != nil {
		return err
	}
	if err := w.guard.Open(ctx); err != nil {
		return err
	}
	stored, lost := 0, 0
	for key, err := range store.Keys(ctx, nil) {
		if err != nil {
			return err
		}
		if stored++; !w.guard.Contains(key) {
			lost++
		}
	}
	fmt.Println("opened", stored, lost)
	for range 20 {
		go func() {
			for {
				key := fmt.Sprint(rand.Uint64())
				tx, err := w.db.BeginTx(ctx, nil)
				if err != nil {
					continue
				}
				if _, err := tx.Exec(`INSERT INTO storm (name) VALUES ('` + key + `')`); err != nil {
					_ = tx.Rollback()
					continue
				}
				time.Sleep(rand.N(5 * time.Millisecond))
				_ = w.guard.Put(tx.Commit, []byte(key))
			}
		}()
	}
	for {
		_, _ = w.guard.Save(ctx)
	}
}

// A program with many writers is killed at random moments, and at times the server too. No stored key is ever missed.
func TestStorm(t *testing.T) {
	if !*testkit.Long {
		t.Skip("NOT TESTED without -long: random kills; the other tests choose the order of events")
	}
	each(t, func(t *testing.T, s server) {
		driver, source := s.source("")
		db := open(t, s, "")
		execute(t, db, `CREATE TABLE storm (name varchar(50) NOT NULL PRIMARY KEY)`)
		statements, err := sqlstore.Table{Dialect: s.dialect(), Name: "storm", Key: "name"}.Setup()
		require.NoError(t, err)
		for _, statement := range statements {
			execute(t, db, statement)
		}
		path, stored := t.TempDir()+"/guard", 0
		for i := range 30 {
			p := child.Start(t, "serve", string(s.dialect()), driver, source, path)
			line, ok := p.Line()
			lost := -1
			_, err := fmt.Sscanf(line, "opened %d %d", &stored, &lost)
			if ok {
				require.NoError(t, err)
				require.Zero(t, lost, "round %d: %s", i, line)
				time.Sleep(rand.N(500 * time.Millisecond))
			}
			if i%5 == 4 {
				s.kill(t)
				s.start(t)
			}
			_ = p.Process.Kill()
			_ = p.Wait()
			require.True(t, ok, p.Errors())
		}
		t.Logf("%d keys", stored)
		require.NotZero(t, stored)
	})
}
