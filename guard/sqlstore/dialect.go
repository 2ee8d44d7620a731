package sqlstore

import "database/sql"

// A Dialect is a kind of SQL database.
type Dialect string

// The dialects. MariaDB has the one of MySQL.
const (
	PostgreSQL Dialect = "PostgreSQL"
	MySQL      Dialect = "MySQL"
	SQLite     Dialect = "SQLite"
)

// A dialect has the statements in which the databases differ. Table.parse fills in the words in braces.
type dialect struct {
	quote  string // around names
	schema string // of a table without one
	number string // converts a parameter to a number of the log
	text   string // the type for numbers that the program reads

	setup    []string
	identity string   // one text, or no row if the triggers are missing or off
	folds    string   // the collation of the key, or no row if only equal bytes are equal
	exact    string   // collations that compare bytes, for the error about another one
	hides    string   // a text, if the table hides rows from the program's role
	writers  string   // the running transactions that have written to the log, if the database can tell
	settle   []string // waits for these transactions, otherwise

	begin  []string // from here on, no other Position runs
	waits  bool     // nor, until the end, does a put
	anchor []string // inserts a row without a key; the last one returns the number that covers every visible transaction and no other
	end    []string
	undo   []string // after an error; each statement runs

	snapshot *sql.TxOptions // for reading one state of the database
	since    string         // the operator: which numbers a position with the number n does not cover
}

var repeatable = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

