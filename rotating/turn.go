package rotating

import "sync"

// room reports whether there may be another layer of the same generation. Without, the
// newest one takes more keys than it is sized for: more than n came in a window.
func (f *Filter) room(now *live) bool { return len(*now) < f.plan.maxLayers() }

// turn begins a layer, and with it generation g if that has not begun, unless someone else has
// done so since now was loaded. Who waits for another one's turn has its own generation begun
// by the next, so that nobody waits for more than two.
func (f *Filter) turn(now *live, g int64) {
	for w := f.wanted.Load(); g > w && !f.wanted.CompareAndSwap(w, g); {
		w = f.wanted.Load()
	}
	f.addLayerUnlessDone(now, g)
	f.stock.prepare(f.plan.layerKeys()) // the others go on; this caller has the work
}

func (f *Filter) addLayerUnlessDone(now *live, g int64) {
	f.turning.Lock()
	defer f.turning.Unlock() // also if there is no memory
	if l := f.live.Load(); l == now || l.newest().generation < g {
		f.addLayer(l, l.generation(f.wanted.Load()), false)
	}
}

// addLayer begins a layer of generation g, with or without a ticket for the caller, and forgets
// those that are too old by then. Turning must be locked. It panics, and has changed nothing, if
// there is no memory for the layer.
func (f *Filter) addLayer(now *live, g int64, ticket bool) *entry {
	keep := 0
	for keep < len(*now) && (*now)[keep].generation < g-int64(f.plan.generations) {
		keep++
	}
	l := f.stock.take(f.plan.layerKeys())
	if l == nil {
		var err error
		if l, err = f.newLayer(); err != nil {
			panic(err) // seldom: as much was to be had for the first one
		}
	}
	if ticket {
		l.tickets.Take()
	}
	f.serial++
	next := make(live, 0, len(*now)-keep+1)
	next = append(next, (*now)[keep:]...)
	next = append(next, entry{l, g, f.serial})
	f.live.Store(&next)
	f.stock.retire((*now)[:keep])
	return next.newest()
}

// A stock has the layers that are out of use.
type stock struct {
	mu      sync.Mutex // held while a layer is made clean
	retired []*layer   // out of every new live, and not clean yet
	clean   []*layer
}

// take returns a clean layer, or nil if there is none.
func (s *stock) take(keys uint64) *layer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanOne(keys)
	last := len(s.clean) - 1
	if last < 0 {
		return nil
	}
	l := s.clean[last]
	s.clean = s.clean[:last]
	return l
}

// retire takes layers that are not live any more.
func (s *stock) retire(old live) {
	if len(old) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range old {
		s.retired = append(s.retired, e.layer)
	}
}

// prepare makes a clean layer for the next call of addLayer.
func (s *stock) prepare(keys uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanOne(keys)
}

// cleanOne makes a layer clean, if there is none and one is to be had. Of those that are
// retired, only as many are cleared as are needed: after a long pause all are.
func (s *stock) cleanOne(keys uint64) {
	for len(s.clean) == 0 && len(s.retired) > 0 {
		last := len(s.retired) - 1
		l := s.retired[last]
		s.retired[last] = nil
		s.retired = s.retired[:last]
		if !l.tickets.Idle() {
			continue // someone is still inside: it is theirs, not to be used again
		}
		l.Clear()
		l.tickets.Refill(keys)
		s.clean = append(s.clean, l)
	}
}

// layers returns how many there are.
func (s *stock) layers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.retired) + len(s.clean)
}
