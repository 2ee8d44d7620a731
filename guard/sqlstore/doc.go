// Package sqlstore is a [guard.Store] for a table of an SQL database: PostgreSQL from 13 on, MySQL and MariaDB with
// InnoDB, or SQLite. It uses database/sql and has no driver.
//
//	table := sqlstore.Table{Dialect: sqlstore.PostgreSQL, Name: "users", Key: "name"}
//	statements, err := table.Setup() // run them once, in a migration
//	store, err := sqlstore.New(db, table)
//	g, err := guard.New("users.guard", 10_000_000, 0.01, store)
//
// # How it works
//
// Setup adds a log to the database: a table with the keys of new rows, numbered. Triggers fill it, in the transaction
// that puts the key, also for an UPDATE of a key, an import, or an insert by another program. The statements of the
// program and the guarded table stay as they are. The table name_bloom_positions has the positions that guards have
// saved. [Store.Position] deletes the entries of the log that no position needs any more.
//
// A position has three parts, and each one prevents a false "no":
//
//   - A number in the log that covers every visible transaction and no other one. A transaction may commit after a
//     transaction with a larger number, so the largest visible number is wrong. In PostgreSQL the numbers are transaction
//     IDs, and the number of a position is the oldest transaction that still runs. In MySQL, Position locks the log for a
//     moment. SQLite has one writer at a time.
//   - A random token, in a row that Position inserts. An older copy of the database, or a replica that lagged, does not
//     have that row. After a crash that lost commits, the row is missing too.
//   - The identity of the log: the server, where its numbers begin anew in another one, and the triggers. It changes if
//     the database is restored by a dump, a trigger was off for a while, or a partition comes or goes.
//
// [Store.Keys] lists the log from the position on if all three parts fit, otherwise all keys of the table.
//
// # Conditions
//
//   - The conditions of package guard. Triggers log every put, but a Guard knows at once only what its own Put adds.
//   - The table's engine has transactions, and it is a table, not a view. In SQLite it is in the database main.
//   - Only the triggers and this package write to the two tables of Setup.
//   - In MySQL, no key comes by ON UPDATE CASCADE of a foreign key or by EXCHANGE PARTITION: these run no trigger. Only one
//     server takes writes.
//   - The database finds a key by the same bytes only. MySQL's usual collations ignore case and trailing spaces, so it finds
//     "Ada" if "ada " is stored, and the filter does not. Keys returns an error for such a column; see [Table.Folded]. It does
//     not see the program's queries, which must not use LIKE or lower(), for instance.
//   - The database returns keys as the program passes them to the guard: a text as its bytes, a number as its decimal digits, a
//     UUID in the database's form. It changes times, texts that end in spaces in CHAR(n), and bytes shorter than BINARY(n).
//   - The role that lists sees all rows. In PostgreSQL, Keys returns an error if row security hides some.
//
// # Changes of the column
//
// Before a change of the type or the name of the key's column, undo Setup; afterwards run it again. The next start lists all
// keys. Without that, PostgreSQL refuses the change, and after MySQL has made the column longer, inserts of longer keys fail.
// These statements undo Setup; in PostgreSQL, DROP FUNCTION users_bloom_put CASCADE drops both triggers.
//
//	DROP TRIGGER users_bloom_insert
//	DROP TRIGGER users_bloom_update
//	DROP TABLE users_bloom_log
//	DROP TABLE users_bloom_positions
package sqlstore
