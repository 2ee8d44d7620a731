package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/spf13/cobra"
)

const rootHelp = `A Bloom filter is a file that remembers keys in 10 to 30 bits per key. It
answers "definitely not in" or "probably in". It never misses a key that is in;
a key that is not in gets "probably in" at a rate p of your choice. Keys are
lines.

  bloom size -n 1M -p 0.1%                     # how much memory?
  bloom build -n 1M -p 0.1% -o seen.bloom urls.txt.gz
  bloom check seen.bloom candidates.txt        # lines probably in
  bloom check -v seen.bloom candidates.txt     # lines definitely not in
  bloom add seen.bloom more.txt
  bloom info seen.bloom                        # its fill and its rate now
  cat *.log | bloom dedup                      # each distinct line once

On a terminal, build, add, check, dedup and union show on standard error how far
they have read, except with -q, and while check and dedup print lines to a
terminal or a pipe.

The exit status is 0 after success, 1 if check selects no key, 2 after an error,
3 if dedup meets more than -n distinct keys, 129 after SIGHUP, 130 after Ctrl-C,
143 after SIGTERM.`

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "bloom",
		Short:         "Bloom filters in files, from the command line",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.AddCommand(
		newSize(e), newBuild(e), newAdd(e), newCheck(e), newDedup(e), newInfo(e), newUnion(e), newConvert(e),
		&cobra.Command{Use: "input", Short: "keys, fields, packed files, numbers", Long: inputHelp},
		&cobra.Command{Use: "formats", Short: "the formats of filters", Long: formatsHelp()},
		&cobra.Command{Use: "secrets", Short: "secrets, for keys from strangers", Long: secretsHelp},
	)
	root.SetHelpCommand(newHelp(root))
	root.SetFlagErrorFunc(flagError)
	return root
}

// released is the version of a released archive. The linker sets it, because Go records no version for a build in a
// workspace.
var released string

// version returns the version of the archive or the module. For a build in a clone, Go derives it from the commit.
func version() string {
	v := released
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s (%s %s/%s)", cmp.Or(v, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func formatsHelp() string {
	var b strings.Builder
	b.WriteString("The format of a filter that is read is recognised. --format of build and convert\nchooses the format to write.\n\n")
	for _, f := range filterfile.Formats {
		fmt.Fprintf(&b, "  %-22s%s\n", f.Name, f.About)
	}
	b.WriteString(`
check and info take all formats. convert also makes plain filters of mapped and
counting ones, of RedisBloom filters with one layer, and of Parquet columns.

Strategy, hash and seed are in the file, or the format implies them. A filter
keeps its positions: convert refuses a format with other positions or hash.`)
	return b.String()
}
