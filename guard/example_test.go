package guard_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed3447c163/bloom/guard"
)

// A table is a store: a map, and a log of its keys in the order of their puts. A real store keeps the
// log in the database and writes both in one transaction.
type table struct {
	mu    sync.Mutex
	users map[string]string
	log   []string
}

func (t *table) Keys(_ context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		first := uint64(0)
		if len(since) > 0 {
			first = binary.BigEndian.Uint64(since)
		}
		t.mu.Lock()
		keys := t.log[first:]
		t.mu.Unlock()
		for _, key := range keys {
			if !yield([]byte(key), nil) {
				return
			}
		}
	}
}

func (t *table) Position(context.Context) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return binary.BigEndian.AppendUint64(nil, uint64(len(t.log))), nil
}

func (t *table) put(key, user string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users[key] = user
	t.log = append(t.log, key)
	return nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// opened returns a guard that is ready. If path is empty, it has no file.
func opened(path string, users *table) *guard.Guard {
	g, err := guard.New(path, 1_000_000, 0.01, users)
	check(err)
	check(g.Open(context.Background()))
	return g
}

// folder makes a folder for an example.
func folder() string {
	dir, err := os.MkdirTemp("", "guard")
	check(err)
	return dir
}

// A store with a guard, through a restart.
func Example() {
	dir := folder()
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "users.guard")
	users := &table{users: map[string]string{}}
	g := opened(path, users)
	check(g.Put(func() error { return users.put("7", "Ada") }, []byte("7")))
	_, err := g.Save(context.Background()) // Keep does this every minute
	check(err)
	check(g.Put(func() error { return users.put("8", "Grace") }, []byte("8"))) // not in the file

	// The program is killed, and starts again.
	g = opened(path, users)
	fmt.Println("keys listed:", g.Metrics()["listed_keys"])
	fmt.Println(g.ContainsString("7"), g.ContainsString("8"), g.ContainsString("9"))
	// Output:
	// keys listed: 1
	// true true false
}

// A lookup of an absent key does not reach the store.
func ExampleGet() {
	g := opened("", &table{})
	load := func(ctx context.Context, key []byte) (user string, found bool, err error) {
		fmt.Println("SELECT")
		return "", false, nil
	}
	_, found, err := guard.Get(context.Background(), g, []byte("9"), load)
	fmt.Println(found, err, g.Metrics()["spared"])
	// Output: false <nil> 1
}
