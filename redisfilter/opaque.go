package redisfilter

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/seed3447c163/bloom/redisfilter/internal/opaque"
)

// noEncoding makes the types of this package refuse encoders.
type noEncoding = opaque.Type

// String describes the filter in a line for a log. It asks no server.
func (f *Filter) String() string {
	if f.joined == nil {
		return "redisfilter.Filter(zero)"
	}
	plan := f.joined.plan
	return fmt.Sprintf("redisfilter.Filter(key=%q n=%d p=%g shards=%d %v)", f.joined.shards[0].name, plan.n, plan.p, plan.shards, plan.scheme)
}

// LogValue is String, for package log/slog.
func (f *Filter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// MarshalJSON returns the fields and the text of the error. The cause itself has no form in JSON.
func (e *AddError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Error       string `json:"error"`
		Unknown     []int  `json:"unknown,omitempty"`
		Present     []int  `json:"present,omitempty"`
		Unconfirmed []int  `json:"unconfirmed,omitempty"`
		NotAdded    []int  `json:"not_added,omitempty"`
		Refused     []int  `json:"refused,omitempty"`
	}{e.Error(), e.Unknown, e.Present, e.Unconfirmed, e.NotAdded, e.Refused})
}
