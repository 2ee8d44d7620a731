package sqlstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/guard/sqlstore"
)

// Every statement that puts a key brings it into the log, with values and numbers of the program's choice, too.
func TestEveryPutIsLogged(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		execute(t, w.db, quoted(w, fmt.Sprintf(insert, "old")))
		execute(t, w.db, quoted(w, fmt.Sprintf(insert, "case")))
		w.restart(t)
		w.save(t)
		statements := []string{
			`INSERT INTO {order} VALUES ('a', 1), ('b', 2)`,
			`INSERT INTO {order} SELECT 'c', {value} FROM {order} WHERE {key} = 'a'`,
			`UPDATE {order} SET {key} = 'new' WHERE {key} = 'old'`,
			`UPDATE {order} SET {key} = 'CASE' WHERE {key} = 'case'`,
		}
		switch s.dialect() {
		case sqlstore.PostgreSQL:
			statements = append(statements,
				`INSERT INTO {order} VALUES ('d', 1) ON CONFLICT DO NOTHING`,
				`INSERT INTO {order} VALUES ('a', 1) ON CONFLICT ({key}) DO UPDATE SET {key} = 'e'`,
				`SET session_replication_role = replica; INSERT INTO {order} VALUES ('f', 1)`, // logical replication
				`MERGE INTO {order} USING (SELECT 'g' AS x) AS s ON false WHEN NOT MATCHED THEN INSERT VALUES (s.x, 1)`)
		case sqlstore.MySQL:
			statements = append(statements,
				`REPLACE INTO {order} VALUES ('d', 1)`,
				`INSERT IGNORE INTO {order} VALUES ('e', 1)`,
				`INSERT INTO {order} VALUES ('a', 1) ON DUPLICATE KEY UPDATE {key} = 'f'`)
		case sqlstore.SQLite:
			statements = append(statements,
				`REPLACE INTO {order} VALUES ('d', 1)`,
				`INSERT INTO {order} VALUES ('a', 1) ON CONFLICT ({key}) DO UPDATE SET {key} = 'e'`,
				`UPDATE OR REPLACE {order} SET {key} = 'f' WHERE {key} = 'b'`)
		}
		for _, statement := range statements {
			execute(t, w.db, quoted(w, statement))
			execute(t, w.db, quoted(w, `UPDATE {order} SET {value} = 7`)) // puts nothing
		}
		w.restart(t)
		require.Empty(t, w.lost(t))
		require.Less(t, w.listed(), 12)
		require.False(t, w.guard.ContainsString("case") && w.guard.ContainsString("Case"))
	})
}

// Columns of other types, in a schema, with bytes that are no text.
func TestTypes(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		db := open(t, s, "")
		for column, values := range map[string]map[string]string{
			"bigint":     {"-7": "-7", "12345678901234": "12345678901234"},
			"bytes":      {"X'00ff27'": "\x00\xff'", "X'5c78'": `\x`},
			"varchar(9)": {"''": "", "'a '": "a ", "'ä'": "ä"},
			"uuid":       {"'0b2f7c46-8c1e-4f57-8f0d-d5e2f0a3c001'": "0b2f7c46-8c1e-4f57-8f0d-d5e2f0a3c001"},
		} {
			column := map[bool]string{true: column, false: "varbinary(20)"}[column != "bytes"]
			name := "t_" + column[:4]
			table := sqlstore.Table{Dialect: s.dialect(), Name: name, Key: "k"}
			if s.dialect() != sqlstore.SQLite { // which has none
				execute(t, db, "CREATE SCHEMA app_"+name)
				name = "app_" + name + "." + name
				table.Name = name
			}
			if s.dialect() == sqlstore.PostgreSQL && column == "varbinary(20)" {
				column = "bytea"
			}
			if s.dialect() == sqlstore.MySQL && column == "varchar(9)" {
				column += " COLLATE utf8mb4_nopad_bin"
			}
			execute(t, db, fmt.Sprintf("CREATE TABLE %s (k %s)", name, column))
			statements, err := table.Setup()
			require.NoError(t, err)
			for _, statement := range statements {
				execute(t, db, statement)
			}
			store, err := sqlstore.New(db, table)
			require.NoError(t, err)
			position, err := store.Position(t.Context())
			require.NoError(t, err)
			execute(t, db, fmt.Sprintf("INSERT INTO %s VALUES (NULL)", name))
			for literal := range values {
				if column == "bytea" {
					literal = `'\x` + literal[2:]
				}
				execute(t, db, fmt.Sprintf("INSERT INTO %s VALUES (%s)", name, literal))
			}
			for _, since := range [][]byte{nil, position} {
				var got, want []string
				for key, err := range store.Keys(t.Context(), since) {
					require.NoError(t, err)
					got = append(got, string(key))
				}
				for _, value := range values {
					want = append(want, value)
				}
				require.ElementsMatch(t, want, got, "%s, since %q", column, since)
			}
		}
	})
}

