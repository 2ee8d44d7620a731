package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// drawn lists the filters of speed.svg, as performance.md names them, and what is added to the name. † means that no
// lookup may run during an add.
var drawn = []struct{ name, note string }{
	{"SplitBlock, RapidHash, batch", ""}, {"SplitBlock, RapidHash", ""}, {"parquet-go", " †"}, {"Blocked, RapidHash", ""},
	{"DoubleHashing, Murmur3, batch", ""}, {"DoubleHashing, Murmur3", " (New)"}, {"blobloom.Sync", ""}, {"bits-and-blooms", " †"},
}

// vendors are those of the processors in performance.md.
var vendors = []string{"AMD", "Intel"}

// speed draws the time of a lookup on both processors, with two bars per filter.
func speed(docs string) (string, error) {
	text, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		return "", err
	}
	const row, head, start = 44, 88, 270
	var b strings.Builder
	b.WriteString(begin(head+row*len(drawn)+10, "Nanoseconds per lookup, half of the keys present (n = 10,000, p = 1 %)"))
	var machines [2]string
	for i, vendor := range vendors {
		machine := regexp.MustCompile(`<!-- machine ` + vendor + ` -->([^,<]*)`).FindSubmatch(text)
		if machine == nil {
			return "", fmt.Errorf("performance.md has no machine for %s", vendor)
		}
		machines[i] = string(machine[1])
		for j, filter := range drawn {
			ns, ours, err := lookup(text, vendor, filter.name)
			if err != nil {
				return "", err
			}
			class := "other"
			if ours {
				class = "a"
			}
			if i == 1 {
				class += " pale"
			}
			y, width := head+row*j+18*i, 6.8*ns
			fmt.Fprintf(&b, "<rect class=\"%s bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"16\"/><text x=\"%.1f\" y=\"%d\">%.0f</text>\n",
				class, start, y, width, start+width+6, y+14, ns)
			if i == 0 {
				fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s%s</text>\n", start-10, y+22, filter.name, filter.note)
			}
		}
	}
	fmt.Fprintf(&b, "<text x=\"0\" y=\"50\" font-size=\"20\">upper bar %s, lower bar %s</text>\n", machines[0], machines[1])
	b.WriteString("<text x=\"0\" y=\"76\" font-size=\"20\">blue: this library; † no lookups during adds</text>\n")
	return b.String() + "</svg>\n", nil
}

// lookup returns the nanoseconds of a mixed lookup in the vendor's table of performance.md, and whether the filter is
// one of this library.
func lookup(text []byte, vendor, filter string) (ns float64, ours bool, err error) {
	table := regexp.MustCompile(`(?s)<!-- table ` + vendor + ` Filter: bits/key, rate%, add, mixed, .*? -->(.*?)<!-- end -->`).FindSubmatch(text)
	if table == nil {
		return 0, false, fmt.Errorf("performance.md has no table for %s", vendor)
	}
	row := regexp.MustCompile(`(?m)^\| (\*\*)?` + regexp.QuoteMeta(filter) + `(\*\*)? \|[^|]*\|[^|]*\|[^|]*\| ([0-9.]+) \|`).FindSubmatch(table[1])
	if row == nil {
		return 0, false, fmt.Errorf("performance.md has no row %q for %s", filter, vendor)
	}
	ns, err = strconv.ParseFloat(string(row[3]), 64)
	return ns, len(row[1]) > 0, err
}

var sentence = regexp.MustCompile(`(?s)(<!-- speed -->\n).*?(<!-- end -->)`)

// readme returns README.md with the times of performance.md in its sentence about speed.
func readme(docs string) (string, error) {
	text, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		return "", err
	}
	old, err := os.ReadFile(filepath.Join(docs, "../README.md"))
	if err != nil {
		return "", err
	}
	if !sentence.Match(old) {
		return "", errors.New("README.md has no mark <!-- speed -->")
	}
	var times []any
	for _, filter := range []string{"DoubleHashing, Murmur3", "SplitBlock, RapidHash", "bits-and-blooms"} {
		for _, vendor := range vendors {
			ns, _, err := lookup(text, vendor, filter)
			if err != nil {
				return "", err
			}
			times = append(times, ns)
		}
	}
	return sentence.ReplaceAllString(string(old), fmt.Sprintf("${1}"+
		"A lookup takes %.1f ns on AMD and %.1f ns on Intel; with `SplitBlock` and `RapidHash` %.1f and %.1f; in bits-and-blooms\n"+
		"%.1f and %.1f. `bash checks/peers/run` [measures](docs/performance.md) it.\n${2}", times...)), nil
}
