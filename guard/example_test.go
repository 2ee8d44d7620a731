package guard_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
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

func (t *table) get(_ context.Context, key []byte) (user string, found bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	user, found = t.users[string(key)]
	return user, found, nil
}

func (t *table) put(key, user string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users[key] = user
	t.log = append(t.log, key)
	return nil
}

// A store with a guard, through a restart.
func Example() {
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "users.guard")
	ctx := context.Background()
	users := &table{users: map[string]string{}}

	g, err := guard.New(path, 1_000_000, 0.01, users)
	if err != nil {
		panic(err)
	}
	if err := g.Open(ctx); err != nil {
		panic(err)
	}
	put := func(key, user string) {
		if err := g.Put(func() error { return users.put(key, user) }, []byte(key)); err != nil {
			panic(err)
		}
	}
	put("7", "Ada")
	if _, err := g.Save(ctx); err != nil { // Keep does this every minute
		panic(err)
	}
	put("8", "Grace") // not in the file

	// The program is killed, and starts again.
	g, err = guard.New(path, 1_000_000, 0.01, users)
	if err != nil {
		panic(err)
	}
	if err := g.Open(ctx); err != nil {
		panic(err)
	}
	for _, key := range []string{"7", "8", "9"} {
		user, found, err := guard.Get(ctx, g, []byte(key), users.get)
		fmt.Printf("%q %v %v\n", user, found, err)
	}
	c := g.Counts()
	fmt.Println("keys listed:", c.Scanned, "lookups that the store was spared:", c.Spared)
	// Output:
	// "Ada" true <nil>
	// "Grace" true <nil>
	// "" false <nil>
	// keys listed: 1 lookups that the store was spared: 1
}
