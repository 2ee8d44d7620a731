package growing

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

const (
	// leastKeys is how many keys the first layer is at least for. The slots take as much memory,
	// and each layer less is one less to ask.
	leastKeys = 1024

	// maxKeys is more than a layer of 512 MiB can be for.
	maxKeys = 1 << 33

	// maxLayers is more than a value of 512 MiB can have.
	maxLayers = 32
)

// A layer is a filter for a share of the keys, and where it is in the value.
type layer struct {
	scheme bloom.Scheme
	keys   uint64 // that it takes
	at     uint64 // where the bits begin
	end    uint64 // where they end, and the epoch begins
}

// length returns that of a value of which this is the newest layer.
func (l layer) length() uint64 { return l.end + epochBytes }

// planOf returns for how many keys layer i is, from 0, and at what rate. The rates of all layers
// sum up to p: 1/(1·2) + 1/(2·3) + … = 1. They are those of package scalable.
func (f *Filter) planOf(i int) (keys uint64, rate float64, err error) {
	n := max(f.n, leastKeys)
	if n > maxKeys>>i {
		return 0, 0, fmt.Errorf("%w: layer %d would be for %g keys, want at most %d", bloom.ErrTooLarge, i, float64(n)*float64(uint64(1)<<i), uint64(maxKeys))
	}
	return n << i, f.p / (float64(i+1) * float64(i+2)), nil
}

// layers returns at least the first so many layers. The error wraps bloom.ErrTooLarge if they
// take more than limit.
func (f *Filter) layers(count int, limit uint64) ([]layer, error) {
	f.planning.Lock()
	defer f.planning.Unlock()
	var layers []layer
	if now := f.planned.Load(); now != nil {
		layers = *now
	}
	for i := len(layers); i < count; i++ {
		l, err := f.newLayer(layers)
		if err != nil {
			return nil, err
		}
		layers = append(layers[:i:i], l) // others read the old ones
		f.planned.Store(&layers)
	}
	if got := layers[count-1].length(); got > limit {
		return nil, fmt.Errorf("%w: %d layers take %d bytes, want at most %d", bloom.ErrTooLarge, count, got, limit)
	}
	return layers, nil
}

// newLayer plans the layer that comes after the given ones.
func (f *Filter) newLayer(older []layer) (l layer, err error) {
	i := len(older)
	keys, rate, err := f.planOf(i)
	if err != nil {
		return l, err
	}
	opts := append(f.opts.bloom[:len(f.opts.bloom):len(f.opts.bloom)], bloom.WithMaxBytes(onekey.MaxValue)) // the limit is that of all layers
	l.at = slotsAt + slots*slotBytes
	if i > 0 {
		opts = append(opts, bloom.WithStrategy(older[0].scheme.Strategy()))
		l.at = older[i-1].length()
	}
	if l.scheme, err = bloom.NewScheme(keys, rate, opts...); err != nil { // which names the layer's n and p
		return l, fmt.Errorf("%w, in layer %d of a filter for n = %d keys at p = %v", err, i, f.n, f.p)
	}
	if _, err := onekey.Words(l.scheme); err != nil {
		return l, err
	}
	l.keys = keys
	l.end = l.at + (l.scheme.Params().M+511)/512*blockBytes
	if l.length() > onekey.MaxValue {
		return l, fmt.Errorf("%w: %d layers take %d bytes, want at most %d", bloom.ErrTooLarge, i+1, l.length(), uint64(onekey.MaxValue))
	}
	return l, nil
}
