package redistest

import "sync"

// A Group is a sync.WaitGroup with the method Go of Go 1.25.
type Group struct{ sync.WaitGroup }

// Go calls f in a new goroutine. Wait waits for it.
func (g *Group) Go(f func()) {
	g.Add(1)
	go func() {
		defer g.Done()
		f()
	}()
}