// A migration that lets keys be longer than the log's does not lose them in silence: PostgreSQL refuses it while there are
// triggers, and MySQL refuses longer keys.
func TestLongerKeys(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		try := func(statement string) error {
			_, err := w.db.ExecContext(t.Context(), quoted(w, statement))
			return err
		}
		long := fmt.Sprintf(insert, strings.Repeat("long", 100))
		switch s.dialect() {
		case sqlstore.PostgreSQL:
			require.ErrorContains(t, try(`ALTER TABLE {order} ALTER COLUMN {key} TYPE varchar(500)`), "trigger")
		case sqlstore.MySQL:
			require.NoError(t, try(`ALTER TABLE {order} MODIFY {key} varchar(500) NOT NULL`))
			require.ErrorContains(t, try(long), "too long")
		case sqlstore.SQLite: // lengths are no limits
			require.NoError(t, try(long))
		}
	})
}

// The key's column is renamed, as the documents say.
func TestUndo(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		w.restart(t)
		w.put(t, "a")
		w.save(t)
		undo := []string{`DROP TRIGGER {order_bloom_insert}`, `DROP TRIGGER {order_bloom_update}`}
		if s.dialect() == sqlstore.PostgreSQL {
			undo = []string{`DROP FUNCTION order_bloom_put CASCADE`}
		}
		undo = append(undo, `DROP TABLE {order_bloom_log}`, `DROP TABLE {order_bloom_positions}`)
		for _, statement := range append(undo, `ALTER TABLE {order} RENAME COLUMN {key} TO {name}`) {
			execute(t, w.db, quoted(w, statement))
		}
		w.table.Key = "name"
		w.setup(t)
		execute(t, w.db, quoted(w, `INSERT INTO {order} VALUES ('b', 1)`))
		w.restart(t)
		require.Equal(t, 2, w.listed())
		w.save(t)
		execute(t, w.db, quoted(w, `INSERT INTO {order} VALUES ('c', 1)`))
		w.restart(t)
		require.Equal(t, 1, w.listed())
	})
}

