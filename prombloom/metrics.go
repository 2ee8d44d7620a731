package prombloom

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bloom_"+name, help, append([]string{"filter"}, labels...), nil)
}

var upDesc = desc("up", "Whether the filter answered.")

// statsMetrics are gauges of each filter.
var statsMetrics = []struct {
	desc  *prometheus.Desc
	value func(bloom.Stats) float64
}{
	{desc("size_bytes", "Memory of the filter's bits."), func(s bloom.Stats) float64 { return float64(s.SizeBytes) }},
	{desc("planned_keys", "Keys that the filter is for."), func(s bloom.Stats) float64 { return float64(s.N) }},
	{desc("estimated_keys", "Different keys in the filter, estimated from its bits."), estimated},
	{desc("load_ratio", "Estimated keys divided by planned keys."), bloom.Stats.Load},
	{desc("fill_ratio", "Share of the bits that are set."), func(s bloom.Stats) float64 { return s.FillRatio }},
	{desc("false_positive_rate_promised", "False-positive rate at the planned number of keys."), func(s bloom.Stats) float64 { return s.P }},
	{desc("false_positive_rate_estimated", "False-positive rate now, estimated from the bits."), estimatedRate},
}

func estimatedRate(s bloom.Stats) float64 { return s.EstimatedFalsePositiveRate }

func estimated(s bloom.Stats) float64 {
	if s.EstimatedCount == math.MaxUint64 {
		return math.Inf(1) // every bit is set
	}
	return float64(s.EstimatedCount)
}

// A count is the metric of one of the counts of guards and of filters in Redis.
type count struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string
}

// counts has them by their names in Metrics.
var counts = func() map[string]count {
	const gauge, total = prometheus.GaugeValue, prometheus.CounterValue
	counts := map[string]count{
		"false_positive_rate": {
			desc("false_positive_rate_observed", "Share of absent keys that the filter found, since the guard was made."), gauge, nil,
		},
		"ready":   {desc("guard_ready", "Whether the guard has a filter."), gauge, nil},
		"scanned": {desc("guard_listed_keys", "Keys listed by the build under way, or by the last one."), gauge, nil},
		"keys":    {desc("guard_added_keys", "New keys added to the filter."), gauge, nil},

		"redis_round_trips": {desc("redis_round_trips_total", "Round trips of this process to the server."), total, nil},
		"redis_keys":        {desc("redis_keys_total", "Keys that the server looked up or added."), total, nil},
		"redis_cache_hits":  {desc("redis_cache_hits_total", "Keys that the local cache knew, without the server."), total, nil},
		"redis_bytes":       {desc("redis_sent_bytes_total", "Bytes sent in adds and lookups."), total, nil},
		"redis_lost":        {desc("redis_losses_total", "Losses noticed: the filter was gone, or older than what was confirmed."), total, nil},
		"redis_unknown":     {desc("redis_unknown_adds_total", "Keys of adds without an answer."), total, nil},
	}
	lookups := desc("guard_lookups_total",
		"Lookups by result: spared (the filter said no), found, false_positive, not_ready, failed (an error of the store).", "result")
	for name, result := range map[string]string{
		"spared": "spared", "found": "found", "false_positives": "false_positive", "not_ready": "not_ready", "failed": "failed",
	} {
		counts[name] = count{lookups, total, []string{result}}
	}
	return counts
}()
