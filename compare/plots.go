package main

import (
	"fmt"
	"image/color"
	"path/filepath"
)

// Ours is blue, the floor green, a broken promise red and everyone else grey; the
// three operations are three shades of each.
var (
	broken    = color.RGBA{0xc6, 0x28, 0x28, 0xff}
	oursShade = shades{{0x0b, 0x3c, 0x7d, 0xff}, {0x2b, 0x7b, 0xc4, 0xff}, {0x93, 0xc4, 0xe9, 0xff}}
	peerShade = shades{{0x4a, 0x4a, 0x4a, 0xff}, {0x8c, 0x8c, 0x8c, 0xff}, {0xc9, 0xc9, 0xc9, 0xff}}
	lineShade = shades{{0x1b, 0x6e, 0x3c, 0xff}, {0x45, 0xa8, 0x6b, 0xff}, {0xa6, 0xd9, 0xb7, 0xff}}
)

// shades are those of the operations that plots show.
type shades [3]color.RGBA

var shownOps = [3]int{opAdd, opHit, opMiss}

func shadesOf(p *peerInfo) shades {
	switch {
	case p.Ours:
		return oursShade
	case p.Floor:
		return lineShade
	}
	return peerShade
}

// drawPlots makes all plots of a report and returns their files.
func drawPlots(r *report, dir string) (files []string, err error) {
	for _, at := range r.settings() {
		for _, parallel := range []bool{false, true} {
			cores := map[bool]string{false: "one", true: "all"}[parallel]
			path := filepath.Join(dir, fmt.Sprintf("ns-n%d-p%g-%s.svg", at.n, at.p, cores))
			drawn, err := drawBars(r, at, parallel, path)
			if err != nil {
				return files, err
			}
			if drawn {
				files = append(files, path)
			}
		}
	}
	path := filepath.Join(dir, "rate.svg")
	if err := drawRates(r, path); err != nil {
		return files, err
	}
	files = append(files, path)
	more, err := drawSizes(r, dir)
	return append(files, more...), err
}
