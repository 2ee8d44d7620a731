package redisbloom

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

const (
	// chunkBytes is how much of a filter is transferred at a time: large enough
	// that round trips do not matter, and the server is free again in a tenth of
	// a millisecond.
	chunkBytes = 256 << 10

	// uploadTTL is how long an upload that has been abandoned stays in the server's
	// memory.
	uploadTTL = 10 * time.Minute
)

// Push puts the contents of local filters, one for each shard, in place of what the
// filter in Redis holds. A filter of one shard takes one that bloom.New has made of
// the same arguments; for more, see [Local]. The expiry stays.
//
// It is an upload beside the filter and then, for each shard, an exchange in one
// moment. Keys that others added meanwhile are lost, and so others are told: their
// next call returns [ErrLost]. To add to what is there, use [Filter.Merge]. After
// an error, some shards may have been exchanged.
//
// The error wraps bloom.ErrIncompatible, before anything is sent, if the filters
// are not as many as the shards or have another layout.
func (f *Filter) Push(ctx context.Context, local ...*bloom.BloomFilter) error {
	report, err := f.transfer(local)
	if err != nil {
		return err
	}
	for i, s := range f.shards {
		h := f.newHeader(s.life.Load().expires)
		temp, err := f.upload(ctx, s.name, h.encode(), local[i], report)
		if err != nil {
			return err
		}
		if err := f.exec(ctx, s.name, func(pipe redis.Pipeliner) {
			pipe.Rename(ctx, temp, s.name)
			f.expiry(ctx, pipe, s.name, h.expires)
		}); err != nil {
			return err
		}
		s.life.Store(f.newLife(h))
	}
	f.log.InfoContext(ctx, "pushed", "filter", f.name)
	return nil
}

// Merge adds the contents of local filters, one for each shard, to the filter in
// Redis, as Union does in the process. Nothing that others add meanwhile is lost.
// A shard is merged in one moment, in which the server answers nobody: about 1 ms for
// each MiB.
//
// The error wraps bloom.ErrIncompatible as that of [Filter.Push] does, and
// [ErrLost] if the filter is gone.
func (f *Filter) Merge(ctx context.Context, local ...*bloom.BloomFilter) error {
	report, err := f.transfer(local)
	if err != nil {
		return err
	}
	for i, s := range f.shards {
		l := s.life.Load()
		if l.lost.Load() {
			return lostError(s, "it was noticed before")
		}
		// Were the key to vanish before the BITOP, the result would be an orphan.
		orphan := make([]byte, headerBytes)
		binary.BigEndian.PutUint32(orphan[8:], mark)
		temp, err := f.upload(ctx, s.name, orphan, local[i], report)
		if err != nil {
			return err
		}
		var before *redis.StringCmd
		if err := f.exec(ctx, s.name, func(pipe redis.Pipeliner) {
			before = pipe.GetRange(ctx, s.name, 0, headerBytes-1)
			or := redis.NewIntCmd(ctx, "BITOP", "OR", s.name, s.name, temp)
			or.SetFirstKeyPos(2) // or a cluster client takes OR for the key
			pipe.Process(ctx, or)
			f.expiry(ctx, pipe, s.name, l.expires)
			pipe.Unlink(ctx, temp)
		}); err != nil {
			return err
		}
		if err := f.same(ctx, s, l, []byte(before.Val())); err != nil {
			return err
		}
	}
	f.log.InfoContext(ctx, "merged", "filter", f.name)
	return nil
}

// Pull adds the contents of the filter in Redis to local filters, one for each
// shard, as Union does in the process. Everything that was added before Pull began
// is in them afterwards.
//
// The error wraps bloom.ErrIncompatible as that of [Filter.Push] does, and
// [ErrLost] if the filter is gone. After an error, the local filters may have part of
// the contents.
func (f *Filter) Pull(ctx context.Context, local ...*bloom.BloomFilter) error {
	report, err := f.transfer(local)
	if err != nil {
		return err
	}
	for i, s := range f.shards {
		l := s.life.Load()
		if err := f.alive(ctx, s, l); err != nil {
			return err
		}
		words := local[i].Words()
		for from := uint64(0); from < f.scheme.SizeBytes(); from += chunkBytes {
			to := min(from+chunkBytes, f.scheme.SizeBytes())
			b, err := getRange(ctx, f.client, s.name, headerBytes+from, headerBytes+to-1)
			if err != nil {
				return err
			}
			for j := 0; j+8 <= len(b); j += 8 {
				if w := binary.LittleEndian.Uint64(b[j:]); w != 0 {
					words[(from+uint64(j))/8].Or(w)
				}
			}
			report(to - from)
		}
		// The same key all the time, or some chunks came from another one.
		if err := f.alive(ctx, s, l); err != nil {
			return err
		}
	}
	f.log.InfoContext(ctx, "pulled", "filter", f.name)
	return nil
}

