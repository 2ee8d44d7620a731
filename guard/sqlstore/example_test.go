package sqlstore_test

import (
	"fmt"
	"log"

	"github.com/seed3447c163/bloom/guard/sqlstore"
)

// The statements for a migration.
func ExampleTable_Setup() {
	table := sqlstore.Table{Dialect: sqlstore.SQLite, Name: "users", Key: "name"}
	statements, err := table.Setup()
	if err != nil {
		log.Fatal(err)
	}
	for _, statement := range statements {
		fmt.Println(statement + ";")
	}
	// Output:
	// CREATE TABLE "users_bloom_log" (n INTEGER PRIMARY KEY AUTOINCREMENT, k);
	// CREATE TABLE "users_bloom_positions" (
	// 	id INTEGER PRIMARY KEY AUTOINCREMENT,
	// 	token TEXT NOT NULL, guard TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL
	// );
	// CREATE TRIGGER "users_bloom_insert" AFTER INSERT ON "users" BEGIN INSERT INTO "users_bloom_log" (k) VALUES (NEW."name"); END;
	// CREATE TRIGGER "users_bloom_update" AFTER UPDATE ON "users" WHEN NEW."name" COLLATE BINARY IS NOT OLD."name"
	// 	BEGIN INSERT INTO "users_bloom_log" (k) VALUES (NEW."name"); END;
}
