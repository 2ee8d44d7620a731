package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

var units = map[byte]float64{'%': 0.01, 'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12}

// number reads a number as people write it: 1e6, 1,000,000, 1.000.000, 1 000 000, 1_000_000, 10M,
// 1.5%, 1,5%, 1/1000. In a count, 1,000 is a thousand; elsewhere a single comma is a decimal one.
func number(text string, isCount bool) (float64, error) {
	text = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "_", "", "'", "", "’", "").Replace(text)
	factor := 1.0
	if text != "" && units[text[len(text)-1]] != 0 {
		factor = units[text[len(text)-1]]
		text = text[:len(text)-1]
	}
	above, below, fraction := strings.Cut(text, "/")
	x, err := decimal(above, isCount)
	if fraction && err == nil {
		var y float64
		if y, err = decimal(below, isCount); err == nil {
			x /= y
		}
	}
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, errors.New("not a number")
	}
	// The product of decimals has up to 15 digits: 1.1 * 1e6 is 1100000.
	return strconv.ParseFloat(strconv.FormatFloat(x*factor, 'g', 15, 64), 64)
}

// decimal reads a number with commas or points, for thousands or for decimals.
func decimal(text string, isCount bool) (float64, error) {
	comma, point := strings.LastIndexByte(text, ','), strings.LastIndexByte(text, '.')
	switch commas, points := strings.Count(text, ","), strings.Count(text, "."); {
	case commas > 1 || commas == 1 && (comma < point || points == 0 && isCount && thousands(text, ",")):
		return grouped(text, ",", ".")
	case points > 1 || points == 1 && point < comma:
		return grouped(text, ".", ",")
	}
	return strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
}

// grouped reads a number with a separator of thousands and a decimal mark.
func grouped(text, separator, mark string) (float64, error) {
	whole, rest, _ := strings.Cut(text, mark)
	if !thousands(whole, separator) || strings.ContainsAny(rest, ",.") {
		return 0, errors.New("not a number")
	}
	return strconv.ParseFloat(strings.ReplaceAll(whole, separator, "")+"."+rest, 64)
}

// thousands reports whether a text is in groups of three digits.
func thousands(text, separator string) bool {
	groups := strings.Split(text, separator)
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && (g == "" || len(g) > 3 || g == "0") || strings.Trim(g, "0123456789") != "" {
			return false
		}
	}
	return true
}
