package rotating

// room reports whether there may be another layer of the same generation. Without, the
// newest one takes more keys than it is sized for: more than n came in a window.
func (f *Filter) room(now *live) bool { return len(*now) < f.plan.maxLayers() }

// turn begins a layer for generation g and forgets those that are too old by then,
// unless something has changed since now was loaded.
func (f *Filter) turn(now *live, g int64) {
	f.turning.Lock()
	defer f.turning.Unlock()
	if f.live.Load() != now {
		return
	}
	keep := 0
	for (*now)[keep].generation < g-int64(f.plan.generations) {
		if keep++; keep == len(*now) {
			break
		}
	}
	f.born++
	next := make(live, 0, len(*now)-keep+1)
	next = append(next, (*now)[keep:]...)
	next = append(next, entry{f.cleanLayer(), g, f.born})
	f.live.Store(&next)

	// The others go on; this caller has the work.
	for _, e := range (*now)[:keep] {
		f.retired = append(f.retired, e.layer)
	}
	f.recycle()
}

// cleanLayer returns one for the keys to come.
func (f *Filter) cleanLayer() *layer {
	f.recycle()
	if last := len(f.clean) - 1; last >= 0 {
		l := f.clean[last]
		f.clean = f.clean[:last]
		return l
	}
	l, err := f.newLayer()
	if err != nil {
		panic(err) // never: the first one could be made
	}
	return l
}

// recycle sees to it that there is a clean layer, if one is to be had. Of those that
// are retired, only as many are cleared as are needed: after a long pause all are.
func (f *Filter) recycle() {
	for len(f.clean) == 0 && len(f.retired) > 0 {
		last := len(f.retired) - 1
		l := f.retired[last]
		f.retired[last] = nil
		f.retired = f.retired[:last]
		if !l.tickets.Idle() {
			continue // someone is still inside: it is theirs, not to be used again
		}
		l.Clear()
		l.tickets.Refill(f.plan.layerKeys())
		f.clean = append(f.clean, l)
	}
}