var dialects = map[Dialect]*dialect{
	// The numbers are the IDs of transactions, which PostgreSQL gives when they write. All transactions below
	// pg_snapshot_xmin have ended. Position's commit waits for the disk, and so for all commits before it.
	PostgreSQL: {
		quote: `"`, schema: "public", number: "CAST(? AS text) AS xid8", text: "text",
		setup: []string{
			// NULLIF keeps the type without a length and without a domain's NOT NULL.
			`CREATE TABLE {log} AS SELECT pg_current_xact_id() AS n, NULLIF({key}, {key}) AS k FROM {table} WHERE false`,
			`CREATE INDEX {index} ON {log} (n)`,
			`CREATE TABLE {positions} (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	token text NOT NULL, guard text NOT NULL, n xid8 NOT NULL, at bigint NOT NULL
)`,
			`CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
	INSERT INTO {log} (n, k) VALUES (pg_catalog.pg_current_xact_id(), NEW.{key});
	RETURN NULL;
END
$$`,
			`CREATE TRIGGER {insert} AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()`,
			`CREATE TRIGGER {update} AFTER UPDATE ON {table} FOR EACH ROW
	WHEN (CAST(NEW.{key} AS text) COLLATE "C" IS DISTINCT FROM CAST(OLD.{key} AS text) COLLATE "C") EXECUTE FUNCTION {function}()`,
			// ALWAYS: also for rows that logical replication brings.
			`ALTER TABLE {table} ENABLE ALWAYS TRIGGER {insert}, ENABLE ALWAYS TRIGGER {update}`,
		},
		// A copy of the data folder has the same server; a dump in the same server has another log. A change of a trigger,
		// such as DISABLE and ENABLE, changes its xmin. A partition has triggers of its own, and comes with rows when it is
		// attached. A child of CREATE TABLE INHERITS has none, unless somebody makes them.
		identity: `WITH RECURSIVE tables AS (
	SELECT CAST(to_regclass('{table}') AS oid) AS id UNION SELECT inhrelid FROM pg_inherits JOIN tables ON inhparent = id)
	SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || CAST(to_regclass('{log}') AS oid) || '/' ||
	encode(sha256(CAST(string_agg(CAST(tgrelid AS text) || ' ' || CAST(xmin AS text), '/' ORDER BY tgrelid, tgname) AS bytea)), 'hex') FROM pg_trigger
	WHERE tgrelid IN (SELECT id FROM tables) AND tgname IN ({'insert'}, {'update'}) AND tgenabled = 'A'
	HAVING count(*) = 2 * (SELECT count(*) FROM tables)`,
		// A domain has the collation of its column and, at the end of a chain of domains, a type that is none.
		folds: `WITH RECURSIVE types AS (
	SELECT atttypid AS id, attcollation AS rule FROM pg_attribute WHERE attrelid = to_regclass('{table}') AND attname = {'key'}
	UNION ALL SELECT t.typbasetype, rule FROM types JOIN pg_type t ON t.oid = id WHERE t.typtype = 'd')
	SELECT CASE WHEN t.typname IN ('citext', 'bpchar') THEN t.typname ELSE c.collname END
	FROM types JOIN pg_type t ON t.oid = id LEFT JOIN pg_collation c ON c.oid = rule
	WHERE t.typname IN ('citext', 'bpchar') OR NOT c.collisdeterministic LIMIT 1`,
		exact: "text with a deterministic collation",
		hides: `SELECT 'row security' WHERE row_security_active('{table}')`,
		writers: `SELECT virtualtransaction FROM pg_locks WHERE mode = 'RowExclusiveLock' AND relation = to_regclass('{log}')
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		begin: []string{
			`BEGIN ISOLATION LEVEL READ COMMITTED`, // the statements after the lock see what its last holder has committed
			`SET LOCAL synchronous_commit = on`,
			`SELECT pg_advisory_xact_lock(1651273581, CAST(CAST(to_regclass('{log}') AS oid) AS int))`, // the first is "bloom" to us
		},
		anchor:   []string{`INSERT INTO {log} (n, k) VALUES (pg_snapshot_xmin(pg_current_snapshot()), NULL) RETURNING CAST(n AS text)`},
		end:      []string{`COMMIT`},
		undo:     []string{`ROLLBACK`},
		snapshot: repeatable,
		since:    ">=",
	},
	// A transaction that has a number holds the log until its end, so LOCK TABLES waits for it, and all numbers below the
	// anchor are visible. The short wait prevents that a transaction that stays open stops all others.
	MySQL: {
		quote: "`", number: "? AS UNSIGNED", text: "CHAR",
		setup: []string{
			`CREATE TABLE {log} (n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB
	AS SELECT NULLIF({key}, {key}) AS k FROM {table} WHERE FALSE`,
			`CREATE TABLE {positions} (
	id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	token VARCHAR(64) NOT NULL, guard VARBINARY(100) NOT NULL, n BIGINT UNSIGNED NOT NULL, at BIGINT NOT NULL
) ENGINE=InnoDB`,
			`CREATE TRIGGER {insert} AFTER INSERT ON {table} FOR EACH ROW INSERT INTO {log} (k) VALUES (NEW.{key})`,
			`CREATE TRIGGER {update} AFTER UPDATE ON {table} FOR EACH ROW
	IF NOT CAST(NEW.{key} AS BINARY) <=> CAST(OLD.{key} AS BINARY) THEN INSERT INTO {log} (k) VALUES (NEW.{key}); END IF`,
		},
		identity: `SELECT GROUP_CONCAT(created ORDER BY trigger_name SEPARATOR '/') FROM information_schema.triggers
	WHERE event_object_schema = COALESCE(NULLIF({'schema'}, ''), DATABASE()) AND event_object_table = {'table'}
	AND trigger_name IN ({'insert'}, {'update'}) HAVING COUNT(*) = 2`,
		// Most collations that end in _bin ignore trailing spaces.
		folds: `SELECT collation_name FROM information_schema.columns
	WHERE table_schema = COALESCE(NULLIF({'schema'}, ''), DATABASE()) AND table_name = {'table'} AND column_name = {'key'}
	AND collation_name <> 'binary' AND (RIGHT(collation_name, 4) <> '_bin' OR
	1 = (SELECT COUNT(*) FROM (SELECT {key} AS k FROM {table} WHERE FALSE UNION SELECT 'a' UNION SELECT 'a ') AS padded))`,
		exact: "utf8mb4_0900_bin, in MariaDB utf8mb4_nopad_bin, or VARBINARY",
		settle: []string{
			`SET @bloom_wait = @@lock_wait_timeout, @bloom_commit = @@autocommit, SESSION lock_wait_timeout = 1, autocommit = 0`,
			`LOCK TABLES {log} WRITE`,
		},
		begin: []string{
			`SET @bloom_wait = @@lock_wait_timeout, @bloom_commit = @@autocommit, SESSION lock_wait_timeout = 1, autocommit = 0`,
			`LOCK TABLES {log} WRITE, {positions} WRITE`,
		},
		waits:    true,
		anchor:   []string{`INSERT INTO {log} (k) VALUES (NULL)`, `SELECT CAST(MAX(n) AS CHAR) FROM {log}`},
		end:      []string{`COMMIT`, `UNLOCK TABLES`, `SET SESSION lock_wait_timeout = @bloom_wait, autocommit = @bloom_commit`},
		undo:     []string{`ROLLBACK`, `UNLOCK TABLES`, `SET SESSION lock_wait_timeout = @bloom_wait, autocommit = @bloom_commit`},
		snapshot: repeatable,
		since:    ">",
	},
	// SQLite has one writer at a time. AUTOINCREMENT never gives the number of a deleted row again.
	SQLite: {
		quote: `"`, number: "? AS INTEGER", text: "TEXT",
		setup: []string{
			`CREATE TABLE {log} (n INTEGER PRIMARY KEY AUTOINCREMENT, k)`,
			`CREATE TABLE {positions} (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	token TEXT NOT NULL, guard TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL
)`,
			`CREATE TRIGGER {insert} AFTER INSERT ON {table} BEGIN INSERT INTO {log} (k) VALUES (NEW.{key}); END`,
			`CREATE TRIGGER {update} AFTER UPDATE ON {table} WHEN NEW.{key} COLLATE BINARY IS NOT OLD.{key}
	BEGIN INSERT INTO {log} (k) VALUES (NEW.{key}); END`,
		},
		// Each change of the schema has a number.
		identity: `SELECT schema_version FROM pragma_schema_version WHERE (
	SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = {'table'} AND name IN ({'insert'}, {'update'})) = 2`,
		folds:  `SELECT 'NOCASE or RTRIM' FROM (SELECT {key} AS k FROM {table} WHERE 0 UNION ALL SELECT 'a ') WHERE k = 'a' OR k = 'A '`,
		exact:  "BINARY",
		begin:  []string{`BEGIN IMMEDIATE`},
		anchor: []string{`INSERT INTO {log} (k) VALUES (NULL)`, `SELECT CAST(MAX(n) AS TEXT) FROM {log}`},
		end:    []string{`COMMIT`},
		undo:   []string{`ROLLBACK`},
		since:  ">",
	},
}
