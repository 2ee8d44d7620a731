// Report reads the output of the benchmarks and writes their minima into documents:
//
//	go run ./report run.txt FILE...
//
// It replaces the tables and names of machines between the marks that fillIn describes, if they are for this
// processor's vendor. If the figures contradict each other, it changes nothing and fails.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: report BENCHMARKS FILE...")
	}
	m, err := read(os.Args[1])
	if err == nil {
		err = m.contradictions()
	}
	for _, name := range os.Args[2:] {
		if err == nil {
			err = m.fillIn(name)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// measured has the smallest value of each cell, but the mean of rates. A table is named after its benchmark and unit,
// as in "Filter sec/op".
type measured struct {
	cells   map[string]map[cell]float64
	vendor  string // of the processor: AMD, Intel, or the first word of its name
	machine string
}

type cell struct{ row, column string }

func read(name string) (m measured, err error) {
	file, err := os.Open(name)
	if err != nil {
		return m, err
	}
	defer file.Close()
	m.cells = map[string]map[cell]float64{}
	count := map[string]map[cell]float64{}
	for r := benchfmt.NewReader(file, name); r.Scan(); {
		switch result := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return m, result
		case *benchfmt.Result:
			parts := map[string]string{}
			for part := range strings.SplitSeq(string(result.Name.Full()), "/") {
				key, value, _ := strings.Cut(part, "=")
				parts[key] = regexp.MustCompile(`-\d+$`).ReplaceAllString(value, "")
			}
			c := cell{parts["filter"], parts["op"]}
			switch {
			case parts["bytes"] != "":
				c.column = parts["bytes"] + " B"
			case parts["n"] != "":
				c.column = "n = " + parts["n"]
			case parts["goroutines"] == "2":
				c.column += " ×2"
			}
			for _, v := range result.Values {
				table := string(result.Name.Base()) + " " + v.Unit
				if m.cells[table] == nil {
					m.cells[table], count[table] = map[cell]float64{}, map[cell]float64{}
				}
				old, ok := m.cells[table][c]
				count[table][c]++
				switch {
				case v.Unit == "rate%": // the mean
					m.cells[table][c] = old + (v.Value-old)/count[table][c]
				case !ok || v.Value < old:
					m.cells[table][c] = v.Value
				}
			}
			if cpu := strings.Fields(result.GetConfig("cpu")); len(cpu) > 0 {
				m.vendor, _, _ = strings.Cut(cpu[0], "(") // as in Intel(R)
				name := strings.NewReplacer("(R)", "", " Processor", "").Replace(strings.Join(cpu, " "))
				m.machine = fmt.Sprintf("%s%s, %d CPUs, %s/%s, Go %s, %s%s", name, model(), runtime.NumCPU(),
					runtime.GOOS, runtime.GOARCH, strings.TrimPrefix(runtime.Version(), "go"), time.Now().Format(time.DateOnly), commit())
			}
		}
	}
	if len(m.cells) == 0 {
		return m, fmt.Errorf("%s has no benchmarks", name)
	}
	return m, nil
}

// model returns the processor's family and model, which some names do not tell, if Linux shows them, or "".
func model() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	if match := regexp.MustCompile(`cpu family\s*: (\d+)\nmodel\s*: (\d+)\n`).FindSubmatch(info); match != nil {
		return fmt.Sprintf(" (family %s, model %s)", match[1], match[2])
	}
	return ""
}

// commit returns ", commit " and the measured commit, or "" if Git does not know it.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short=7", "HEAD").Output()
	if err != nil {
		return ""
	}
	return ", commit " + strings.TrimSpace(string(out))
}

