package bloom

// builtins are all strategies of this package, whatever is assigned to its variables. A new
// one is added here, and is otherwise complete in its own file.
var builtins = []*definition{
	&doubleHashing, &seededHashing, &blocked, &blocked1, &blocked2, &blocked4, &blocked8, &splitBlock,
}

// builtinStrategy returns the definition with that name, or nil.
func builtinStrategy(name string) *definition {
	for _, d := range builtins {
		if d.name == name {
			return d
		}
	}
	return nil
}
