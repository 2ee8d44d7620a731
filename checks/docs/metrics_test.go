package docs

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/prombloom"
)

// A counted is a source with counts of these names.
type counted []string

func (counted) Stats(context.Context) (bloom.Stats, error) { return bloom.Stats{}, nil }

func (c counted) Metrics() map[string]float64 {
	counts := make(map[string]float64)
	for _, name := range c {
		counts[name] = 1
	}
	return counts
}

// TestMetricsOfRedis: prombloom knows each count of a filter in Redis, and its documentation names each metric.
func TestMetricsOfRedis(t *testing.T) {
	code, err := os.ReadFile(filepath.Join(root, "redisfilter/filter.go"))
	require.NoError(t, err)
	doc, err := os.ReadFile(filepath.Join(root, "prombloom/doc.go"))
	require.NoError(t, err)
	var names counted
	for _, found := range regexp.MustCompile(`"(redis_\w+)":`).FindAllSubmatch(code, -1) {
		names = append(names, string(found[1]))
	}
	require.GreaterOrEqual(t, len(names), 5)
	collector := prombloom.New(0)
	collector.Add("f", names)
	metrics := make(chan prometheus.Metric, 100)
	collector.Collect(metrics)
	close(metrics)
	known := 0
	for m := range metrics {
		_, name, _ := strings.Cut(m.Desc().String(), `fqName: "`)
		if name, _, _ = strings.Cut(name, `"`); strings.HasPrefix(name, "bloom_redis_") {
			known++
			require.Contains(t, string(doc), "//\t"+name+" ")
		}
	}
	require.Equal(t, len(names), known, "of %q", []string(names))
}
