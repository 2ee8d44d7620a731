package prombloom

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// A filled is a filter of any kind.
type filled interface {
	Stats() bloom.Stats
	Contains(key []byte) bool
}

func numbered(first, count uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := range count {
			if !yield(fmt.Append(nil, first+i), nil) {
				return
			}
		}
	}
}

// numbers is a store of these keys.
type numbers uint64

func (s numbers) Keys(context.Context, []byte) iter.Seq2[[]byte, error] {
	return numbered(0, uint64(s))
}
func (s numbers) Position(context.Context) ([]byte, error) { return []byte("0"), nil }

// kinds fill a filter of each kind, which is for n keys, with count keys.
func kinds(t *testing.T, n uint64, p float64) map[string]func(count uint64) filled {
	all := map[string]func(count uint64) filled{
		"scalable": func(count uint64) filled {
			f, err := scalable.New(n, p)
			return addAll(t, f, err, count)
		},
		"rotating": func(count uint64) filled {
			now := time.Now()
			f, err := rotating.New(n, p, time.Hour, rotating.WithClock(func() time.Time { return now }))
			addAll(t, f, err, count)
			now = now.Add(time.Hour)
			return addAll(t, f, err, count)
		},
		"redisbloom": func(count uint64) filled {
			f, err := redisbloom.New(redisbloom.Plan{N: n, P: p, Expansion: 2})
			return addAll(t, f, err, count)
		},
		"counting": func(count uint64) filled {
			f, err := counting.New(n, p)
			return addAll(t, unfailing{f}, err, count)
		},
		"cascade": func(count uint64) filled {
			f, err := cascade.New(t.Context(), p, numbered(0, count), numbered(1<<40, count))
			require.NoError(t, err)
			return f
		},
		"file": func(count uint64) filled {
			f, err := persist.Open(filepath.Join(t.TempDir(), "filter"), n, p)
			t.Cleanup(func() { f.Close() })
			return addAll(t, unfailing{f}, err, count)
		},
		"guard": func(count uint64) filled {
			g, err := guard.New("", n, p, numbers(n/2))
			require.NoError(t, err)
			require.NoError(t, g.Open(t.Context()))
			for key := range numbered(0, count) {
				require.NoError(t, g.Put(func() error { return nil }, key))
			}
			return g
		},
	}
	for _, s := range bloom.Strategies() {
		all[s.Name()] = func(count uint64) filled {
			f, err := bloom.New(n, p, bloom.WithStrategy(s))
			return addAll(t, unfailing{f}, err, count)
		}
	}
	return all
}

type unfailing struct {
	filter interface {
		filled
		Add(key []byte) bool
	}
}

func (u unfailing) Stats() bloom.Stats           { return u.filter.Stats() }
func (u unfailing) Contains(key []byte) bool     { return u.filter.Contains(key) }
func (u unfailing) Add(key []byte) (bool, error) { return u.filter.Add(key), nil }

func addAll(t *testing.T, f interface {
	filled
	Add(key []byte) (bool, error)
}, err error, count uint64) filled {
	require.NoError(t, err)
	for key := range numbered(0, count) {
		_, err := f.Add(key)
		require.NoError(t, err)
	}
	return f
}

// TestFull fills a filter of each kind with fewer keys than planned, with n, with so many that the rate is twice p, and
// with many more. Stats.OverP, the metric and the alert speak only if the rate of absent keys is above p, and they
// do if the rate is twice p. The keys are fixed, so nothing depends on chance.
func TestFull(t *testing.T) {
	const n, p, probes = 10_000, 0.01, 100_000
	twice := n
	for s := bloom.MustNew(n, p); s.Scheme().Strategy().FalsePositiveRate(s.Params().M, s.Params().K, uint64(twice)) < 2*p; {
		twice += n / 100
	}
	c, alerts := New(time.Hour), map[string]bool{}
	for kind, fill := range kinds(t, n, p) {
		spoke := false
		for _, count := range []uint64{1, n / 2, n, uint64(twice), 5 * n} {
			f := fill(count)
			wrong := 0
			for key := range numbered(1<<60, probes) {
				if f.Contains(key) {
					wrong++
				}
			}
			rate, s, name := float64(wrong)/probes, f.Stats(), fmt.Sprint(kind, count)
			over := s.OverP()
			t.Logf("%s: rate %.4f, %d of %d keys, over p: %v", name, rate, s.EstimatedCount, s.N, over)
			require.False(t, over && (rate <= p || count <= n), "%s has rate %v", name, rate)
			require.True(t, over || rate < 2*p-4*math.Sqrt(2*p/probes), "%s has rate %v", name, rate)
			spoke = spoke || over
			c.Add(name, Local(f))
			alerts[name] = over
		}
		grows := map[string]bool{"scalable": true, "rotating": true, "redisbloom": true, "cascade": true}[kind]
		require.Equal(t, !grows, spoke, kind)
	}
	testAlerts(t, c, alerts)
}

// testAlerts gives the metrics of a Collector to promtool. BloomFilterFull is for the filters that are marked.
func testAlerts(t *testing.T, c *Collector, full map[string]bool) {
	rules, err := filepath.Abs("alerts.yml")
	require.NoError(t, err)
	var test strings.Builder
	fmt.Fprintf(&test, "rule_files: [%q]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n", rules)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() // it has one of both
			fmt.Fprintf(&test, "      - {series: '%s{%s}', values: '%vx60'}\n", family.GetName(), strings.Join(labels, ","), value)
		}
	}
	fmt.Fprint(&test, "    alert_rule_test:\n      - eval_time: 40m\n        alertname: BloomFilterFull\n        exp_alerts:\n")
	for name, over := range full {
		if over {
			text := "Filter " + name + " has too many keys: its rate is above the promised one."
			fmt.Fprintf(&test, "          - {exp_labels: {filter: %s}, exp_annotations: {summary: %q}}\n", name, text)
		}
	}
	path := filepath.Join(t.TempDir(), "test.yml")
	require.NoError(t, os.WriteFile(path, []byte(test.String()), 0o600))
	out, err := exec.Command(promtool(t), "test", "rules", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
