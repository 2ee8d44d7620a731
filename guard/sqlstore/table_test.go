package sqlstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/zero"
)

// Bad names are refused, and no other one brings a quote into a statement.
func TestNames(t *testing.T) {
	good := Table{Dialect: PostgreSQL, Name: "app.users", Key: "name", Guard: "host 1"}
	_, err := good.Setup()
	require.NoError(t, err)
	for want, change := range map[string]func(*Table){
		`dialect ""`:              func(t *Table) { t.Dialect = "" },
		`dialect "Oracle"`:        func(t *Table) { t.Dialect = "Oracle" },
		`name "" of a table`:      func(t *Table) { t.Name = "" },
		`name "" of a schema`:     func(t *Table) { t.Name = ".users" },
		`name "b.c" of a table`:   func(t *Table) { t.Name = "a.b.c" },
		`of a table, want at`:     func(t *Table) { t.Name = strings.Repeat("a", 41) },
		`name "" of a column`:     func(t *Table) { t.Key = "" },
		`name "1x" of a column`:   func(t *Table) { t.Key = "1x" },
		`name "n\"; --" of a col`: func(t *Table) { t.Key = `n"; --` },
		`name "n` + "`" + `"`:     func(t *Table) { t.Key = "n`" },
		`name "ä" of a column`:    func(t *Table) { t.Key = "ä" },
		`name "a b" of a table`:   func(t *Table) { t.Name = "a b" },
		`with a schema`:           func(t *Table) { t.Dialect = SQLite },
		`name "\x00" of a guard`:  func(t *Table) { t.Guard = "\x00" },
	} {
		table := good
		change(&table)
		_, err := table.Setup()
		require.ErrorIs(t, err, bloom.ErrInvalid)
		require.ErrorContains(t, err, want)
		require.True(t, strings.HasPrefix(err.Error(), "sqlstore: "), err)
		_, err = New(new(sql.DB), table)
		require.ErrorContains(t, err, want)
	}
	_, err = New(nil, good)
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

// The statements of each dialect have no placeholder left, and names that fit into 63 bytes.
func TestStatements(t *testing.T) {
	left := regexp.MustCompile(`\{['a-z]+\}`)
	for dialect, d := range dialects {
		table := Table{Dialect: dialect, Name: strings.Repeat("t", longest), Key: "k"}
		store, err := New(new(sql.DB), table)
		require.NoError(t, err)
		for _, part := range [][]string{d.setup, d.settle, d.begin, d.anchor, d.end, d.undo, {d.identity, d.folds, d.hides, d.writers}} {
			for _, text := range part {
				text = store.statement(text)
				require.NotRegexp(t, left, text, dialect)
				for _, name := range regexp.MustCompile(`\w+`).FindAllString(text, -1) {
					require.LessOrEqual(t, len(name), 63, name)
				}
			}
		}
	}
}

func TestZeroValues(t *testing.T) {
	zero.Values(t, new(Store), Table{})
	for _, err := range new(Store).Keys(t.Context(), nil) {
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
}

// A store is a line in logs and has no JSON; a table is plain data.
func TestPrints(t *testing.T) {
	table := Table{Dialect: SQLite, Name: "users", Key: "name"}
	store, err := New(new(sql.DB), table)
	require.NoError(t, err)
	require.Equal(t, `sqlstore.Store(SQLite table="users" key="name" guard="")`, fmt.Sprint(store))
	require.Equal(t, store.String(), store.LogValue().String())
	raw, err := json.Marshal(table)
	require.NoError(t, err)
	require.JSONEq(t, `{"Dialect": "SQLite", "Name": "users", "Key": "name", "Guard": "", "Folded": false}`, string(raw))
}
