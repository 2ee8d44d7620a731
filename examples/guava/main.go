// Program guava shares a Bloom filter with Bounces.java. The Java program needs Guava 18 or later. It publishes e-mail
// addresses that have bounced. This program looks some up and adds one.
//
//	java -cp guava.jar Bounces.java publish
//	go run .
//	java -cp guava.jar Bounces.java ask
package main

import (
	"bytes"
	"fmt"
	"log"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/persist"
)

func main() {
	bounced, err := persist.LoadWith("bounced.bloom", guava.Read, bloom.WithMaxBytes(64<<20))
	check(err)

	for _, address := range []string{"old@example.com", "jürgen@example.com", "anna@example.com"} {
		fmt.Println(address, bounced.ContainsString(address))
	}
	if bounced.AddString("new@example.com") {
		fmt.Println("new@example.com bounced for the first time")
	}

	// Save replaces the file in one step: readers never find half of it.
	var file bytes.Buffer
	check(guava.Write(&file, bounced))
	check(persist.Save("bounced.bloom", &file))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
