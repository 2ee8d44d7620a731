package databases

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A column of a type that docs/guard.md names is found by the bytes that it lists; the others also by other bytes.
func TestKeyTypes(t *testing.T) {
	type column struct {
		definition, stored, other string
		same                      bool // the database finds the stored key by the other one
	}
	for k, columns := range map[*kind][]column{
		postgreSQL: {
			{"text", "Ada", "ada", false}, {"text", "Ada", "Ada ", false}, {"text", "é", "e\u0301", false},
			{"bytea", "Ada", "ada", false}, {"bytea", "Ada", "Ada ", false},
			{"bigint", "7", "8", false}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12", false},
			{"bigint", "7", "07", true}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", true},
			{"char(9)", "Ada", "Ada ", true}, {"numeric", "1", "1.0", true}, {"date", "2026-01-02", "2026-1-2", true},
			{"text COLLATE folds", "Ada", "ada", true},
		},
		mariaDB: {
			{"varbinary(50)", "Ada", "ada", false}, {"varbinary(50)", "Ada", "Ada ", false}, {"varbinary(50)", "é", "e\u0301", false},
			{"bigint", "7", "07", true}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", true},
			{"varchar(50) COLLATE utf8mb4_general_ci", "Ada", "ada", true}, {"varchar(50) COLLATE utf8mb4_bin", "Ada", "Ada ", true},
			{"decimal(9,2)", "1.00", "1", true},
		},
		sqlite: {
			{"text", "Ada", "ada", false}, {"text", "Ada", "Ada ", false}, {"text", "é", "e\u0301", false},
			{"integer", "7", "07", true}, {"text COLLATE NOCASE", "Ada", "ada", true}, {"text COLLATE RTRIM", "Ada", "Ada ", true},
		},
	} {
		t.Run(k.name, func(t *testing.T) {
			s := newServer(t, k)
			db := s.open(t, "admin")
			if k == postgreSQL {
				execute(t, db, `CREATE COLLATION folds (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
			}
			for i, c := range columns {
				table := fmt.Sprint("t", i)
				execute(t, db, fmt.Sprintf("CREATE TABLE %s (k %s)", table, c.definition))
				execute(t, db, fmt.Sprintf("INSERT INTO %s VALUES ('%s')", table, c.stored))
				g := opened(t, list(db, "SELECT k FROM "+table))
				find := fmt.Sprintf("SELECT count(*) FROM %s WHERE k = '%%s'", table)
				require.True(t, g.ContainsString(c.stored) || c.same, c)
				require.False(t, g.ContainsString(c.other), c)
				until(t, db, fmt.Sprintf(find, c.stored), 1)
				until(t, db, fmt.Sprintf(find, c.other), map[bool]int{true: 1, false: 0}[c.same])
			}
		})
	}
}
