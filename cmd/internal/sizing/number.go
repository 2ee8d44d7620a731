package sizing

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	spaces  = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "_", "", "'", "", "’", "")
	factors = map[byte]float64{'%': 0.01, 'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}
	commas  = regexp.MustCompile(`^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`) // 1,000,000.5
	points  = regexp.MustCompile(`^[1-9]\d{0,2}(\.\d{3})+(,\d+)?$`) // 1.000.000,5
	either  = regexp.MustCompile(`^([1-9]\d{0,2})[.,](\d{3})$`)     // 1,000: one thousand or one
)

// Number reads a number as people write it: 1e6, 1,000,000, 1.000.000, 1 000 000, 1_000_000, 10M, 1.5%, 1,5%, 1/1000.
// For other text it returns NaN. In a rate, a single comma or point is the decimal one. In other numbers, 1,000 and
// 1.000 are errors: they can mean one or one thousand.
func Number(text string, isRate bool) (float64, error) {
	text = spaces.Replace(text)
	factor := 1.0
	if text != "" && factors[text[len(text)-1]] != 0 {
		factor = factors[text[len(text)-1]]
		text = text[:len(text)-1]
	}
	above, below, fraction := strings.Cut(text, "/")
	for _, part := range []string{above, below} {
		if d := either.FindStringSubmatch(part); d != nil && (!isRate || fraction) {
			return 0, fmt.Errorf("%s can mean %s%s or %[2]s.%[3]s, want %[2]s%[3]s or %[2]s.%[3]s0", part, d[1], d[2])
		}
	}
	x := decimal(above)
	if fraction {
		x /= decimal(below)
	}
	// The number is rounded to 15 digits, so that 1.1 * 1e6 is 1100000.
	return strconv.ParseFloat(strconv.FormatFloat(x*factor, 'g', 15, 64), 64)
}

// decimal reads a number with commas or points, which separate thousands or decimals. For other text it returns NaN.
func decimal(text string) float64 {
	several := strings.Count(text, ",")+strings.Count(text, ".") > 1
	switch {
	case commas.MatchString(text) && several:
		text = strings.ReplaceAll(text, ",", "")
	case points.MatchString(text) && several:
		text = strings.ReplaceAll(text, ".", "")
	}
	x, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}
