package prombloom

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
)

// A metric has the label filter. labels has the values of its other labels.
type metric struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels []string
}

func (m metric) of(filter string, value float64) prometheus.Metric {
	return prometheus.MustNewConstMetric(m.desc, m.kind, value, append([]string{filter}, m.labels...)...)
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bloom_"+name, help, append([]string{"filter"}, labels...), nil)
}

func gauge(name, help string) metric   { return metric{desc(name, help), prometheus.GaugeValue, nil} }
func counter(name, help string) metric { return metric{desc(name, help), prometheus.CounterValue, nil} }

// metrics maps a name to its metric. The names are the keys of the maps that valuesOf and the method Metrics of a
// Source return.
var metrics = map[string]metric{
	"up":             gauge("up", "Whether the filter answered."),
	"size_bytes":     gauge("size_bytes", "Memory of the filter's bits."),
	"planned_keys":   gauge("planned_keys", "Keys that the filter is for."),
	"estimated_keys": gauge("estimated_keys", "Different keys in the filter, estimated from its bits."),
	"load_ratio":     gauge("load_ratio", "Estimated keys divided by planned keys."),
	"fill_ratio":     gauge("fill_ratio", "Share of the bits that are set."),
	"rate_promised":  gauge("false_positive_rate_promised", "False-positive rate at the planned number of keys."),
	"rate_estimated": gauge("false_positive_rate_estimated", "False-positive rate now, estimated from the bits."),
	"over_p":         gauge("over_p", "Whether too many keys have raised the rate above the promised one."),

	"false_positive_rate": gauge("false_positive_rate_observed", "Share of absent keys that the filter found, since the guard was made."),
	"ready":               gauge("guard_ready", "Whether the guard has a filter."),
	"listed_keys":         gauge("guard_listed_keys", "Keys listed by the build under way, or by the last one."),
	"added_keys":          gauge("guard_added_keys", "New keys added to the filter."),
	"spared":              lookups("spared"),
	"found":               lookups("found"),
	"false_positives":     lookups("false_positive"),
	"not_ready":           lookups("not_ready"),
	"failed":              lookups("failed"),

	"redis_round_trips": counter("redis_round_trips_total", "Round trips of this process to the server."),
	"redis_keys":        counter("redis_keys_total", "Keys that the server looked up or added."),
	"redis_cache_hits":  counter("redis_cache_hits_total", "Keys that the local cache knew, without the server."),
	"redis_lost":        counter("redis_losses_total", "Losses noticed: the filter or a shard was gone, replaced or cut short."),
	"redis_unsure":      counter("redis_unsure_adds_total", "Keys that an add answered with true although others may win them, too."),
}

var lookupsDesc = desc("guard_lookups_total",
	"Lookups by result: spared (the filter said no), found, false_positive, not_ready, failed (an error of the store).", "result")

func lookups(result string) metric {
	return metric{lookupsDesc, prometheus.CounterValue, []string{result}}
}

// valuesOf returns the values of a filter's metrics.
func valuesOf(s bloom.Stats) map[string]float64 {
	keys := float64(s.EstimatedCount)
	if s.EstimatedCount == math.MaxUint64 {
		keys = math.Inf(1) // every bit is set
	}
	load := 0.0
	if s.N > 0 {
		load = keys / float64(s.N)
	}
	over := 0.0
	if s.OverP() {
		over = 1
	}
	return map[string]float64{
		"size_bytes": float64(s.SizeBytes), "planned_keys": float64(s.N), "estimated_keys": keys, "load_ratio": load,
		"fill_ratio": float64(s.Ones) / float64(max(1, s.M)), "rate_promised": s.P, "rate_estimated": s.EstimatedFalsePositiveRate,
		"over_p": over,
	}
}
