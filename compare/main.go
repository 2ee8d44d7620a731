// Compare measures this library's Bloom filter against the others there are for
// Go, and against Guava's where a JVM is installed: time per operation, memory and
// the false-positive rate, side by side in one run. README.md says what it
// measures and how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed3447c163/bloom/compare/internal/environment"
	"golang.org/x/term"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	data := filepath.Join(o.out, "results.json")
	if o.render {
		r, err := load(data)
		if err != nil {
			return err
		}
		return write(r, o.out)
	}

	peers, left, stop := everyPeer()
	defer stop()
	peers = matching(peers, o.peers)
	if len(peers) == 0 {
		return fmt.Errorf("no peer's name matches %q", o.peers)
	}
	for _, why := range left {
		fmt.Fprintln(os.Stderr, "left out:", why)
	}
	bar := &progress{out: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	p := plan{peers: peers, sizes: o.sizes, rates: o.rates, rounds: o.roundsFor, workers: runtime.GOMAXPROCS(0), quick: o.quick}
	r := &report{Machine: environment.This(strings.Join(append([]string{"go run ./compare"}, args...), " ")), Peers: describe(peers), Left: left}
	err = p.run(bar, func(all []*series, free []float64) error {
		r.Series, r.Free = all, free
		return r.save(data)
	})
	bar.finish()
	if err != nil {
		return err
	}
	return write(r, o.out)
}

// everyPeer returns all that can be measured here, why others can not, and what
// to call when they are no longer needed.
func everyPeer() (peers []*peer, left []string, stop func()) {
	peers = append(goPeers(), floorPeers()...)
	guava, err := startGuava()
	if err != nil {
		return peers, []string{"Guava: " + err.Error()}, func() {}
	}
	return append(peers, guava.peer()), nil, guava.stop
}

// describe keeps of the peers what the tables say.
func describe(peers []*peer) []peerInfo {
	version := environment.Versions()
	var infos []peerInfo
	for _, p := range peers {
		v := p.version
		if v == "" {
			v = version[p.module]
		}
		infos = append(infos, peerInfo{
			Name: p.name, Module: p.module, Version: v, Hash: p.hash, Safe: p.safe.String(),
			Blocked: p.blocked, Static: p.static, Ours: p.ours, Floor: p.floor,
		})
	}
	return infos
}

// write makes the tables and plots of a report.
func write(r *report, dir string) error {
	path := filepath.Join(dir, "results.md")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := r.markdown(f); err != nil {
		_ = f.Close() // the error that is returned says enough
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	plots, err := drawPlots(r, dir)
	for _, file := range append([]string{path}, plots...) {
		fmt.Println(file)
	}
	return err
}
