package main

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func numbered(i int) page { return page{target: target{path: strconv.Itoa(i)}} }

func TestFrontierLevels(t *testing.T) {
	q := newFrontier(0)
	q.push(numbered(1))
	q.push(numbered(2))
	p1, _ := q.pop()
	p2, _ := q.pop()
	assert.Equal(t, []page{numbered(1), numbered(2)}, []page{p1, p2})

	q.push(numbered(3))
	q.finish()
	popped := make(chan page)
	go func() {
		p, _ := q.pop()
		popped <- p
	}()
	select {
	case p := <-popped:
		t.Fatalf("page %s was handed out while a page of the level above is being fetched", p.path)
	case <-time.After(20 * time.Millisecond):
	}
	q.finish()
	assert.Equal(t, numbered(3), <-popped)
	q.finish()
	_, ok := q.pop()
	assert.False(t, ok)
}

// close wakes those who wait, and the queue stays as it is.
func TestFrontierClose(t *testing.T) {
	q := newFrontier(0)
	q.push(numbered(1))
	_, ok := q.pop()
	assert.True(t, ok)
	q.push(numbered(2))

	var waiters sync.WaitGroup
	for range 3 {
		waiters.Go(func() {
			_, ok := q.pop()
			assert.False(t, ok)
		})
	}
	time.Sleep(10 * time.Millisecond) // for them to wait; the test holds either way
	q.close()
	waiters.Wait()
	assert.Equal(t, 1, q.waiting())
}

// Workers that make pages of pages: each is handed out once, and all workers end.
func TestFrontierWorkers(t *testing.T) {
	for _, test := range []struct{ workers, limit, want int }{{1, 0, 10_000}, {16, 0, 10_000}, {16, 500, 500}} {
		q := newFrontier(test.limit)
		q.push(numbered(1))
		var mu sync.Mutex
		got := make(map[string]int)
		var workers sync.WaitGroup
		for range test.workers {
			workers.Go(func() {
				for {
					p, ok := q.pop()
					if !ok {
						return
					}
					mu.Lock()
					got[p.path]++
					mu.Unlock()
					i, err := strconv.Atoi(p.path)
					assert.NoError(t, err)
					for _, child := range []int{2 * i, 2*i + 1} {
						if child <= 10_000 {
							q.push(numbered(child))
						}
					}
					q.finish()
				}
			})
		}
		workers.Wait()
		assert.Len(t, got, test.want)
		for path, n := range got {
			if n != 1 {
				t.Fatalf("page %s was handed out %d times", path, n)
			}
		}
	}
}
