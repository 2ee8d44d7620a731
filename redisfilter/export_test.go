package redisfilter

// SetClock makes filters that are opened from now on read the time from the key clock.
func SetClock() (reset func()) {
	clock = "\nlocal ms = tonumber(call('GET', 'clock'))\n"
	return func() { clock = luaClock }
}

// Age makes the slots of a handle old enough for the next add to renew their time.
func (f *Filter) Age() {
	for _, s := range f.shards {
		s.life.Load().slot.Load().touched.Store(0)
	}
}
