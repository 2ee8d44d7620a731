package main

import (
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
	for i, vendor := range []string{"AMD", "Intel"} {
		machine := regexp.MustCompile(`<!-- machine ` + vendor + ` -->([^,<]*)`).FindSubmatch(text)
		table := regexp.MustCompile(`(?s)<!-- table ` + vendor + ` Filter: bits/key, rate%, add, mixed, .*? -->(.*?)<!-- end -->`).FindSubmatch(text)
		if machine == nil || table == nil {
			return "", fmt.Errorf("performance.md has no machine or table for %s", vendor)
		}
		machines[i] = string(machine[1])
		for j, filter := range drawn {
			found := regexp.MustCompile(`(?m)^\| (\*\*)?` + regexp.QuoteMeta(filter.name) + `(\*\*)? \|[^|]*\|[^|]*\|[^|]*\| ([0-9.]+) \|`).FindSubmatch(table[1])
			if found == nil {
				return "", fmt.Errorf("performance.md has no row %q for %s", filter.name, vendor)
			}
			ns, err := strconv.ParseFloat(string(found[3]), 64)
			if err != nil {
				return "", err
			}
			class := "other"
			if len(found[1]) > 0 {
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
