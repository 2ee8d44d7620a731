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

// uploadTTL is how long an upload that has been abandoned stays in the server's memory.
const uploadTTL = 10 * time.Minute

// at returns the filter of a name, of which nothing is known.
func at(client redis.UniversalClient, name string) (*Filter, error) {
	if name == "" {
		return nil, fmt.Errorf("%w: empty name, want a Redis key", bloom.ErrInvalid)
	}
	sender, err := send.New(client, 0, 0)
	if err != nil {
		return nil, err
	}
	return &Filter{sender: sender, name: name}, nil
}

// Pull reads a filter of the module into this process, by BF.SCANDUMP: one round trip for each
// layer or 16 MiB, and two more. The options are those of rebloom.FromChunks.
//
// The error wraps [ErrChanged] if keys were added meanwhile, redisfilter.ErrLost if there is no
// filter, redisfilter.ErrMismatch if the key holds something else, or is that of rebloom.FromChunks.
func Pull(ctx context.Context, client redis.UniversalClient, name string, opts ...rebloom.Option) (*rebloom.Filter, error) {
	f, err := at(client, name)
	if err != nil {
		return nil, err
	}
	var header []byte
	pulled, err := rebloom.FromChunks(func(yield func(rebloom.Chunk, error) bool) {
		for iterator := int64(0); ; {
			chunk, err := f.dump(ctx, iterator)
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
	switch now, lost := f.dump(ctx, 0); {
	case err == nil && lost != nil:
		return nil, f.explain(lost)
	case lost == nil && !bytes.Equal(now.Data, header):
		return nil, fmt.Errorf("%w: key %q: pull again when nobody adds", ErrChanged, name)
	}
	return pulled, err
}

// Push makes the filter of this name from one of this process, by BF.LOADCHUNK: one round
// trip for each layer or 16 MiB, and three more. Keys must not be added to local
// meanwhile. It is written to a key beside the name, which has a TTL of ten
// minutes, and gets the name when it is whole: a process that dies leaves nothing else.
//
// The error wraps redisfilter.ErrMismatch if there is something under the name; nothing is
// changed then. If a reply is lost, the filter may have been made.
func Push(ctx context.Context, client redis.UniversalClient, name string, local *rebloom.Filter) error {
	f, err := at(client, name)
	if err != nil {
		return err
	}
	beside := name // in the same slot of a cluster
	if !strings.Contains(name, "{") {
		beside = "{" + name + "}"
	}
	beside += ":push:" + rand.Text()
	err = f.upload(ctx, beside, local)
	if err == nil {
		err = f.ifMissing(ctx, func(pipe redis.Pipeliner) {
			pipe.Process(ctx, send.Once{Cmd: redis.NewCmd(ctx, "RENAME", beside, name)})
			pipe.Do(ctx, "PERSIST", name)
		})
	}
	if err == nil {
		return nil
	}
	f.sender.Do(ctx, "UNLINK", beside) // or its TTL does
	if errors.Is(err, errExists) || errors.Is(err, redis.TxFailedErr) {
		return fmt.Errorf("%w: key %q is there already: choose another name, or delete it", redisfilter.ErrMismatch, name)
	}
	return f.explain(err)
}

// upload writes a filter to a key that expires.
func (f *Filter) upload(ctx context.Context, key string, local *rebloom.Filter) error {
	for chunk := range local.Chunks() {
		data := copyOf(chunk.Data)
		var cmds []redis.Cmder
		var err error
		if stopped := f.sender.Await(ctx, func() {
			cmds, err = f.sender.Client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Process(ctx, send.Once{Cmd: redis.NewCmd(ctx, "BF.LOADCHUNK", key, chunk.Iterator, data)})
				pipe.Do(ctx, "PEXPIRE", key, uploadTTL.Milliseconds())
				return nil
			})
		}); stopped != nil {
			return stopped
		}
		if err != nil {
			return send.Cause(cmds, err)
		}
	}
	return nil
}
