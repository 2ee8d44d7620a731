package window

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// The words in capitals are replaced, see newScripts. ARGV[1] and ARGV[2] are where the end
// begins and ends, ARGV[3] is the epoch, and ARGV[4] the length of a generation.

// saysPast is what a script answers, and has changed nothing, if a later command of the lane has
// been executed. The other refusals are those of package onekey.
const saysPast = "PAST"

// serverClock sets ms.
const serverClock = `local time = call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)`

const scriptHead = `
local K, call = KEYS[1], redis.call
local up, pk, band, bor, char, sub, rep = struct.unpack, struct.pack, bit.band, bit.bor, string.char, string.sub, string.rep
local function refuse(code) return redis.error_reply(code .. ' redisfilter/window') end
local tail = call('GETRANGE', K, ARGV[1], ARGV[2])
if sub(tail, 17) ~= ARGV[3] then return refuse('GONE') end
CLOCK
`

// Time never goes back: a generation that has begun stays the latest until the clock has
// caught up. If the clock is behind by more than a window, it was wrong then or is now, and to
// wait for it could take years: it is shifted, so that time goes on from here.
const scriptGeneration = `
local latest, shift = up('<dd', tail)
local gen, moved = math.floor(ms / ARGV[4]) + shift, false
if gen < latest then
  if gen < latest - GENERATIONS then shift, moved = shift + latest - gen, true end
  gen = latest
elseif gen > latest then moved = true end
`

// ARGV[5] and ARGV[6] are where the slot's first three numbers are, or empty for a handle that
// has none, ARGV[7] is its owner, ARGV[8] the least that its count must be.
const scriptSlot = `
local count, used
if ARGV[5] ~= '' then
  local slot = call('GETRANGE', K, ARGV[5], ARGV[6])
  if sub(slot, 1, 8) ~= ARGV[7] then return refuse('TAKEN') end
  count, used = up('<dd', slot, 9)
  if count < tonumber(ARGV[8]) then return refuse('OLDER') end
end
`

// ARGV[9] is where the slot's count is, ARGV[10] and ARGV[11] are where the lane begins and
// ends, and ARGV[12] is the number of the command. A command that is sent again writes the
// count once more: WAIT speaks of what its own connection has written.
const scriptLane = `
local data, number = ARGV[13], tonumber(ARGV[12])
local lane = call('GETRANGE', K, ARGV[10], ARGV[11])
local last = up('<d', lane)
if last == number then
  call('SETRANGE', K, ARGV[9], pk('<d', count))
  return pk('<d', count) .. sub(lane, 9)
end
if last > number then return refuse('PAST') end
if moved then call('SETRANGE', K, ARGV[1], pk('<dd', gen, shift)) end
`

// A key is where its record begins and ends, in decimals with their length before, and for
// each of its words the offset in a place and a mask in two halves of 32 bits.
const scriptKeys = `
local out, n, byte, w, pos, len, places = {}, 0, 0, 1, 1, #data, {}
for age = 0, GENERATIONS do places[age] = 9 + 64 * ((gen - age) % PLACES) end
while pos < len do
  local from, to, WORDS
  from, to, WORDS, pos = up('<Bc0Bc0FORMAT', data, pos)
  local v = call('GETRANGE', K, from, to)
  local stamp, seen = up('<d', v), false
  for age = gen - stamp, GENERATIONS do
    local at = places[age]
    local x, y
    TEST
  end
  ANSWER
  w = w * 2
  if w == 256 then n = n + 1; out[n] = char(byte); byte = 0; w = 1 end
end
if w > 1 then out[n + 1] = char(byte) end
`

// A record that was last written in this generation gets the span from the first to the last
// word; an older one is written anew, without what has ended since.
//
// scriptSpan is for any number of words, scriptTwoWords for two, which is faster: they are taken
// out with what is between them, and put back, by a format for each distance.
const (
	scriptSpan     = `call('SETRANGE', K, decimal('%d', from + (at + i1 - 1)), SPAN)`
	scriptTwoWords = `if i2 - i1 == 8 then
        local p, q, r, t = up('<i4i4i4i4', v, at + i1)
        call('SETRANGE', K, decimal('%d', from + (at + i1 - 1)), pk('<i4i4i4i4', bor(p, a1), bor(q, b1), bor(r, a2), bor(t, b2)))
      else
        local format = formats[i2 - i1]
        local p, q, between, r, t = up(format, v, at + i1)
        call('SETRANGE', K, decimal('%d', from + (at + i1 - 1)), pk(format, bor(p, a1), bor(q, b1), between, bor(r, a2), bor(t, b2)))
      end`
)

const scriptWrite = `if not seen then
    byte = byte + w
    local x, y
    if stamp == gen then
      local at = places[0]
      CURRENT
    else
      local r = {pk('<d', gen)}
      for q = 0, GENERATIONS do
        local g = gen - (gen - q) % PLACES
        if g == gen then r[q + 2] = FRESH
        elseif g > stamp then r[q + 2] = rep('\0', 64)
        else r[q + 2] = sub(v, 9 + 64 * q, 72 + 64 * q) end
      end
      call('SETRANGE', K, from, table.concat(r))
    end
  end`

