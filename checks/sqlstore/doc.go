// Package sqlstore tests guard/sqlstore with real databases: PostgreSQL and MariaDB, which the tests start with data in
// temporary folders, and SQLite.
package sqlstore
