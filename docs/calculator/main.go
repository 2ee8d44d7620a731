//go:build js && wasm

// Command calculator is the part of the calculator page that calculates: the library
// itself, compiled to WebAssembly. The page calls the functions of the global object
// "bloom" that are registered here; each returns an object, with a field error if the
// values are not possible.
//
//	bash docs/calculator/build DIR    makes the page, to be served from DIR
package main

import (
	"bytes"
	"fmt"
	"syscall/js"

	"github.com/seed3447c163/bloom"
)

func main() {
	functions := map[string]func(args []js.Value) (any, error){
		"strategies": func([]js.Value) (any, error) { return strategyNames(), nil },
		"solve":      solveJS,
		"curve":      curveJS,
		"small":      smallJS,
		"open":       openJS,
		"ask":        askJS,
	}
	exported := js.Global().Get("Object").New()
	for name, f := range functions {
		exported.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
			defer func() {
				if r := recover(); r != nil { // the page must go on working
					result = map[string]any{"error": fmt.Sprint(r)}
				}
			}()
			value, err := f(args)
			if err != nil {
				return map[string]any{"error": err.Error()}
			}
			return value
		}))
	}
	js.Global().Set("bloom", exported)
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("bloom-ready"))
	select {}
}

func strategyNames() []any {
	var names []any
	for _, s := range strategies {
		names = append(names, s.Name())
	}
	return names
}

// number is 0 for what is not given.
func number(v js.Value, name string) float64 {
	if f := v.Get(name); f.Type() == js.TypeNumber {
		return f.Float()
	}
	return 0
}

// solveJS takes {strategy, n, p, m, k}, of which some are missing, and returns all.
func solveJS(args []js.Value) (any, error) {
	q := args[0]
	a, err := solve(q.Get("strategy").String(), number(q, "n"), number(q, "p"), number(q, "m"), number(q, "k"))
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"n": float64(a.params.N), "p": a.params.P, "m": float64(a.params.M), "k": a.params.K,
		"strategy": a.strategy.Name(), "rate": a.rate, "bytes": float64((a.params.M + 63) / 64 * 8),
		"bitsPerKey": float64(a.params.M) / float64(max(a.params.N, 1)),
	}, nil
}

// curveJS takes {strategy, m, k, n} and returns the rates after 0 to 2n keys.
func curveJS(args []js.Value) (any, error) {
	q := args[0]
	rates, err := curve(q.Get("strategy").String(), uint64(number(q, "m")), int(number(q, "k")), uint64(number(q, "n")), 64)
	if err != nil {
		return nil, err
	}
	var list []any
	for _, r := range rates {
		list = append(list, r)
	}
	return list, nil
}

// smallJS takes {strategy, n, p, keys} and returns the bits of a filter with these keys,
// as a string of digits, and the positions of the last key.
func smallJS(args []js.Value) (any, error) {
	q := args[0]
	f, err := filter(q.Get("strategy").String(), uint64(number(q, "n")), number(q, "p"))
	if err != nil {
		return nil, err
	}
	keys := q.Get("keys")
	var positions []any
	for i := range keys.Length() {
		key := keys.Index(i).String()
		f.AddString(key)
		if i == keys.Length()-1 {
			for _, at := range f.Scheme().AppendPositions(nil, []byte(key)) {
				positions = append(positions, float64(at))
			}
		}
	}
	var digits bytes.Buffer
	for i := range f.Params().M {
		digits.WriteByte('0' + byte(f.Words()[i/64].Load()>>(i%64)&1))
	}
	return map[string]any{"bits": digits.String(), "positions": positions, "k": f.Params().K, "rate": f.Stats().EstimatedFalsePositiveRate}, nil
}

// opened is the filter of the file that was dropped on the page.
var opened *bloom.BloomFilter

// openJS takes a Uint8Array.
func openJS(args []js.Value) (any, error) {
	data := make([]byte, args[0].Length())
	js.CopyBytesToGo(data, args[0])
	f, lines, err := open(data)
	if err != nil {
		return nil, err
	}
	opened = f
	var list []any
	for _, line := range lines {
		list = append(list, []any{line[0], line[1]})
	}
	return list, nil
}

func askJS(args []js.Value) (any, error) {
	if opened == nil {
		return nil, fmt.Errorf("no file is open")
	}
	return opened.ContainsString(args[0].String()), nil
}

// maxSmall is the largest filter whose bits are drawn.
const maxSmall = 1 << 12

// filter makes a small filter.
func filter(name string, n uint64, p float64) (*bloom.BloomFilter, error) {
	s, err := strategyNamed(name)
	if err != nil {
		return nil, err
	}
	scheme, err := bloom.NewScheme(n, p, bloom.WithStrategy(s))
	if err != nil {
		return nil, err
	}
	if m := scheme.Params().M; m > maxSmall {
		return nil, fmt.Errorf("m = %d bits are too many to be drawn, want at most %d", m, maxSmall)
	}
	return scheme.Filter()
}
