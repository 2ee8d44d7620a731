package prombloom

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// store has the keys "0" to "9", and lists "gone" too.
type store struct{}

func (store) Keys(context.Context, []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, key := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "gone"} {
			if !yield([]byte(key), nil) {
				return
			}
		}
	}
}

func (store) Position(context.Context) ([]byte, error) { return []byte("0"), nil }

func (store) get(_ context.Context, key []byte) (value struct{}, found bool, err error) {
	if string(key) == "error" {
		return value, false, errors.New("broken")
	}
	return value, len(key) == 1 && key[0] >= '0' && key[0] <= '9', nil
}

func ask(g *guard.Guard, keys ...string) {
	for _, key := range keys {
		_, _, _ = guard.Get(context.Background(), g, []byte(key), store{}.get)
	}
}

func newGuard(t *testing.T) *guard.Guard {
	t.Helper()
	g, err := guard.New("", 20, 1e-6, store{})
	require.NoError(t, err)
	return g
}

// remote is a filter somewhere else.
type remote struct {
	stats bloom.Stats
	err   error
	asked atomic.Int64
	wait  func(ctx context.Context)
}

func (r *remote) Stats(ctx context.Context) (bloom.Stats, error) {
	r.asked.Add(1)
	if r.wait != nil {
		r.wait(ctx)
	}
	return r.stats, r.err
}

// redis is a remote filter with counts.
type redis struct{ remote }

func (*redis) Metrics() map[string]float64 {
	metrics := map[string]float64{}
	for i, name := range []string{"redis_round_trips", "redis_keys", "redis_cache_hits", "redis_lost", "redis_unsure", "something new"} {
		metrics[name] = float64(i + 1)
	}
	return metrics
}

// TestScrape: a server gets these metrics of a filter, a guard, a guard that is not ready, a filter in
// Redis, a full filter, and a filter that does not answer.
func TestScrape(t *testing.T) {
	c := New(time.Minute)
	f := bloom.MustNew(1000, 0.01)
	for i := range 500 {
		f.Add([]byte{byte(i), byte(i >> 8)})
	}
	c.Add("memory", Local(f))
	g := newGuard(t)
	ask(g, "0", "x")
	require.NoError(t, g.Open(t.Context()))
	ask(g, "0", "1", "2", "gone", "x", "y", "z", "error") // the store is spared the last, too
	_ = g.Put(func() error { return nil }, []byte("error"))
	ask(g, "error")
	c.Add("guard", Local(g))
	c.Add("new", Local(newGuard(t)))
	c.Add("redis", &redis{remote{stats: f.Stats()}})
	c.Add("full", &remote{stats: bloom.Stats{Params: bloom.Params{N: 1, P: 0.5, M: 64, K: 1}, Ones: 64, EstimatedCount: math.MaxUint64, EstimatedFalsePositiveRate: 1}})
	c.Add("silent", &remote{err: errors.New("no connection")})
	c.Add("removed", Local(f))
	c.Remove("removed")

	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	got, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/scrape.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	problems, err := testutil.CollectAndLint(c)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// TestDocumented: every metric is in the package's doc comment, and the rules name no others.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	descs := make(chan *prometheus.Desc, 100)
	New(0).Describe(descs)
	close(descs)
	names := map[string]bool{}
	for d := range descs {
		name := strings.Split(d.String(), `"`)[1]
		require.Contains(t, string(doc), "\t"+name+" ")
		names[name] = true
	}
	rules, err := os.ReadFile("alerts.yml")
	require.NoError(t, err)
	for _, word := range strings.FieldsFunc(string(rules), func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		require.True(t, names[word] || !strings.HasPrefix(word, "bloom_"), word)
	}
}

// promtool returns the path of promtool. Without it, the test is skipped, or fails if BLOOM_REQUIRE is set.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("BLOOM_REQUIRE") == "" {
		t.Skip("NOT TESTED without promtool (Debian: prometheus): see .ci/install")
	}
	require.NoError(t, err)
	return path
}

// TestAlerts runs the unit tests of alerts.yml.
func TestAlerts(t *testing.T) {
	out, err := exec.Command(promtool(t), "test", "rules", "testdata/alerts_test.yml").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestOddFilters: a file that was closed, a filter that panics and a name that is not UTF-8 do not end
// the program. Nil and zero filters are refused.
func TestOddFilters(t *testing.T) {
	file, err := persist.Open(filepath.Join(t.TempDir(), "seen"), 100, 0.01)
	require.NoError(t, err)
	c := New(time.Hour)
	c.Add("closed", Local(file))
	c.Add("panics", Local(panics("another")))
	c.Add("zero", zeroSource{})
	c.Add("\xff", Local(file))
	c.Add("\xfe", Local(bloom.MustNew(100, 0.01))) // replaces it: two metrics of one name would fail all
	c.Add("\xffx", Local(file))
	c.Remove("\xfex")
	require.NoError(t, file.Close())
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`
		# HELP bloom_up Whether the filter answered.
		# TYPE bloom_up gauge
		bloom_up{filter="closed"} 0
		bloom_up{filter="panics"} 0
		bloom_up{filter="zero"} 0
		bloom_up{filter="�"} 1
	`), "bloom_up"))
	require.PanicsWithValue(t, "prombloom: a nil Source", func() { c.Add("nil", nil) })
	require.PanicsWithValue(t, "prombloom: a nil Source", func() { c.Add("nil", (*remote)(nil)) })
	require.PanicsWithValue(t, "prombloom: a nil filter", func() { Local(nil) })
	require.PanicsWithValue(t, "prombloom: a nil filter", func() { Local((*guard.Guard)(nil)) })
	for _, zero := range []interface{ Stats() bloom.Stats }{new(bloom.BloomFilter), new(rotating.Filter), new(scalable.Filter), new(counting.Filter)} {
		require.Panics(t, func() { Local(zero) }, "%T", zero)
	}
	Local(new(cascade.Cascade)) // has two empty lists
	zero := new(Collector)
	zero.Remove("x")
	require.Zero(t, collect(zero))
	zero.Add("x", &remote{})
	require.Equal(t, 1, collect(zero))
}

type panics string

func (p panics) Stats() bloom.Stats          { panic(string(p)) }
func (p panics) Metrics() map[string]float64 { panic(string(p)) }

// A zeroSource is not made by Local.
type zeroSource struct{ bloom.BloomFilter }

func (z zeroSource) Stats(context.Context) (bloom.Stats, error) { return z.BloomFilter.Stats(), nil }

// collect returns how many metrics there are. A filter has 9, and 1 if it is down.
func collect(c *Collector) int {
	metrics := make(chan prometheus.Metric, 100)
	c.Collect(metrics)
	return len(metrics)
}
