package main

import (
	"runtime"
	"runtime/debug"
)

// version is that of the module if it was installed at a version, and what Go knows about
// the clone if it was built in one.
func version() string {
	v := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return v + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}