// A column that finds other bytes than the filter is refused.
func TestCollations(t *testing.T) {
	types := map[sqlstore.Dialect]map[string]bool{
		sqlstore.PostgreSQL: {
			"text": true, "varchar(9)": true, "bigint": true, "uuid": true, "words": true, "never_null": true, `text COLLATE "folds"`: false,
			"char(9)": false, "citext": false, "codes": false, "emails": false, "more_emails": false,
		},
		sqlstore.MySQL: {
			"varchar(9)": true, "bigint": true, "varbinary(9)": true, "decimal(9,2)": true, "date": true, "uuid": true, "inet6": true,
			"bit(8)": true, "enum('a', 'b')": true, "text": true, "varchar(9) CHARACTER SET latin1 COLLATE latin1_nopad_bin": true,
			"varchar(9) CHARACTER SET utf16 COLLATE utf16_nopad_bin": true, "varchar(9) CHARACTER SET utf16 COLLATE utf16_bin": false,
			"varchar(9) COLLATE utf8mb4_general_ci": false, "varchar(9) COLLATE utf8mb4_general_nopad_ci": false,
			"char(9)": true, "varchar(9) COLLATE utf8mb4_bin": false, "text COLLATE utf8mb4_bin": false, "varchar(9) COLLATE latin1_bin": false,
		},
		sqlstore.SQLite: {"text": true, "text COLLATE NOCASE": false, "text COLLATE RTRIM": false, "integer": true, "blob": true},
	}
	each(t, func(t *testing.T, s server) {
		db := open(t, s, "")
		if s.dialect() == sqlstore.PostgreSQL {
			for _, statement := range []string{
				`CREATE COLLATION folds (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
				`CREATE EXTENSION citext`, `CREATE DOMAIN codes AS char(9)`, `CREATE DOMAIN words AS text`,
				`CREATE DOMAIN emails AS citext CHECK (VALUE LIKE '%')`, `CREATE DOMAIN more_emails AS emails`,
				`CREATE DOMAIN never_null AS varchar(9) NOT NULL`,
			} {
				execute(t, db, statement)
			}
		}
		i := 0
		for column, fine := range types[s.dialect()] {
			i++
			table := sqlstore.Table{Dialect: s.dialect(), Name: fmt.Sprint("t", i), Key: "k"}
			execute(t, db, fmt.Sprintf("CREATE TABLE t%d (k %s)", i, column))
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO t%d VALUES ('a')", i)); err == nil && fine {
				for _, other := range []string{"A", "a ", "ä"} {
					require.Equal(t, "0", get(t, db, fmt.Sprintf("SELECT COUNT(*) FROM t%d WHERE k = '%s'", i, other)), column)
				}
			}
			for _, table.Folded = range []bool{false, true} {
				store, err := sqlstore.New(db, table)
				require.NoError(t, err)
				statements, _ := table.Setup()
				if !table.Folded {
					for _, statement := range statements {
						execute(t, db, statement)
					}
				}
				_, err = store.Position(t.Context())
				require.NoError(t, err, column)
				for _, e := range store.Keys(t.Context(), nil) {
					err = e
				}
				if fine || table.Folded {
					require.NoError(t, err, column)
				} else {
					require.ErrorIs(t, err, bloom.ErrIncompatible, column)
				}
			}
		}
	})
}

// A role that does not see all rows is refused: its list would lack keys.
func TestRowSecurity(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	w := newWorld(t, s)
	w.restart(t)
	w.put(t, "a")
	for _, statement := range []string{
		`CREATE ROLE program LOGIN`, `GRANT SELECT, INSERT ON {order} TO program`,
		`GRANT SELECT, INSERT, DELETE ON {order_bloom_log}, {order_bloom_positions} TO program`,
		`ALTER TABLE {order} ENABLE ROW LEVEL SECURITY`,
		`CREATE POLICY own ON {order} USING ({value} = CAST(current_setting('app.tenant', true) AS int))`,
	} {
		execute(t, w.db, quoted(s, statement))
	}
	w.restart(t)
	require.Equal(t, 1, w.listed(), "the owner sees all rows")
	w.db = open(t, s, "program")
	for _, w.table.Folded = range []bool{false, true} {
		g, err := guard.New("", 10, 0.01, w.store(t))
		require.NoError(t, err)
		require.ErrorIs(t, g.Open(t.Context()), bloom.ErrIncompatible)
	}
}

// The program's role has only the rights that Setup names, and another role only inserts.
func TestFewRights(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		w := newWorld(t, s)
		grants := map[sqlstore.Dialect][]string{
			sqlstore.PostgreSQL: {
				`CREATE ROLE program LOGIN`, `CREATE ROLE importer LOGIN`,
				`GRANT SELECT, INSERT ON {order} TO program`, `GRANT INSERT ON {order} TO importer`,
				`GRANT SELECT, INSERT, DELETE ON {order_bloom_log}, {order_bloom_positions} TO program`,
			},
			sqlstore.MySQL: {
				`CREATE USER program@localhost`, `CREATE USER importer@localhost`,
				`GRANT SELECT, INSERT, TRIGGER ON {order} TO program@localhost`, `GRANT INSERT ON {order} TO importer@localhost`,
				`GRANT SELECT, INSERT, DELETE ON {order_bloom_log} TO program@localhost`,
				`GRANT SELECT, INSERT, DELETE ON {order_bloom_positions} TO program@localhost`,
				`GRANT LOCK TABLES ON test.* TO program@localhost`,
			},
		}
		for _, statement := range grants[s.dialect()] {
			execute(t, w.db, quoted(w, statement))
		}
		w.db = open(t, s, "program")
		w.restart(t)
		w.put(t, "a")
		w.save(t)
		execute(t, open(t, s, "importer"), quoted(w, fmt.Sprintf(insert, "b")))
		w.restart(t)
		require.Equal(t, 1, w.listed())
		require.Empty(t, w.lost(t))
	})
}

// Without Setup nothing is saved, and the error names the table.
func TestNoSetup(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		db := open(t, s, "")
		execute(t, db, "CREATE TABLE plain (k int)")
		store, err := sqlstore.New(db, sqlstore.Table{Dialect: s.dialect(), Name: "plain", Key: "k"})
		require.NoError(t, err)
		_, err = store.Position(t.Context())
		require.ErrorContains(t, err, "plain")
		g, err := guard.New("", 10, 0.01, store)
		require.NoError(t, err)
		if err := g.Open(t.Context()); s.dialect() == sqlstore.MySQL {
			require.ErrorContains(t, err, "plain", "there is no log to lock")
		} else {
			require.NoError(t, err, "all keys are listed")
		}
	})
}
