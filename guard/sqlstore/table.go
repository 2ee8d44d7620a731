package sqlstore

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// A Table describes the table behind a guard.
type Table struct {
	// Dialect is the kind of database.
	Dialect Dialect

	// Name is the name of the table, or schema.table, as the database stores it: in PostgreSQL usually in lower case.
	// Without a schema it is PostgreSQL's schema public, the connection's database in MySQL, and main in SQLite, where a
	// schema is refused. Names have letters of ASCII, digits and _, and a table's name is at most 40 bytes long.
	Name string

	// Key is the name of the column of the key. Rows whose key is NULL do not count.
	Key string

	// Guard names the guard, if several guards have the same table, such as one on each machine. Guards that share a name
	// lose no key, but may list all keys at a start.
	Guard string

	// Folded says that the table has only folded keys, and that the program folds each key before it passes it to the guard: keys
	// that the column's collation takes for equal are then the same bytes. Otherwise Keys returns an error for a column whose
	// collation ignores case, accents or trailing spaces.
	Folded bool
}

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// longest is the longest name of a table. PostgreSQL cuts names after 63 bytes, and those of Setup are longer.
const longest = 40

// parse checks the names and returns the dialect and a replacer for its statements.
func (t Table) parse() (*dialect, *strings.Replacer, error) {
	d := dialects[t.Dialect]
	if d == nil {
		return nil, nil, failure.Errorf(bloom.ErrInvalid, "dialect %q, want PostgreSQL, MySQL or SQLite", string(t.Dialect))
	}
	schema, table, qualified := strings.Cut(t.Name, ".")
	if !qualified {
		schema, table = d.schema, t.Name
	}
	if qualified && t.Dialect == SQLite {
		return nil, nil, failure.Errorf(bloom.ErrInvalid, "table %q with a schema, want a table of SQLite's main database", t.Name)
	}
	for what, s := range map[string]string{"schema": schema, "table": table, "column": t.Key} {
		if (s != "" || what != "schema" || qualified) && (!name.MatchString(s) || len(s) > longest) {
			return nil, nil, failure.Errorf(bloom.ErrInvalid, "name %q of a %s, want at most %d letters, digits or _, and no digit first", s, what, longest)
		}
	}
	if len(t.Guard) > 100 || strings.ContainsRune(t.Guard, 0) {
		return nil, nil, failure.Errorf(bloom.ErrInvalid, "name %q of a guard, want at most 100 bytes and no NUL", t.Guard)
	}
	quoted := func(s string) string { return d.quote + s + d.quote }
	in := func(s string) string {
		if schema == "" {
			return quoted(s)
		}
		return quoted(schema) + "." + quoted(s)
	}
	trigger := quoted
	if t.Dialect == MySQL {
		trigger = in // where a trigger's name belongs to a schema
	}
	return d, strings.NewReplacer(
		"{table}", in(table), "{key}", quoted(t.Key),
		"{log}", in(table+"_bloom_log"), "{positions}", in(table+"_bloom_positions"),
		"{index}", quoted(table+"_bloom_log_n"), "{function}", in(table+"_bloom_put"),
		"{insert}", trigger(table+"_bloom_insert"), "{update}", trigger(table+"_bloom_update"),
		// The same as string literals. The names need no escapes.
		"{'schema'}", "'"+schema+"'", "{'table'}", "'"+table+"'", "{'key'}", "'"+t.Key+"'",
		"{'insert'}", "'"+table+"_bloom_insert'", "{'update'}", "'"+table+"_bloom_update'",
		"{n}", "CAST("+d.number+")",
	), nil
}

// Setup returns the statements that add the log and its triggers to the database. Nothing runs them: put them into a
// migration, in this order, as a role that may create tables and triggers. They take no time that depends on the size of
// the table.
//
// The program's role needs to read the guarded table, to read, insert into and delete from the two new tables, and in
// MySQL the privileges LOCK TABLES on them and TRIGGER on the guarded table, to see whether its triggers exist. Roles that
// only insert into the guarded table need no further rights.
//
// The error wraps [bloom.ErrInvalid] and names the bad field.
func (t Table) Setup() ([]string, error) {
	d, names, err := t.parse()
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	statements := make([]string, len(d.setup))
	for i, s := range d.setup {
		statements[i] = names.Replace(s)
	}
	return statements, nil
}
