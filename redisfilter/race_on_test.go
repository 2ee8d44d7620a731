//go:build race

package redisfilter

const raceEnabled = true
