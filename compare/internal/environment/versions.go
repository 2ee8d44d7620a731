package environment

import "runtime/debug"

// Versions returns the version of each module that this program was built with.
func Versions() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return versionsOf(info)
}

// versionsOf says of a module that a folder stands in for, as our own is, that it
// is the one beside this: it has no version.
func versionsOf(info *debug.BuildInfo) map[string]string {
	found := map[string]string{}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		path, version := m.Path, m.Version
		if m.Replace != nil {
			version = m.Replace.Version
		}
		if version == "" || version == "(devel)" {
			version = "this commit"
		}
		found[path] = version
	}
	return found
}
