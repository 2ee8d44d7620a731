//go:build race

package redisfilter_test

const raceEnabled = true