// transfer checks the local filters, and returns what counts the bytes for
// WithProgress.
func (f *Filter) transfer(local []*bloom.BloomFilter) (report func(bytes uint64), err error) {
	if len(local) != len(f.shards) {
		return nil, fmt.Errorf("%w: %d local filters for %d shards, want one for each: see NewLocal", bloom.ErrIncompatible, len(local), len(f.shards))
	}
	for i, l := range local {
		if l == nil {
			return nil, fmt.Errorf("%w: local filter %d is nil", bloom.ErrIncompatible, i)
		}
		if mine, want := l.Scheme().Identity(), f.scheme.Identity(); mine != want {
			return nil, fmt.Errorf("%w: local filter %d has %s, want %s", bloom.ErrIncompatible, i, mine, want)
		}
	}
	done, total := uint64(0), f.scheme.SizeBytes()*uint64(len(local))
	report = func(bytes uint64) {
		done += bytes
		if f.opts.progress != nil {
			f.opts.progress(done, total)
		}
	}
	report(0)
	return report, nil
}

// upload writes a header and a local filter's words to a new key in the same slot
// as key, and returns its name.
func (f *Filter) upload(ctx context.Context, key string, head []byte, local *bloom.BloomFilter, report func(uint64)) (temp string, err error) {
	temp = beside(key, ":upload:"+strconv.FormatUint(uint64(newEpoch()), 36))
	defer func() {
		if err != nil { // also when ctx has ended; if this fails, it expires
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			do(ctx, f.client, "UNLINK", temp)
		}
	}()
	if _, err := do(ctx, f.client, "SET", temp, head, "PX", uploadTTL.Milliseconds()); err != nil {
		return temp, explain(temp, err)
	}
	// The full length at once: growing by chunks would copy all of it many times.
	if _, err := do(ctx, f.client, "SETRANGE", temp, f.valueBytes()-1, "\x00"); err != nil {
		return temp, explain(temp, err)
	}
	words := local.Words()
	for from := 0; from < len(words); from += chunkBytes / 8 {
		to := min(from+chunkBytes/8, len(words))
		chunk := make([]byte, 0, chunkBytes) // not reused: an abandoned command may still be reading it
		for i := from; i < to; i++ {
			chunk = binary.LittleEndian.AppendUint64(chunk, words[i].Load())
		}
		if _, err := do(ctx, f.client, "SETRANGE", temp, headerBytes+from*8, chunk); err != nil {
			return temp, explain(temp, err)
		}
		report(uint64(len(chunk)))
		// However long it takes, it must not expire before it is whole.
		if _, err := do(ctx, f.client, "PEXPIRE", temp, uploadTTL.Milliseconds()); err != nil {
			return temp, explain(temp, err)
		}
	}
	return temp, nil
}

// exec executes commands on one slot in one moment, at most once: repeated, a RENAME
// would find its work done and call it an error.
func (f *Filter) exec(ctx context.Context, key string, commands func(redis.Pipeliner)) error {
	var err error
	stopped := await(ctx, func() {
		pipe := f.client.TxPipeline()
		pipe.Process(ctx, onceAny{redis.NewCmd(ctx, "EXISTS", key)})
		commands(pipe)
		_, err = pipe.Exec(ctx)
	})
	if stopped != nil {
		err = stopped
	}
	return explain(key, err)
}

// expiry gives a key the expiry that its header names: RENAME brings that of the
// upload along, and BITOP leaves none.
func (f *Filter) expiry(ctx context.Context, pipe redis.Pipeliner, key string, expires time.Time) {
	if expires.IsZero() {
		pipe.Persist(ctx, key)
	} else {
		pipe.PExpireAt(ctx, key, expires)
	}
}

// alive returns an error if a shard's key is not the one of this life any more.
func (f *Filter) alive(ctx context.Context, s *shard, l *life) error {
	value, err := getRange(ctx, f.client, s.name, 0, headerBytes-1)
	if err != nil {
		return err
	}
	return f.same(ctx, s, l, value)
}

// same compares the beginning of a shard's value with its life.
func (f *Filter) same(ctx context.Context, s *shard, l *life, value []byte) error {
	h, _ := decodeHeader(value)
	if h.epoch == l.epoch {
		return nil
	}
	return f.onLost(ctx, s, l, h.epoch)
}
