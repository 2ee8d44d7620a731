// Package explore exhausts models of concurrent code: it visits every state that any
// interleaving can reach.
//
// A model is a state that can be compared with ==, and a function that does the next step of one
// participant: one load, or one locked instruction. If every participant may step from every state,
// all interleavings are tried.
package explore

// States visits each state that can be reached from the first one, once, and returns their number.
// steps calls to with every state that is one step away. final is true if no step leads to another
// state.
func States[S comparable](first S, steps func(s S, to func(next S)), visit func(s S, final bool)) int {
	seen := map[S]struct{}{first: {}}
	for stack := []S{first}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		final := true
		steps(s, func(next S) {
			if next == s {
				return
			}
			final = false
			if _, ok := seen[next]; !ok {
				seen[next] = struct{}{}
				stack = append(stack, next)
			}
		})
		visit(s, final)
	}
	return len(seen)
}