const scriptAdded = `
local answer = table.concat(out)
count = count + 1
call('SETRANGE', K, ARGV[9], pk('<dd', count, ms))
call('SETRANGE', K, ARGV[10], pk('<d', number) .. answer)
return pk('<d', count) .. answer
`

// A handle that only asks keeps its slot by this. Where the server cannot write, it answers
// all the same.
const scriptAsked = `
if used and ms - used > 10000 then redis.pcall('SETRANGE', K, ARGV[9], pk('<dd', count, ms)) end
return table.concat(out)
`

// scriptClaim gives a slot to an owner, ARGV[5]: one that was never used, or the one that was
// not used for longest. ARGV[6] is where the slots begin, ARGV[7] how many there are.
const scriptClaim = `
local at, oldest
for i = 0, ARGV[7] - 1 do
  local here = ARGV[6] + i * SLOT
  local s = call('GETRANGE', K, here, here + 23)
  if sub(s, 1, 8) == ARGV[5] then return i end
  local used = up('<d', s, 17)
  if sub(s, 1, 8) == rep('\0', 8) then used = -1 end
  if not oldest or used < oldest then at, oldest = i, used end
end
call('SETRANGE', K, ARGV[6] + at * SLOT, ARGV[5] .. pk('<dd', 0, ms) .. rep('\0', SLOT - 24))
return at
`

// scriptNow returns the generation.
const scriptNow = `return string.format('%.0f', gen)`

// scriptMake makes a key that is not there, and returns the header of the one that is.
const scriptMake = `
local K, call = KEYS[1], redis.call
if call('EXISTS', K) == 0 then
  call('SETRANGE', K, ARGV[2], ARGV[3])
  call('SETRANGE', K, 0, ARGV[1])
end
return call('GETRANGE', K, 0, 127)
`

type scripts struct{ add, ask, claim, now, make onekey.Script }

// newScripts returns the scripts for so many generations, and words of a key.
func newScripts(generations, words int, clock string) scripts {
	var names, test, span, fresh []string
	for i := 1; i <= words; i++ {
		n := strconv.Itoa(i)
		word := strings.NewReplacer("N", n, "O", strconv.Itoa(i-1))
		names = append(names, word.Replace("iN, aN, bN"))
		test = append(test, word.Replace("x, y = up('<i4i4', v, at + iN)\nif band(x, aN) == aN and band(y, bN) == bN then"))
		if i > 1 {
			span = append(span, word.Replace("sub(v, at + iO + 8, at + iN - 1)"))
			fresh = append(fresh, word.Replace("rep('\\0', iN - iO - 8)"))
		} else {
			fresh = append(fresh, "rep('\\0', i1)")
		}
		span = append(span, word.Replace("put(v, at + iN, aN, bN)"))
		fresh = append(fresh, word.Replace("pk('<i4i4', aN, bN)"))
	}
	fresh = append(fresh, fmt.Sprintf("rep('\\0', 56 - i%d)", words))
	current := scriptSpan
	if words == 2 {
		current = scriptTwoWords
	}
	write := strings.Replace(scriptWrite, "CURRENT", current, 1)
	write = strings.NewReplacer("SPAN", strings.Join(span, " .. "), "FRESH", strings.Join(fresh, " .. ")).Replace(write)
	local := onekey.Lua + `
local decimal = string.format -- faster than to leave it to the call
local formats = {[16] = '<i4i4c8i4i4', [24] = '<i4i4c16i4i4', [32] = '<i4i4c24i4i4',
  [40] = '<i4i4c32i4i4', [48] = '<i4i4c40i4i4', [56] = '<i4i4c48i4i4'}
`
	values := strings.NewReplacer(
		"GENERATIONS", strconv.Itoa(generations), "PLACES", strconv.Itoa(generations+1), "SLOT", strconv.Itoa(slotBytes),
		"CLOCK", clock, "WORDS", strings.Join(names, ", "), "FORMAT", strings.Repeat("Bi4i4", words),
		"TEST", strings.Join(test, "\n")+" seen = true; break "+strings.Repeat("end ", words))
	build := func(parts ...string) onekey.Script { return onekey.NewScript(values.Replace(strings.Join(parts, ""))) }
	return scripts{
		add:   build(scriptHead, scriptGeneration, scriptSlot, scriptLane, local, strings.Replace(scriptKeys, "ANSWER", write, 1), scriptAdded),
		ask:   build(scriptHead, scriptGeneration, scriptSlot, "local data = ARGV[10]\n", strings.Replace(scriptKeys, "ANSWER", "if seen then byte = byte + w end", 1), scriptAsked),
		claim: build(scriptHead, scriptClaim),
		now:   build(scriptHead, scriptGeneration, scriptNow),
		make:  build(scriptMake),
	}
}
