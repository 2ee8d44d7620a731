// Package dedup drops duplicate messages and requests, even after the program was killed: messages of a broker with
// [Consume], HTTP requests with [Once], and any keys with [Days]. [docs/deduplication.md] explains the designs and what
// each of them can lose.
//
// [docs/deduplication.md]: https://github.com/seed3447c163/bloom/blob/main/docs/deduplication.md
package dedup

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// Days remembers keys for a day, in one mapped file per day (UTC). A killed process loses no key, and several processes
// can use the same folder. A key is forgotten one to two days after its last Add.
type Days struct {
	dir    string
	n      uint64
	secret bloom.Option // a function: printing Days does not show the secret
	now    func() time.Time
	mu     sync.Mutex
	open   atomic.Pointer[twoDays]
}

type twoDays struct {
	day              int64 // days since 1970, UTC
	today, yesterday *persist.File
}

// OpenDays opens or makes the files in a folder, for n different keys per day. They take about 11 bytes of disk per
// key. One new key in 500 million is a false positive.
func OpenDays(dir string, n uint64, secret [16]byte) (*Days, error) {
	d := &Days{dir: dir, n: n, secret: bloom.WithSecret(secret), now: time.Now}
	_, err := d.files()
	return d, err
}

// Add returns true to exactly one caller per key, even around midnight: callers before and after midnight add to one
// common file, and only the winner in this file gets true. Simpler rules are wrong: with an add to both files each
// time, a key could have no winner; with a lookup in yesterday's file instead of an add, two.
func (d *Days) Add(key []byte) (bool, error) {
	f, err := d.files()
	if err != nil {
		return false, err
	}
	return f.today.Add(key) && f.yesterday.Add(key), nil
}

// files returns the files of today and yesterday. After midnight, the first caller opens them.
func (d *Days) files() (*twoDays, error) {
	day := d.now().Unix() / (24 * 60 * 60)
	if f := d.open.Load(); f != nil && day <= f.day { // less if the clock was set back
		return f, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.open.Load(); f != nil && day <= f.day {
		return f, nil
	}
	today, err := d.file(day)
	if err != nil {
		return nil, err
	}
	yesterday, err := d.file(day - 1)
	if err != nil {
		return nil, err
	}
	if yesterday.Stats().OverP() {
		log.Printf("%s has more keys than planned: new keys were taken for old. Plan more per day", d.path(day-1))
	}
	f := &twoDays{day, today, yesterday}
	d.open.Store(f)                 // the old files stay open, because other goroutines may be using them
	entries, _ := os.ReadDir(d.dir) // if reading or removing fails, the next day tries again
	for _, entry := range entries {
		if path := filepath.Join(d.dir, entry.Name()); strings.HasSuffix(path, ".seen") && path < d.path(day-1) {
			_ = os.Remove(path)
		}
	}
	return f, nil
}

// file opens the file of a day. It gets the keys of two days, because Add also adds to yesterday's.
func (d *Days) file(day int64) (*persist.File, error) {
	return persist.Open(d.path(day), 2*d.n, 1e-9, d.secret)
}

func (d *Days) path(day int64) string {
	return filepath.Join(d.dir, fmt.Sprint(time.Unix(day*24*60*60, 0).UTC().Format(time.DateOnly), ".seen"))
}
