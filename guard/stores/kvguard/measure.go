package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/guard/stores"
)

// A measurement is what there is to say of a store.
type measurement struct {
	config
	name        string
	alone, with [2]pass // of absent keys, of present ones
	rate        float64 // observed
	filterBytes uint64
	scan, ready time.Duration
	listed      uint64
}

// A pass is many lookups.
type pass struct {
	time  time.Duration
	reads uint64 // bytes read from the disk
}

// key returns the i-th key: the names of users, say, in no order.
func key(i int) []byte {
	return binary.BigEndian.AppendUint64([]byte("user/"), uint64(i)*0x9e3779b97f4a7c15)
}

var ctx = context.Background()

func measure(c config, name string) (*measurement, error) {
	m := &measurement{config: c, name: name}
	dir := filepath.Join(c.dir, name)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrExist)
	}
	store, err := stores.Open[name](dir)
	if err != nil {
		return nil, err
	}
	defer func() { store.Close() }()
	file := filepath.Join(c.dir, name+".guard")
	g, err := guard.New(file, uint64(c.n+c.since), c.p, store)
	if err == nil {
		err = g.Open(ctx)
	}
	if err == nil {
		err = fill(g, store, 0, c.n)
	}
	if err != nil {
		return nil, err
	}
	m.filterBytes = g.SizeBytes()
	for kind, first := range []int{c.n + c.since, 0} {
		for _, pass := range []*pass{&m.alone[kind], &m.with[kind]} {
			if store, err = reopen(store, name, dir); err != nil {
				return nil, err
			}
			get := store.Get
			if pass == &m.with[kind] {
				get = func(ctx context.Context, key []byte) ([]byte, bool, error) { return guard.Get(ctx, g, key, store.Get) }
			}
			if err := pass.look(get, first, c.n, c.lookups, kind == 1); err != nil {
				return nil, err
			}
		}
	}
	m.rate = g.Counts().FalsePositiveRate()
	return m, m.restart(store, file)
}

// look looks up keys, all of which are there, or none.
func (p *pass) look(get func(context.Context, []byte) ([]byte, bool, error), first, n, lookups int, want bool) error {
	reads, start := bytesRead(), time.Now()
	for i := range lookups {
		k := key(first + int(uint64(i)*0x9e3779b97f4a7c15%uint64(n)))
		if _, found, err := get(ctx, k); err != nil {
			return err
		} else if found != want {
			return fmt.Errorf("key %q: found %v, want %v", k, found, want)
		}
	}
	p.time, p.reads = time.Since(start), bytesRead()-reads
	return nil
}

// restart saves the guard, puts some records more, and measures how long the guard then
// takes to be ready, from all keys and from its file.
func (m *measurement) restart(store stores.Store, file string) error {
	open := func(file string) (*guard.Guard, time.Duration, error) {
		g, err := guard.New(file, uint64(m.n+m.since), m.p, store)
		if err != nil {
			return nil, 0, err
		}
		start := time.Now()
		err = g.Open(ctx)
		return g, time.Since(start), err
	}
	g, scan, err := open(file) // there is none yet: from all keys
	if err != nil {
		return err
	}
	m.scan = scan
	position, err := g.Save(ctx)
	if err == nil {
		err = store.Forget(position)
	}
	if err == nil {
		err = fill(g, store, m.n, m.n+m.since)
	}
	if err != nil {
		return err
	}
	g, m.ready, err = open(file)
	if err == nil {
		m.listed = g.Counts().Scanned
	}
	return err
}

// fill stores records of a hundred bytes.
func fill(g *guard.Guard, store stores.Store, from, to int) error {
	for from < to {
		var keys, values [][]byte
		for ; from < to && len(keys) < 10_000; from++ {
			keys = append(keys, key(from))
			values = append(values, fmt.Appendf(nil, "%-100d", from))
		}
		if err := g.Put(func() error { return store.Put(keys, values) }, keys...); err != nil {
			return err
		}
	}
	return nil
}

// reopen opens a store with nothing of it in memory: twice, as what opening writes,
// from a log, would be.
func reopen(store stores.Store, name, dir string) (_ stores.Store, err error) {
	for range 2 {
		if err := store.Close(); err != nil {
			return store, err
		}
		forgotten := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				err = forget(path)
			}
			return err
		})
		again, err := stores.Open[name](dir)
		if err != nil {
			return store, errors.Join(forgotten, err)
		}
		if store = again; forgotten != nil {
			return store, forgotten
		}
	}
	return store, nil
}

func (m *measurement) print(w io.Writer) {
	fmt.Fprintf(w, "%s, %s records; the filter takes %s; rate asked for %.4g %%, observed %.4g %%\n",
		m.name, humanize.Comma(int64(m.n)), humanize.Bytes(m.filterBytes), 100*m.p, 100*m.rate)
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tabsent keys a second\tread from disk for each\tpresent keys a second\tread from disk for each\t")
	for i, passes := range [][2]pass{m.alone, m.with} {
		fmt.Fprint(table, []string{"store alone", "with the guard"}[i], "\t")
		for _, p := range passes {
			fmt.Fprintf(table, "%s\t%s\t", humanize.Comma(int64(float64(m.lookups)/p.time.Seconds())), humanize.Comma(int64(p.reads)/int64(m.lookups))+" B")
		}
		fmt.Fprintln(table)
	}
	table.Flush()
	fmt.Fprintf(w, "ready after a restart: %v from all keys, %v from the file and the %s keys since (%.2g %%)\n",
		m.scan.Round(10*time.Microsecond), m.ready.Round(10*time.Microsecond), humanize.Comma(int64(m.listed)), 100*m.ready.Seconds()/m.scan.Seconds())
	fmt.Fprintf(w, "all answers through the guard were those of the store\n\n")
}
