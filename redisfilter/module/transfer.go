package module

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// ErrChanged means that keys were added to a filter while [Pull] read it.
var ErrChanged = errors.New("redisfilter: keys were added while the filter was read")

// uploadTTL is how long an abandoned upload stays in the server's memory.
const uploadTTL = 10 * time.Minute

// at returns the filter of a name.
func at(client redis.UniversalClient, name string) (*Filter, error) {
	if name == "" {
		return nil, fmt.Errorf("%w: empty name, want a Redis key", bloom.ErrInvalid)
	}
	sender, err := send.New(client, 0, 0)
	return &Filter{sender: sender, name: name}, err
}

// Pull reads a filter of the module into this process, by BF.SCANDUMP: one round trip for each layer or
// 16 MiB, and two more. The options are those of rebloom.FromChunks.
//
// The error wraps [ErrChanged] if keys were added meanwhile, redisfilter.ErrLost if there is no filter,
// redisfilter.ErrMismatch if the key holds something else, or is that of rebloom.FromChunks.
func Pull(ctx context.Context, client redis.UniversalClient, name string, opts ...rebloom.Option) (*rebloom.Filter, error) {
	f, err := at(client, name)
	if err != nil {
		return nil, err
	}
	var header []byte
	pulled, err := rebloom.FromChunks(func(yield func(rebloom.Chunk, error) bool) {
		for iterator := int64(0); ; {
			dump, err := client.BFScanDump(ctx, name, iterator).Result()
			chunk := rebloom.Chunk{Iterator: dump.Iter, Data: []byte(dump.Data)}
			if err != nil {
				yield(chunk, f.explain(err))
				return
			}
			if iterator == 0 {
				header = chunk.Data
			}
			if chunk.Iterator == 0 || !yield(chunk, nil) {
				return
			}
			iterator = chunk.Iterator
		}
	}, opts...)
	if header == nil { // not even begun
		return nil, err
	}
	// The header counts the keys. A filter that grew while it was read looks damaged.
	switch now, lost := client.BFScanDump(ctx, name, 0).Result(); {
	case err == nil && lost != nil:
		return nil, f.explain(lost)
	case lost == nil && !bytes.Equal([]byte(now.Data), header):
		return nil, fmt.Errorf("%w: key %q: pull again when no process adds", ErrChanged, name)
	}
	return pulled, err
}

// Push makes the filter of this name from a local one, by BF.LOADCHUNK. Keys must not be added to local
// meanwhile. The upload has a temporary name, and a TTL of ten minutes.
//
// The error wraps redisfilter.ErrMismatch if the name is in use; nothing is changed then.
func Push(ctx context.Context, client redis.UniversalClient, name string, local *rebloom.Filter) error {
	f, err := at(client, name)
	if err != nil {
		return err
	}
	exists, err := f.make(ctx, func(temporary string) error {
		for chunk := range local.Chunks() {
			data := bytes.Clone(chunk.Data)
			_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.BFLoadChunk(ctx, temporary, chunk.Iterator, data)
				pipe.PExpire(ctx, temporary, uploadTTL)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, true)
	if exists {
		return fmt.Errorf("%w: key %q is in use: choose another name, or delete it", redisfilter.ErrMismatch, name)
	}
	return f.explain(err)
}

// make has a filter made under a temporary name, with a TTL, and gives it the name if that is free: there
// is never a part of a filter. With persist, the filter has no TTL then.
func (f *Filter) make(ctx context.Context, build func(temporary string) error, persist bool) (exists bool, err error) {
	temporary := f.name + ":push:" + rand.Text()
	if !strings.Contains(f.name, "{") { // in the same slot of a cluster
		temporary = "{" + f.name + "}:push:" + rand.Text()
	}
	client := f.sender.Client
	defer func() {
		if err != nil || exists { // also when ctx has ended
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			client.Unlink(ctx, temporary)
		}
	}()
	if err := build(temporary); err != nil {
		return false, err
	}
	rename := redis.NewCmd(ctx, "RENAMENX", temporary, f.name)
	_, err = client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		if persist {
			pipe.Persist(ctx, temporary)
		}
		pipe.Process(ctx, send.Once{Cmd: rename}) // a second one would not find the temporary name
		return nil
	})
	return err == nil && rename.Val() != int64(1), err
}
