//go:build js && wasm

// Command calculator is the library in the calculator page, compiled to WebAssembly. It registers
// the function "calculate" for the page.
package main

import (
	"fmt"
	"syscall/js"
)

func main() {
	js.Global().Set("calculate", js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
		defer func() {
			if r := recover(); r != nil { // the page goes on working
				result = map[string]any{"error": fmt.Sprint(r)}
			}
		}()
		field := map[string]string{}
		for _, name := range []string{"strategy", "n", "p", "m", "unit", "k"} {
			field[name] = args[0].Get(name).String()
		}
		return object(calculate(field))
	}))
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("bloom-ready"))
	select {}
}

// object is a page as an object of JavaScript.
func object(p page, err error) map[string]any {
	read := map[string]any{}
	for name, text := range p.read {
		read[name] = text
	}
	if err != nil {
		return map[string]any{"error": err.Error(), "read": read}
	}
	var rates []any
	for _, r := range p.rates {
		rates = append(rates, r)
	}
	return map[string]any{
		"read": read, "code": p.code, "rates": rates, "strategy": p.strategy.Name(), "rate": p.rate,
		"n": float64(p.params.N), "p": p.params.P, "m": float64(p.params.M), "k": p.params.K,
		"bytes": float64((p.params.M + 63) / 64 * 8), "bitsPerKey": float64(p.params.M) / float64(max(p.params.N, 1)),
	}
}
