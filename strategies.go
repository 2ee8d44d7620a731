package bloom

import "slices"

// builtins are all strategies of this package. A new one is added here, and is otherwise complete
// in its own file.
var builtins = []Strategy{{&doubleHashing}, {&seededHashing}, {&blockedStrategy}, {&splitBlock}}

// Strategies returns the strategies of this package, the default first: for programs that offer a
// choice of them, and for tests of programs that depend on one.
func Strategies() []Strategy { return slices.Clone(builtins) }

// builtinStrategy returns the strategy with that name, or the zero Strategy.
func builtinStrategy(name string) Strategy {
	for _, s := range builtins {
		if s.Name() == name {
			return s
		}
	}
	return Strategy{}
}
