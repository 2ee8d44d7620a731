package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/guard"
)

// Inserts into a table without a log and through a guard, in turns, saves after a hundred inserts each, and lists of all keys, on
// servers with their usual settings. The times are medians:
//
//	go test ./checks/sqlstore -run '^$' -bench . -benchtime 1000x
func BenchmarkStore(b *testing.B) {
	for name, newServer := range servers {
		s := newServer(b)
		w := newWorld(b, s)
		execute(b, w.db, strings.ReplaceAll(quoted(s, create), "order", "plain"))
		w.restart(b)
		n := 0
		next := func() string {
			n++
			return fmt.Sprintf(quoted(s, insert), fmt.Sprintf("key %9d", n))
		}
		b.Run(fmt.Sprintf("db=%s/op=put", name), func(b *testing.B) {
			var plain, put []float64
			for b.Loop() {
				plain = append(plain, micros(func() { execute(b, w.db, strings.Replace(next(), "order", "plain", 1)) }))
				put = append(put, micros(func() {
					require.NoError(b, w.guard.Put(func() error { execute(b, w.db, next()); return nil }, []byte("key")))
				}))
			}
			b.ReportMetric(median(plain), "µs/insert")
			b.ReportMetric(median(put), "µs/put")
		})
		b.Run(fmt.Sprintf("db=%s/op=position", name), func(b *testing.B) {
			var position []float64
			for i := 0; b.Loop(); i++ {
				if i%10 == 0 {
					for range 100 {
						execute(b, w.db, next())
					}
					position = append(position, micros(func() {
						_, err := w.store(b).Position(context.Background())
						require.NoError(b, err)
					}))
				}
			}
			b.ReportMetric(median(position), "µs/position")
		})
		b.Run(fmt.Sprintf("db=%s/op=list", name), func(b *testing.B) {
			fill(b, w, 1_000_000)
			g, err := guard.New("", 1_100_000, 0.01, w.store(b))
			require.NoError(b, err)
			b.ResetTimer()
			for range min(b.N, 3) {
				require.NoError(b, g.Open(context.Background()))
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(min(b.N, 3))/g.Metrics()["listed_keys"]*1e6, "s/1e6-keys")
		})
	}
}

func micros(call func()) float64 {
	began := time.Now()
	call()
	return float64(time.Since(began).Nanoseconds()) / 1000
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// fill brings the table to about n rows, a thousand per statement.
func fill(b *testing.B, w *world, n int) {
	if get(b, w.db, quoted(w, `SELECT COUNT(*) FROM {order} WHERE {value} = 2`)) != "0" {
		return
	}
	for i := 0; i < n; i += 1000 {
		statement := quoted(w, `INSERT INTO {order} VALUES `)
		for j := range 1000 {
			if j > 0 {
				statement += ","
			}
			statement += fmt.Sprintf("('filled %9d', 2)", i+j)
		}
		execute(b, w.db, statement)
	}
}
