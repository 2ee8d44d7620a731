// Package internal has no code. Each of its packages either is imported by package bloom or imports it.
//
// Package bloom imports batch, failure, format, memory, probe, rapidhash, rate and vector, directly or not.
//
// Two folders import bloom: layered, for filters of several layers, and testing, for tests only.
package internal
