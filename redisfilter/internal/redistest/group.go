package redistest

import "sync"

// A Group is a sync.WaitGroup with the method Go, which that type has from Go 1.25 on.
type Group struct{ sync.WaitGroup }

// Go calls f in a new goroutine, for which Wait waits.
func (g *Group) Go(f func()) {
	g.Add(1)
	go func() {
		defer g.Done()
		f()
	}()
}
