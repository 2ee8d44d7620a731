// Report reads the output of compare's benchmarks, writes their medians into the tables of
// docs/speed.md, between the lines that mark them, and draws the picture of the README:
//
//	go run ./report run.txt ../docs/speed.md ../docs/speed.svg
package main

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: report BENCHMARKS DOCUMENT PICTURE")
	}
	m, err := read(os.Args[1])
	if err == nil {
		err = errors.Join(m.fillIn(os.Args[2]), m.draw(os.Args[3]))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// measured has the values of every row and column, by unit, as in m["all sec/op"].
type measured map[string]map[cell][]float64

type cell struct{ row, column string }

func read(name string) (measured, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m := measured{}
	for r := benchfmt.NewReader(file, name); r.Scan(); {
		switch result := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, result
		case *benchfmt.Result:
			parts := map[string]string{}
			for part := range strings.SplitSeq(string(result.Name.Full()), "/") {
				key, value, _ := strings.Cut(part, "=")
				parts[key] = regexp.MustCompile(`-\d+$`).ReplaceAllString(value, "")
			}
			table, c := "all", cell{parts["filter"], parts["op"]}
			switch {
			case parts["bytes"] != "":
				table, c.column = "some", parts["bytes"]+" B"
			case parts["n"] != "":
				table, c.column = "some", "n = "+parts["n"]
			case parts["goroutines"] == "2":
				c.column += " ×2"
			}
			for _, v := range result.Values {
				if m[table+" "+v.Unit] == nil {
					m[table+" "+v.Unit] = map[cell][]float64{}
				}
				m[table+" "+v.Unit][c] = append(m[table+" "+v.Unit][c], v.Value)
			}
		}
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("%s has no benchmarks", name)
	}
	return m, nil
}

// median returns the median of a cell, and whether there is one.
func (m measured) median(table string, c cell) (float64, bool) {
	if len(m[table][c]) == 0 {
		return 0, false
	}
	sample := benchmath.NewSample(slices.Clone(m[table][c]), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95).Center, true
}

// rows returns the rows of a table, the fastest first, by a column.
func (m measured) rows(table, column string) (rows []string) {
	for c := range m[table] {
		if c.column == column {
			rows = append(rows, c.row)
		}
	}
	slices.SortFunc(rows, func(a, b string) int {
		x, _ := m.median(table, cell{a, column})
		y, _ := m.median(table, cell{b, column})
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	return rows
}

// fillIn replaces every table that a document marks:
//
//	<!-- table all: bits/key, rate%, add, hit -->
//	...
//	<!-- end -->
func (m measured) fillIn(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	marked := regexp.MustCompile(`(?s)(<!-- table (\S+): ([^>]*) -->\n).*?(<!-- end -->)`)
	filled := marked.ReplaceAllStringFunc(string(text), func(old string) string {
		part := marked.FindStringSubmatch(old)
		return part[1] + "\n" + m.table(part[2], strings.Split(part[3], ", ")) + "\n" + part[4]
	})
	return os.WriteFile(name, []byte(filled), 0o644)
}

func (m measured) table(name string, columns []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| filter | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	sortedBy := "40 B"
	if slices.Contains(columns, "mixed") {
		sortedBy = "mixed"
	}
	for _, row := range m.rows(name+" sec/op", sortedBy) {
		fmt.Fprintf(&b, "| %s |", shown(row))
		for _, column := range columns {
			value, ok := m.median(name+" sec/op", cell{row, column})
			value, digits := value*1e9, 1
			if !ok {
				value, ok = m.median(name+" "+column, cell{row, "miss"})
				digits = 2
			}
			if ok {
				fmt.Fprintf(&b, " %.*f |", digits, value)
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// shown returns a row's name as people read it.
func shown(row string) string {
	name := strings.ReplaceAll(strings.ReplaceAll(row, ",", ", "), "-+-", " + ")
	if ours, ok := strings.CutPrefix(name, "ours:"); ok {
		return "**" + ours + "**"
	}
	if hash, ok := strings.CutPrefix(name, "hash:"); ok {
		return "*" + hash + " alone*"
	}
	return name
}

// drawn are the filters of the picture.
var drawn = []string{"ours:SplitBlock,RapidHash,batch", "ours:SplitBlock,RapidHash", "parquet-go", "ours:Blocked,RapidHash", "ours:DoubleHashing,RapidHash", "ours:DoubleHashing,Murmur3", "ristretto-z.Bloom", "holiman-bloomfilter", "pebble", "ipfs-bbloom", "bits-and-blooms", "bits-and-blooms-+-RWMutex", "BoomFilters", "Guava-(JVM)"}

// draw draws how long a lookup takes, for n = 10,000: one bar per filter, for light and dark pages.
func (m measured) draw(name string) error {
	const table, left, row, head = "all sec/op", 245, 24, 56
	rows := slices.DeleteFunc(m.rows(table, "mixed"), func(row string) bool { return !slices.Contains(drawn, row) })
	if len(rows) == 0 {
		return errors.New("no filter to draw")
	}
	slowest, _ := m.median(table, cell{rows[len(rows)-1], "mixed"})
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="%d" viewBox="0 0 800 %[1]d" font-family="system-ui, sans-serif" font-size="14">
<style>
text { fill: #1f2328; } .ours { fill: #0969da; } .others { fill: #8c959f; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .ours { fill: #4493f8; } .others { fill: #656c76; } }
</style>
<text x="0" y="18" font-weight="600">Nanoseconds per lookup, half of the keys present (n = 10,000, p = 1 %%)</text>
<rect class="ours" x="%d" y="29" width="12" height="12"/><text x="%d" y="40">this library</text>
<rect class="others" x="%d" y="29" width="12" height="12"/><text x="%d" y="40">others</text>
`, head+row*len(rows), left, left+18, left+120, left+138)
	for i, filter := range rows {
		value, _ := m.median(table, cell{filter, "mixed"})
		class := "others"
		if strings.HasPrefix(filter, "ours:") {
			class = "ours"
		}
		y, width := head+row*i, 500*value/slowest
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="16"/><text x="%.1f" y="%d">%.0f</text>
`, left-10, y+13, strings.Trim(shown(filter), "*"), class, left, y, width, left+width+6, y+13, value*1e9)
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(name, []byte(b.String()), 0o644)
}
