package redisfilter

import (
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A script adds a batch in less of the server's time than a BITFIELD, which pays for each
// bit: it reads the words of a key at once and writes them back if there is anything new.
// And it looks before it writes: on a key that has vanished, or is another one, it changes
// nothing.
//
// It is used where the server allows it and a key's bits are in one or two words; else,
// and for single keys, BITFIELD is. BenchmarkAdd.
//
// KEYS[1] is the shard; ARGV: where the slot's number begins and ends, in bytes; its
// owner, 4 bytes; "used", 4 bytes; and the keys, see appendPacked. The reply is the slot's
// number in 8 bytes, and a bit for each key: 1 if it is new, the first key in the lowest bit
// of the first byte.
//
// Lua's numbers are floats, exact up to 2^53: a mask is taken in two halves of 32 bits, and so
// is the number.
const scriptHead = `
local K, d, call = KEYS[1], ARGV[5], redis.call
local up, pk, bor, char = struct.unpack, struct.pack, bit.bor, string.char
local s = call('GETRANGE', K, ARGV[1], ARGV[2])
if #s < 8 or string.sub(s, 1, 4) ~= ARGV[3] then return redis.error_reply('` + notMine + `') end
local number = ARGV[3] .. pk('>I4', up('>I4', s, 5) + 1)
call('SETRANGE', K, ARGV[1], number .. ARGV[4])
local formats = {[17] = '<i4i4c8i4i4', [25] = '<i4i4c16i4i4', [33] = '<i4i4c24i4i4',
  [41] = '<i4i4c32i4i4', [49] = '<i4i4c40i4i4', [57] = '<i4i4c48i4i4'}
local out, n, byte, w, pos, len = {number}, 1, 0, 1, 1, #d
while pos < len do
`

const scriptTail = `
  w = w * 2
  if w == 256 then n = n + 1; out[n] = char(byte); byte = 0; w = 1 end
end
if w > 1 then out[n + 1] = char(byte) end
return table.concat(out)`

const scriptOneWord = `
  local from, to, a, b
  from, to, a, b, pos = up('<Bc0Bc0i4i4', d, pos)
  local x, y = up('<i4i4', call('GETRANGE', K, from, to))
  local p, q = bor(x, a), bor(y, b)
  if p ~= x or q ~= y then
    call('SETRANGE', K, from, pk('<i4i4', p, q))
    byte = byte + w
  end`

// The words between the two are taken out and put back as one piece, by a format for each
// distance.
const scriptTwoWords = `
  local from, to, g, a, b, e, f
  from, to, g, a, b, e, f, pos = up('<Bc0Bc0Bi4i4i4i4', d, pos)
  local v = call('GETRANGE', K, from, to)
  if g == 9 then
    local x, y, z, u = up('<i4i4i4i4', v)
    local p, q, r, t = bor(x, a), bor(y, b), bor(z, e), bor(u, f)
    if p ~= x or q ~= y or r ~= z or t ~= u then
      call('SETRANGE', K, from, pk('<i4i4i4i4', p, q, r, t))
      byte = byte + w
    end
  else
    local format = formats[g]
    local x, y, between, z, u = up(format, v)
    local p, q, r, t = bor(x, a), bor(y, b), bor(z, e), bor(u, f)
    if p ~= x or q ~= y or r ~= z or t ~= u then
      call('SETRANGE', K, from, pk(format, p, q, between, r, t))
      byte = byte + w
    end
  end`

// notMine is what a script answers on a key whose slot has another owner.
const notMine = "NOTMINE another filter, or none"

// A script as a server knows it.
type script struct{ source, sha string }

// scripts are those for keys of one and two words.
var scripts = [...]script{1: newScript(scriptOneWord), 2: newScript(scriptTwoWords)}

func newScript(body string) script {
	source := strings.TrimSpace(scriptHead + strings.TrimPrefix(body, "\n") + scriptTail)
	return script{source, redis.NewScript(source).Hash()}
}

// A refusal of a script, before it has changed anything.
type refusal int

const (
	notRefused refusal = iota
	notLoaded          // the server does not know it: send the source
	notAllowed         // or not able to: do without
)

func refusalOf(err error) refusal {
	if err == nil || !send.IsReply(err) {
		return notRefused
	}
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "NOSCRIPT "):
		return notLoaded
	case strings.HasPrefix(text, "NOPERM "), strings.HasPrefix(text, "ERR unknown command"),
		strings.Contains(text, "The user executing the script can't run this command"): // the first that it calls
		return notAllowed
	}
	return notRefused
}
