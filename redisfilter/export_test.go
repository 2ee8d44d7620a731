package redisfilter

// SetClock makes filters that are opened from now on read the time from the key clock.
func SetClock() (reset func()) {
	clock = "\nlocal ms = tonumber(call('GET', 'clock'))\n"
	return func() { clock = luaClock }
}
