package prombloom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
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

// lookupResults are the counts of a guard that say what became of lookups.
var lookupResults = map[string]string{
	"spared": "spared", "found": "found", "false_positives": "false_positive", "not_ready": "not_ready", "failed": "failed",
}

// countMetrics are those of the other counts, of guards and of filters in Redis, by their names.
var countMetrics = map[string]struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}{
	"false_positive_rate": {desc("false_positive_rate_observed", "Share of the absent keys asked for, since the guard was made, that the filter did not know to be absent."), prometheus.GaugeValue},
	"ready":               {desc("guard_ready", "Whether there is a filter that is asked."), prometheus.GaugeValue},
	"scanned":             {desc("guard_listed_keys", "Keys that the build under way, or the last one, has got from the store."), prometheus.GaugeValue},
	"keys":                {desc("guard_added_keys", "Keys added to the filter that is asked, and that it had not."), prometheus.GaugeValue},

	"redis_round_trips": {desc("redis_round_trips_total", "Waits of this process for the server."), prometheus.CounterValue},
	"redis_keys":        {desc("redis_keys_total", "Keys that the server was asked for or to add."), prometheus.CounterValue},
	"redis_front_hits":  {desc("redis_front_hits_total", "Keys that the front filter knew, so that the server was not asked."), prometheus.CounterValue},
	"redis_bytes":       {desc("redis_sent_bytes_total", "Bytes sent in adds and lookups."), prometheus.CounterValue},
	"redis_lost":        {desc("redis_losses_total", "Losses noticed: the filter was gone, or older than what was confirmed."), prometheus.CounterValue},
	"redis_unknown":     {desc("redis_unknown_adds_total", "Keys of adds without an answer."), prometheus.CounterValue},
}