// contradictions returns an error if a lookup in a batch takes over a tenth longer than a single one, or a hash than a
// lookup with this hash.
func (m measured) contradictions() error {
	var all []error
	for table, cells := range m.cells {
		for c, time := range cells {
			if !strings.HasSuffix(table, " sec/op") || !strings.HasPrefix(c.column, "hit") && !strings.HasPrefix(c.column, "mi") {
				continue
			}
			less := func(row string) {
				if slower, ok := cells[cell{row, c.column}]; ok && slower > 1.1*time {
					all = append(all, fmt.Errorf("%s, %s: %s takes %.1f ns, but %s %.1f ns",
						table, c.column, row, slower*1e9, c.row, time*1e9))
				}
			}
			less(c.row + ",batch")
			if parts := strings.Split(c.row, ","); len(parts) == 2 && strings.HasPrefix(c.row, "ours:") {
				less("hash:" + parts[1])
			}
		}
	}
	return errors.Join(all...)
}

// rows returns the rows of a table, sorted by a column, the fastest first.
func (m measured) rows(table, column string) (rows []string) {
	for c := range m.cells[table] {
		if c.column == column {
			rows = append(rows, c.row)
		}
	}
	slices.SortFunc(rows, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.cells[table][cell{a, column}], m.cells[table][cell{b, column}]), cmp.Compare(a, b))
	})
	return rows
}

var (
	marked  = regexp.MustCompile(`(?s)(<!-- table (\S+) (\S+): ([^>]*) -->\n).*?(<!-- end -->)`)
	machine = regexp.MustCompile(`(<!-- machine (\S+) -->)[^<]*`)
)

// fillIn replaces the tables and the names of machines that a document marks for this vendor. A table is sorted by its
// last column of lookups:
//
//	<!-- machine AMD -->...<!-- end -->
//	<!-- table AMD Filter: bits/key, rate%, add, mixed -->
//	...
//	<!-- end -->
func (m measured) fillIn(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	filled := marked.ReplaceAllStringFunc(string(text), func(old string) string {
		part := marked.FindStringSubmatch(old)
		if part[2] != m.vendor {
			return old
		}
		return part[1] + "\n" + m.table(part[3], strings.Split(part[4], ", ")) + "\n" + part[5]
	})
	filled = machine.ReplaceAllStringFunc(filled, func(old string) string {
		part := machine.FindStringSubmatch(old)
		if part[2] != m.vendor {
			return old
		}
		return part[1] + m.machine
	})
	return os.WriteFile(name, []byte(filled), 0o644)
}

// listed are the filters in the tables of all operations. results/run.txt has the others.
var listed = []string{
	"ours:SplitBlock,RapidHash,batch", "ours:SplitBlock,RapidHash", "ours:Blocked,RapidHash", "ours:DoubleHashing,Murmur3",
	"ours:DoubleHashing,Murmur3,batch", "ours:SeededHashing,Murmur3", "parquet-go", "blobloom.Sync", "bits-and-blooms", "Guava-(JVM)",
}

func (m measured) table(name string, columns []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| filter | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("--:|", len(columns)))
	sortedBy := columns[0]
	for _, column := range []string{"miss", "40 B", "mixed"} {
		if slices.Contains(columns, column) {
			sortedBy = column
		}
	}
	for _, row := range m.rows(name+" sec/op", sortedBy) {
		if name == "Filter" && !slices.Contains(listed, row) {
			continue
		}
		fmt.Fprintf(&b, "| %s |", shown(row))
		for _, column := range columns {
			value, ok := m.cells[name+" sec/op"][cell{row, column}]
			value, digits := value*1e9, 1
			if !ok {
				value, ok = m.cells[name+" "+column][cell{row, "miss"}]
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

// shown returns a row's name for documents.
func shown(row string) string {
	name := strings.NewReplacer(",", ", ", "-+-", " + ", "-layer", " layer").Replace(row)
	if ours, ok := strings.CutPrefix(name, "ours:"); ok {
		return "**" + ours + "**"
	}
	if hash, ok := strings.CutPrefix(name, "hash:"); ok {
		return "*" + hash + " alone*"
	}
	return name
}
