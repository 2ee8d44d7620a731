package filterfile

import (
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/format"
)

// TestKindsOfTheLibrary compares the formats with the library's list: one for each kind but a guard's file, which is
// the guard's own, with the header where the library writes it.
func TestKindsOfTheLibrary(t *testing.T) {
	for _, kind := range format.Kinds {
		head := []byte(kind.Magic + strings.Repeat("\x00", 200))
		var found []*Format
		for _, f := range Formats {
			if f.is(head, -1) {
				found = append(found, f)
			}
		}
		if kind.Magic == format.Guard {
			if len(found) != 0 {
				t.Errorf("%q is taken for %s", kind.Magic, found[0].Name)
			}
			continue
		}
		if len(found) != 1 {
			t.Errorf("%d formats for %q, want one", len(found), kind.Magic)
		} else if offset := len(head) - len(found[0].header(head)); offset != kind.Header {
			t.Errorf("%s has its header at %d, want %d", found[0].Name, offset, kind.Header)
		}
	}
}
