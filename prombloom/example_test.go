package prombloom_test

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/prombloom"
)

// A service registers one Collector for all its filters. Here, the metrics are printed.
func Example() {
	seen := bloom.MustNew(1_000_000, 1e-6)
	seen.AddString("https://go.dev/")

	watch := prombloom.New(10 * time.Second)
	watch.Add("seen", prombloom.Local(seen))
	registry := prometheus.NewRegistry()
	registry.MustRegister(watch)

	metrics, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, family := range metrics {
		switch m := family.GetMetric()[0]; family.GetName() {
		case "bloom_up", "bloom_planned_keys", "bloom_estimated_keys":
			fmt.Println(family.GetName(), m.GetLabel()[0].GetValue(), m.GetGauge().GetValue())
		}
	}
	// Output:
	// bloom_estimated_keys seen 1
	// bloom_planned_keys seen 1e+06
	// bloom_up seen 1
}
