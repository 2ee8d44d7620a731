//go:build js && wasm

// Command calculator is the code of the calculator page, compiled to WebAssembly. It registers the function "calculate"
// for the page.
package main

import (
	"fmt"
	"syscall/js"
)

func main() {
	js.Global().Set("calculate", js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
		defer func() {
			if r := recover(); r != nil { // show the panic; the page continues to work
				result = map[string]any{"error": fmt.Sprint(r), "read": map[string]any{}}
			}
		}()
		field := map[string]string{}
		for _, name := range []string{"strategy", "n", "p", "m", "unit"} {
			field[name] = args[0].Get(name).String()
		}
		return calculate(field)
	}))
	_, names := strategies()
	js.Global().Set("strategies", names)
	js.Global().Call("dispatchEvent", js.Global().Get("Event").New("bloom-ready"))
	select {}
}
