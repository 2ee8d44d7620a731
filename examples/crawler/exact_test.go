package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// All workers offer the same URLs at the same time: the filter must have one
// winner for each, and the exact set must not take who came first for a difference.
func TestExactSetUnderConcurrency(t *testing.T) {
	const workers, urls = 2, 20_000
	c := newCrawler(config{exact: true}, bloom.MustNew(urls, 1e-9))
	var added, arrived atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range int64(urls) {
				url := fmt.Sprintf("http://example.org/%d", i)
				// Spin, to be off within nanoseconds of each other.
				arrived.Add(1)
				for arrived.Load() < workers*(i+1) {
					runtime.Gosched()
				}
				if c.add(url) {
					added.Add(1)
				}
			}
		})
	}
	wg.Wait()
	falsePositives, misses := c.differences()
	assert.Empty(t, falsePositives)
	assert.Empty(t, misses)
	assert.EqualValues(t, urls, added.Load())
}

func TestDifferences(t *testing.T) {
	start, err := resolve(base(t), "/")
	require.NoError(t, err)
	c := newCrawler(config{exact: true, starts: []target{start}}, bloom.MustNew(100, 1e-6))
	c.count("pages fetched", 1)
	for _, url := range []string{"/right", "/unlucky", "/twice"} {
		c.seen.AddString(url)
	}
	c.wins = map[string]int{"/right": 1, "/unlucky": 0, "/twice": 2, "/lost": 1}

	falsePositives, misses := c.differences()
	assert.Equal(t, []string{"/unlucky"}, falsePositives)
	assert.Equal(t, []string{"/lost", "/twice"}, misses)

	var out bytes.Buffer
	assert.ErrorContains(t, c.report(&out), "the filter forgot 2 URLs: /lost /twice")
	assert.Contains(t, out.String(), "false positive: /unlucky\n")
}

// The exact set's size in the summary is an estimate: this is what it rests on.
// A map doubles now and then, so the sizes go from one doubling to the next.
func TestExactOverhead(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("NOT TESTED on 32 bits: the estimate is for 64-bit machines")
	}
	const steps = 8
	var perKey float64
	for step := range steps {
		keys := int(math.Exp2(14 + (float64(step)+0.5)/steps))
		before := heapBytes()
		set := make(map[string]struct{})
		size := 0
		for i := range keys {
			url := fmt.Sprintf("http://example.org/%0*d", 14+i%64, i) // 33 to 96 bytes
			size += len(url)
			set[url] = struct{}{}
		}
		perKey += (float64(heapBytes()-before) - float64(size)) / float64(keys) / steps
		runtime.KeepAlive(set)
	}
	assert.InEpsilon(t, exactOverhead, perKey, 0.1)
}

func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
