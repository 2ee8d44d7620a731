package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
)

type config struct {
	records, lookups int
	absent, p        float64
	dir              string
}

// A result is what there is to say at the end.
type result struct {
	config
	storeBytes, filterBytes uint64

	without, with          [2]timing // by whether the key is there
	different              int       // answers with the filter that are not the store's
	absentSpared           int64     // absent keys that did not reach the store
	deleted, deletedSpared int64
	deletedFound           int // deleted keys that still seemed to be there
	rate                   float64
}

// A timing is that of one kind of lookup.
type timing struct {
	count int
	total time.Duration
}

func (t timing) String() string {
	if t.count == 0 {
		return "-"
	}
	each := t.total / time.Duration(t.count)
	if each < 10*time.Microsecond {
		return fmt.Sprintf("%d ns", each.Nanoseconds())
	}
	return fmt.Sprintf("%d µs", each.Microseconds())
}

// measure is the whole program but for what it prints.
func measure(c config) (r result, err error) {
	r.config = c
	dir := c.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "kvguard-"); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	path := filepath.Join(dir, "records.bbolt")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	guard, err := Open(path, uint64(c.records), c.p)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, guard.Close()) }()
	if err := fill(guard, c.records); err != nil {
		return r, err
	}
	if info, err := os.Stat(path); err == nil {
		r.storeBytes = uint64(info.Size())
	}
	r.filterBytes = guard.filter.SizeBytes()
	r.rate = guard.filter.EstimatedFalsePositiveRate()

	// The same lookups in the store alone and with the filter: absent keys and present
	// ones one after the other, each kind by the clock at its beginning and end.
	keys := [2][][]byte{}
	random := rand.New(rand.NewPCG(1, 2))
	for range c.lookups {
		if random.Float64() < c.absent {
			keys[0] = append(keys[0], record(uint64(c.records)+random.Uint64N(1<<40)))
		} else {
			keys[1] = append(keys[1], record(random.Uint64N(uint64(c.records))))
		}
	}
	for kind := range keys {
		want := make([]bool, len(keys[kind]))
		start := time.Now()
		for i, key := range keys[kind] {
			if _, want[i], err = guard.lookUp(key); err != nil {
				return r, err
			}
		}
		r.without[kind] = timing{len(want), time.Since(start)}
		guard.spared.Store(0)
		start = time.Now()
		for i, key := range keys[kind] {
			_, ok, err := guard.Get(key)
			if err != nil {
				return r, err
			}
			if ok != want[i] {
				r.different++
			}
		}
		r.with[kind] = timing{len(want), time.Since(start)}
		if kind == 0 {
			r.absentSpared = guard.spared.Load()
		}
	}
	return r, r.deleteSome(guard)
}

// deleteSome deletes a hundredth of the records and looks them up again.
func (r *result) deleteSome(guard *Guard) error {
	guard.spared.Store(0)
	for i := range uint64(max(1, r.records/100)) {
		ok, err := guard.Delete(record(i))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("record %d is not there to be deleted", i)
		}
		r.deleted++
	}
	for i := range uint64(r.deleted) {
		if _, ok, err := guard.Get(record(i)); err != nil {
			return err
		} else if ok {
			r.deletedFound++
		}
	}
	r.deletedSpared = guard.spared.Load()
	return nil
}

// record returns the key of record i: the names of users, say, in no order.
func record(i uint64) []byte {
	x := i * 0x9e3779b97f4a7c15 // a bijection: different i, different keys
	return binary.BigEndian.AppendUint64([]byte("user/"), x)
}

// fill stores records of a hundred bytes.
func fill(guard *Guard, n int) error {
	const batch = 10_000
	for first := 0; first < n; first += batch {
		var keys, values [][]byte
		for i := first; i < min(first+batch, n); i++ {
			keys = append(keys, record(uint64(i)))
			values = append(values, fmt.Appendf(nil, "%-100d", i))
		}
		if err := guard.Put(keys, values); err != nil {
			return err
		}
	}
	return nil
}

// wrong returns an error if an answer was.
func (r *result) wrong() error {
	switch {
	case r.different > 0:
		return fmt.Errorf("%d answers with the filter were not those of the store", r.different)
	case r.deletedFound > 0:
		return fmt.Errorf("%d deleted records were still found", r.deletedFound)
	}
	return nil
}

func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "store    %s records in %s of bbolt\n", humanize.Comma(int64(r.records)), humanize.Bytes(r.storeBytes))
	fmt.Fprintf(w, "filter   %s of memory, %.2f %% false positives by its fill, at most %.4g %% asked for\n\n",
		humanize.Bytes(r.filterBytes), 100*r.rate, 100*r.p)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "time per key\t%s absent\t%s present\t\n", humanize.Comma(int64(r.with[0].count)), humanize.Comma(int64(r.with[1].count)))
	fmt.Fprintf(table, "store alone\t%v\t%v\t\n", r.without[0], r.without[1])
	fmt.Fprintf(table, "with the filter\t%v\t%v\t\n", r.with[0], r.with[1])
	table.Flush()
	if n := int64(r.with[0].count); n > 0 {
		fmt.Fprintf(w, "\n%s of %s absent keys never reached the store (%.2f %%)", humanize.Comma(r.absentSpared), humanize.Comma(n), 100*float64(r.absentSpared)/float64(n))
		if r.with[0].total > 0 {
			fmt.Fprintf(w, ", and cost 1/%.0f of the time", float64(r.without[0].total)/float64(r.with[0].total))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s records were deleted, of which the filter then spared the store %s\n", humanize.Comma(r.deleted), humanize.Comma(r.deletedSpared))
	if r.wrong() == nil {
		fmt.Fprintln(w, "all answers with the filter were those of the store")
	}
}
