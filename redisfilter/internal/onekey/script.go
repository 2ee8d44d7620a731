package onekey

import (
	"strings"

	"github.com/redis/go-redis/v9"
)

// A Script is a Lua script as a server knows it. It does the whole of what it does or nothing, and
// looks before it writes: a process that ends between two commands leaves nothing half done, and a
// key that has vanished, or is another one, is not changed. What can fail, a write that makes the
// value longer, comes before all other writes.
type Script struct{ source, sha string }

// NewScript returns a script.
func NewScript(source string) Script {
	source = strings.TrimSpace(source)
	return Script{source, redis.NewScript(source).Hash()}
}

// A script that refuses answers with one of these first, and has changed nothing then.
const (
	SaysGone  = "GONE"  // the key is missing, another filter, something else, or cut short
	SaysTaken = "TAKEN" // the handle's slot has another owner
	SaysOlder = "OLDER" // the slot's count, or something else that only grows, is lower than one that was seen
)

// Lua is a function for scripts: put returns the word at a byte of v with the bits of a mask, whose
// halves are a and b, set. up, pk and bor are those of struct and bit.
const Lua = `
local function put(v, at, a, b)
  local x, y = up('<i4i4', v, at)
  return pk('<i4i4', bor(x, a), bor(y, b))
end
`

// The header of a value has the epoch in bytes 16 to 23.
var scriptDelete = NewScript(`
if redis.call('GETRANGE', KEYS[1], 16, 23) == ARGV[1] then return redis.call('UNLINK', KEYS[1]) end
return 0
`)
