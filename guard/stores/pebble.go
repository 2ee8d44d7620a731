package stores

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// Pebble is a pebble database. A key's record is under 'r' and the key; 'p' and a number
// have a key that was put; 'f' is the number up to which the puts are forgotten.
type Pebble struct {
	db   *pebble.DB
	mu   sync.Mutex // so that puts become visible in the order of their numbers
	used uint64     // the last number that was given to a put, perhaps not used
	last uint64     // number of the last put that is visible, and on the disk
}

// OpenPebble opens or makes a database in a folder.
func OpenPebble(dir string) (*Pebble, error) {
	db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	p := &Pebble{db: db}
	if p.last, err = p.forgotten(); err == nil {
		err = p.findLast()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

// findLast finds the last put.
func (p *Pebble) findLast() error {
	i, err := p.db.NewIter(&pebble.IterOptions{LowerBound: []byte("p"), UpperBound: []byte("q")})
	if err != nil {
		return err
	}
	if i.Last() {
		p.last = decode(i.Key()[1:])
	}
	p.used = p.last
	return i.Close()
}

func (p *Pebble) forgotten() (uint64, error) {
	number, _, err := p.get([]byte("f"))
	return decode(number), err
}

func (p *Pebble) Close() error { return p.db.Close() }

func (p *Pebble) Get(_ context.Context, key []byte) (value []byte, found bool, err error) {
	return p.get(prefixed('r', key))
}

func (p *Pebble) get(key []byte) (value []byte, found bool, err error) {
	v, closer, err := p.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte{}, v...)
	return value, true, closer.Close()
}

// Put stores values. It logs all keys: to look which are new would cost a read each.
func (p *Pebble) Put(keys, values [][]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.db.NewBatch()
	defer b.Close()
	for i, key := range keys {
		p.used++
		err := b.Set(prefixed('p', encode(p.used)), key, nil)
		if err == nil {
			err = b.Set(prefixed('r', key), values[i], nil)
		}
		if err != nil {
			return err
		}
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return err
	}
	p.last = p.used
	return nil
}

func (p *Pebble) Delete(keys ...[]byte) error {
	b := p.db.NewBatch()
	defer b.Close()
	for _, key := range keys {
		if err := b.Delete(prefixed('r', key), nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

func (p *Pebble) Position(context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return encode(p.last), nil
}

// Keys lists the puts since a position, or all records if the log does not reach back so
// far.
func (p *Pebble) Keys(ctx context.Context, since []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		now, _ := p.Position(ctx)
		i, err := p.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: prefixed('p', encode(decode(since)+1)), UpperBound: []byte("q")})
		if err != nil {
			yield(nil, err)
			return
		}
		// After the iterator, which shows the log of its own moment: what is forgotten from now on
		// is still in it.
		forgotten, err := p.forgotten()
		all := len(since) == 0 || decode(since) < forgotten || decode(since) > decode(now)
		if all {
			i.SetBounds([]byte("r"), []byte("s"))
		}
		if err != nil {
			yield(nil, errors.Join(err, i.Close()))
			return
		}
		defer i.Close()
		for i.First(); i.Valid(); i.Next() {
			key := i.Key()[1:]
			if !all {
				if key, err = i.ValueAndErr(); err != nil {
					break
				}
			}
			if !yield(key, nil) {
				return
			}
		}
		if err = errors.Join(err, i.Error()); err != nil {
			yield(nil, err)
		}
	}
}

func (p *Pebble) Forget(position []byte) error {
	b := p.db.NewBatch()
	defer b.Close()
	err := b.DeleteRange([]byte("p"), prefixed('p', encode(decode(position)+1)), nil)
	if err == nil {
		err = b.Set([]byte("f"), position, nil)
	}
	if err != nil {
		return err
	}
	return b.Commit(pebble.Sync)
}

func prefixed(prefix byte, key []byte) []byte {
	return append(append(make([]byte, 0, 1+len(key)), prefix), key...)
}

// quiet is a logger that says nothing of what goes well.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	pebble.DefaultLogger.Fatalf(format, args...)
}
