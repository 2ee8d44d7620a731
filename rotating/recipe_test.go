package rotating_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/rotating"
	"github.com/stretchr/testify/require"
)

type message struct {
	ID   []byte
	Time time.Time
}

type consumer struct {
	seen   *rotating.Filter // with WithClock(c.now)
	latest atomic.Int64     // the latest time of a message, in nanoseconds
}

func (c *consumer) now() time.Time { return time.Unix(0, c.latest.Load()) }

// isNew reports whether a message must be processed. Only one goroutine may call it.
func (c *consumer) isNew(m message) (bool, error) {
	at := min(m.Time.UnixNano(), time.Now().UnixNano()) // a message from 2106 would make the filter forget all others
	c.latest.Store(max(c.latest.Load(), at))
	return c.seen.Add(m.ID)
}

// TestRecipe runs the recipe: a thousand messages per day for nine days until now, each twice within half a day. Five
// hours ago one has a time in 2106. In the second run, the consumer restarts in the middle, and the broker repeats the
// last half day. No message is processed twice, and the filter holds the keys of at most 1.25 days and the five hours.
// p is 1e-12, so it drops one of 9,000 messages with probability 1e-8, which fixed IDs make the same in every run.
func TestRecipe(t *testing.T) {
	const days, each, future = 9, 1000, 8800
	for _, restarts := range []bool{false, true} {
		c := &consumer{}
		var err error
		c.seen, err = rotating.New(each, 1e-12, 24*time.Hour, rotating.WithClock(c.now))
		require.NoError(t, err)
		first, processed := time.Now().AddDate(0, 0, -days), 0
		comes := func(i int) {
			m := message{[]byte(fmt.Sprint("message ", i)), first.Add(time.Duration(i) * 24 * time.Hour / each)}
			if i == future {
				m.Time = time.Date(2106, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			isNew, err := c.isNew(m)
			require.NoError(t, err)
			if isNew {
				processed++
			}
		}
		for i := range days * each {
			if i == days*each/2 && restarts {
				var file bytes.Buffer
				_, err := c.seen.WriteTo(&file)
				require.NoError(t, err)
				c = &consumer{}
				c.seen, err = rotating.Read(&file, rotating.WithClock(c.now))
				require.NoError(t, err)
				for repeated := i - each/2; repeated < i; repeated++ {
					comes(repeated)
				}
			}
			comes(i)
			comes(max(0, i-each/2))
		}
		require.Equal(t, days*each, processed)
		require.LessOrEqual(t, c.seen.Count(), uint64(each*5/4+days*each-future))
	}
}
