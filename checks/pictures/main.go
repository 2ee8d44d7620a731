// Pictures draws the pictures of the documents, for light and dark pages:
//
//	cd checks && go run ./pictures ../docs
//
// memory.svg and rate.svg show measured numbers, which are the same at every run. speed.svg and README's sentence about
// speed show the times in the tables of performance.md.
package main

import (
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: pictures FOLDER, with performance.md")
	}
	for name, draw := range pictures {
		text, err := draw(os.Args[1])
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// pictures has functions that return the text of each file. Their argument is the folder of the documents.
var pictures = map[string]func(docs string) (string, error){
	"memory.svg": memory, "rate.svg": rate, "speed.svg": speed, "../README.md": readme,
}

// expected is n of the filters that the pictures show.
const expected = 10_000

// memory draws the bits per key of a plain filter for exactly the keys, and of a scalable and a rotating filter for
// expected keys, while they get up to 100 times as many. All keys of the rotating filter come in one window.
func memory(string) (string, error) {
	plain, grown, rotated := line{name: "plain, for just these keys"}, line{name: "scalable"}, line{name: "rotating"}
	s, err := scalable.New(expected, 0.01)
	if err != nil {
		return "", err
	}
	now := time.Unix(0, 0)
	r, err := rotating.New(expected, 0.01, time.Hour, rotating.WithClock(func() time.Time { return now }))
	if err != nil {
		return "", err
	}
	next := 0
	for step := range 200 {
		keys := int(expected / 10 * math.Pow(1000, float64(step)/199))
		for ; next < keys; next++ {
			key := strconv.AppendInt(nil, int64(next), 10)
			if _, err := s.Add(key); err != nil {
				return "", err
			}
			if _, err := r.Add(key); err != nil {
				return "", err
			}
			now = time.Unix(0, int64(time.Hour)*int64(next)/(100*expected))
		}
		f, err := bloom.New(uint64(keys), 0.01)
		if err != nil {
			return "", err
		}
		at := float64(keys) / expected
		bits := func(bytes uint64) float64 { return 8 * float64(bytes) / float64(keys) }
		plain.points = append(plain.points, point{at, bits(f.SizeBytes())})
		grown.points = append(grown.points, point{at, bits(s.SizeBytes())})
		rotated.points = append(rotated.points, point{at, bits(r.SizeBytes())})
	}
	return chart{
		title: "Bits per key by number of keys, as multiples of n (n = 10,000, p = 1 %)",
		x:     axis{0.1, 100, []tick{{0.1, "n/10"}, {1, "n"}, {10, "10 n"}, {100, "100 n"}}},
		y:     axis{5, 200, []tick{{5, "5"}, {10, "10"}, {20, "20"}, {50, "50"}, {100, "100"}, {200, "200"}}},
		lines: []line{plain, grown, rotated},
	}.svg(), nil
}

// rate draws the measured false-positive rate of filters with n to 4n keys.
func rate(string) (string, error) {
	c := chart{
		title: "Measured false-positive rate beyond n keys (n = 10,000)",
		x:     axis{1, 4, []tick{{1, "n"}, {1.5, "1.5 n"}, {2, "2 n"}, {3, "3 n"}, {4, "4 n"}}},
		y:     axis{1e-7, 1, []tick{{1e-6, "1e-6"}, {1e-4, "1e-4"}, {0.01, "1 %"}, {0.1, "10 %"}, {1, "100 %"}}},
	}
	for _, filter := range []struct {
		name string
		p    float64
	}{{"p = 1 %", 0.01}, {"p = 1e-6", 1e-6}} {
		f, err := bloom.New(expected, filter.p)
		if err != nil {
			return "", err
		}
		l := line{name: filter.name}
		next := uint64(0)
		for quarters := uint64(4); quarters <= 16; quarters++ {
			for ; next < expected*quarters/4; next++ {
				f.AddDigest(bloom.Digest64(next))
			}
			// As many absent keys as show 400 false positives, or 100 million.
			asked := uint64(min(400/f.Scheme().Strategy().FalsePositiveRate(f.Params().M, f.Params().K, next), 1e8))
			wrong := 0
			for i := range asked {
				if f.ContainsDigest(bloom.Digest64(1<<63 + i)) {
					wrong++
				}
			}
			l.points = append(l.points, point{float64(quarters) / 4, float64(wrong) / float64(asked)})
		}
		c.lines = append(c.lines, l)
	}
	return c.svg(), nil
}
