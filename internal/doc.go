// Package internal has no code. Its packages stand below or above package bloom, never both.
//
// Below, imported by bloom and never importing it: batch, failure, format, memory, probe, rapidhash, rate, vector.
//
// Above, importing bloom: layered, for filters of several layers, and testing, for tests only.
package internal
