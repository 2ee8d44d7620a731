// Package internal has no code. Each of its packages either is imported by package bloom or imports it.
//
// Below, imported by package bloom, directly or not: batch, failure, format, memory, probe, rapidhash, rate and vector.
//
// Above, importing package bloom: layered, for filters of several layers, and testing, for tests only.
package internal
