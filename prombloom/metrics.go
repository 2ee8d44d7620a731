package prombloom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bloom_"+name, help, append([]string{"filter"}, labels...), nil)
}

var upDesc = desc("up", "Whether the filter could be asked.")

var lookupsDesc = desc("guard_lookups_total", "What became of lookups: the store was spared, had the key, had it not although the filter said maybe, was asked because no filter was ready, or failed.", "result")

// statsMetrics are gauges of each filter.
var statsMetrics = []struct {
	desc  *prometheus.Desc
	value func(bloom.Stats) float64
}{
	{desc("size_bytes", "Memory of the filter's bits."), func(s bloom.Stats) float64 { return float64(s.SizeBytes) }},
	{desc("planned_keys", "Keys that the filter is for."), func(s bloom.Stats) float64 { return float64(s.N) }},
	{desc("estimated_keys", "Different keys in the filter, estimated from its bits."), func(s bloom.Stats) float64 { return keys(s.EstimatedCount) }},
	{desc("load_ratio", "Estimated keys divided by planned keys."), bloom.Stats.Load},
	{desc("fill_ratio", "Share of the bits that are set."), func(s bloom.Stats) float64 { return s.FillRatio }},
	{desc("false_positive_rate_promised", "False-positive rate at the planned number of keys."), func(s bloom.Stats) float64 { return s.P }},
	{desc("false_positive_rate_estimated", "False-positive rate now, estimated from the bits."), func(s bloom.Stats) float64 { return s.EstimatedFalsePositiveRate }},
}

// countMetrics are those of guards.
var countMetrics = []struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(guard.Counts) float64
}{
	{desc("false_positive_rate_observed", "Share of the absent keys asked for, since the guard was made, that the filter did not know to be absent."), prometheus.GaugeValue, guard.Counts.FalsePositiveRate},
	{desc("guard_ready", "Whether there is a filter that is asked."), prometheus.GaugeValue, func(c guard.Counts) float64 { return number(c.Ready) }},
	{desc("guard_building", "Whether a filter is being built."), prometheus.GaugeValue, func(c guard.Counts) float64 { return number(c.Building) }},
	{desc("guard_listed_keys", "Keys that the build under way, or the last one, has got from the store."), prometheus.GaugeValue, func(c guard.Counts) float64 { return float64(c.Scanned) }},
	{desc("guard_added_keys", "Keys added to the filter that is asked, and that it had not."), prometheus.GaugeValue, func(c guard.Counts) float64 { return float64(c.Keys) }},
	{desc("guard_builds_total", "Filters that were put in the place of another."), prometheus.CounterValue, func(c guard.Counts) float64 { return float64(c.Builds) }},
}
