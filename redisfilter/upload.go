package redisfilter

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
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

// An upload is a key beside a shard's, in the same slot, with a local filter's words
// behind a ticket in place of a header. The server may lose it before it is whole,
// and the next chunk then makes it anew; but not its ticket, which is random and
// written once.
type upload struct {
	key    string
	ticket []byte // none for an upload that is never made
}

// newUpload returns an upload under a name that is not in use.
func newUpload(key string) upload {
	return upload{key: beside(key, ":upload:"+strconv.FormatUint(uint64(newNonce()), 36))}
}

// viaUpload uploads a local filter and then executes commands on it and the shard's key,
// see commit. The commands do away with the upload.
func (f *Filter) viaUpload(ctx context.Context, s *shard, l *life, local *bloom.BloomFilter, report func(uint64),
	commands func(pipe redis.Pipeliner, upload string, expires time.Time)) (err error) {
	if l.lost.Load() {
		return lostError(s, "it was noticed before")
	}
	u := newUpload(s.name)
	defer func() {
		if err != nil { // also when ctx has ended; if this fails, it expires
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			f.sender.Do(ctx, "UNLINK", u.key)
		}
	}()
	if err := f.upload(ctx, &u, local, report); err != nil {
		return send.Explain(u.key, err)
	}
	return f.commit(ctx, s, l, u, func(pipe redis.Pipeliner, expires time.Time) { commands(pipe, u.key, expires) })
}

// upload writes a ticket and a local filter's words.
func (f *Filter) upload(ctx context.Context, u *upload, local *bloom.BloomFilter, report func(uint64)) error {
	u.ticket = make([]byte, headerBytes)
	rand.Read(u.ticket) // never fails
	if _, err := f.sender.Do(ctx, "SET", u.key, u.ticket, "PX", uploadTTL.Milliseconds()); err != nil {
		return err
	}
	// The full length at once: growing by chunks would copy all of it many times.
	if err := f.write(ctx, u, f.layout.length-1, []byte{0}); err != nil {
		return err
	}
	words := local.Words()
	for from := 0; from < len(words); from += chunkBytes / 8 {
		to := min(from+chunkBytes/8, len(words))
		chunk := make([]byte, 0, (to-from)*8) // not reused: an abandoned command may still be reading it
		for i := from; i < to; i++ {
			chunk = binary.LittleEndian.AppendUint64(chunk, words[i].Load())
		}
		if err := f.write(ctx, u, headerBytes+uint64(from)*8, chunk); err != nil {
			return err
		}
		report(uint64(len(chunk)))
	}
	return nil
}

// write writes a chunk of an upload, and renews its expiry in the same moment: however long
// all takes, it must not expire before it is whole; and if it was evicted, so that the
// chunk makes it anew, it must not stay for ever.
func (f *Filter) write(ctx context.Context, u *upload, at uint64, chunk []byte) error {
	var err error
	if stopped := f.sender.Await(ctx, func() {
		var cmds []redis.Cmder
		cmds, err = f.sender.Client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Do(ctx, "SETRANGE", u.key, at, chunk)
			pipe.Do(ctx, "PEXPIRE", u.key, uploadTTL.Milliseconds())
			return nil
		})
		err = send.Cause(cmds, err)
	}); stopped != nil {
		return stopped
	}
	return err
}
