package growing

import (
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// The words in capitals are replaced, see newScripts.

// saysMore is what a script answers, and has changed nothing, if there are more layers than the
// handle knows, with their number. The other refusals are those of package onekey.
const saysMore = "MORE"

// scriptAdd: ARGV[1] is the epoch; ARGV[2] and ARGV[3] are where the slot begins and ends, ARGV[4]
// is its owner, ARGV[5] the least that its count must be. ARGV[6] is for how many layers the keys
// in ARGV[12] are packed; ARGV[7] and ARGV[8] are where the epoch behind the newest of them
// begins and ends, ARGV[9] and ARGV[10] the same of the one before, ARGV[11] how many keys
// the newest takes.
//
// If there is one layer less than that, and the newest takes no more keys, the next is opened.
//
// Each key is the length of what follows in 2 bytes, and for each layer, newest first, the first
// and the last byte of its words, as decimal numbers with their length before, which are
// used as they are; and for each word how many bytes it is behind the first, and a mask of 8 bytes.
//
// The answer: the slot's count, the number of layers, how many more keys the newest takes,
// and how many keys of ARGV[12] were looked at, all as doubles; and a bit for each of those: 1 if it
// is new, the first key in the lowest bit of the first byte. It ends before the first new key for
// which the newest layer has no room.
const scriptAdd = `
local K, call = KEYS[1], redis.call
local up, pk, band, bor, char, sub = struct.unpack, struct.pack, bit.band, bit.bor, string.char, string.sub
local function refuse(code) return redis.error_reply(code .. ' redisfilter/growing') end
LUAlocal epoch, owner, want = ARGV[1], ARGV[4], tonumber(ARGV[6])
local head = call('GETRANGE', K, 16, 63)
if sub(head, 1, 8) ~= epoch then return refuse('GONE') end
local layers, left = up('<dd', head, 33)
if layers > want then return refuse('MORE ' .. string.format('%.0f', layers)) end
if layers == want then
  if call('GETRANGE', K, ARGV[7], ARGV[8]) ~= epoch then return refuse('GONE') end
elseif layers ~= want - 1 or left ~= 0 then return refuse('OLDER')
elseif call('GETRANGE', K, ARGV[9], ARGV[10]) ~= epoch then return refuse('GONE') end
local slot = call('GETRANGE', K, ARGV[2], ARGV[3])
if sub(slot, 1, 8) ~= owner then return refuse('TAKEN') end
local count = up('<d', slot, 9)
if count < tonumber(ARGV[5]) then return refuse('OLDER') end
if layers < want then
  call('SETRANGE', K, ARGV[7], epoch)
  layers, left = want, tonumber(ARGV[11])
end
local d = ARGV[12]
local out, n, byte, w, pos, len, done = {}, 0, 0, 1, 1, #d, 0
while pos < len do
  local size, p = up('<I2', d, pos)
  local next = p + size
  local from, to, WORDS
  from, to, WORDS, p = up('<Bc0Bc0FORMAT', d, p)
  local v = call('GETRANGE', K, from, to)
  local seen = false
  repeat
    local x, y
    TEST
  until true
  if not seen then
    local v, x, y
    while p < next do
      local from, to, WORDS
      from, to, WORDS, p = up('<Bc0Bc0FORMAT', d, p)
      v = call('GETRANGE', K, from, to)
      TEST
    end
  end
  if not seen then
    if not (left >= 1) then break end
    left = left - 1
    call('SETRANGE', K, from, SPAN)
    byte = byte + w
  end
  done = done + 1
  w = w * 2
  if w == 256 then n = n + 1; out[n] = char(byte); byte = 0; w = 1 end
  pos = next
end
if w > 1 then out[n + 1] = char(byte) end
call('SETRANGE', K, 48, pk('<dd', layers, left))
count = count + 1
call('SETRANGE', K, ARGV[2], owner .. pk('<dd', count, call('TIME')[1]))
return pk('<dddd', count, layers, left, done) .. table.concat(out)
`

// scriptClaim gives a slot to an owner, ARGV[2]: one that was never used, or the one that was not
// used for longest.
const scriptClaim = `
local K, call, up, sub = KEYS[1], redis.call, struct.unpack, string.sub
if call('GETRANGE', K, 16, 23) ~= ARGV[1] then return redis.error_reply('GONE redisfilter/growing') end
local now, table = call('TIME')[1], call('GETRANGE', K, FIRST, LAST)
if #table ~= SLOTS * SIZE then return redis.error_reply('GONE redisfilter/growing') end
local slot, oldest
for i = 0, SLOTS - 1 do
  local owner, used = sub(table, i * SIZE + 1, i * SIZE + 8), up('<d', table, i * SIZE + 17)
  if owner == ARGV[2] then return i end
  if owner == string.rep('\0', 8) then used = -1 end
  if not oldest or used < oldest then slot, oldest = i, used end
end
call('SETRANGE', K, FIRST + slot * SIZE, ARGV[2] .. struct.pack('<dd', 0, now))
return slot
`

// scriptMake makes a key that is not there. ARGV[1] is its header without the expiry, ARGV[2] where
// the epoch behind the first layer begins, ARGV[3] in how many milliseconds it expires, 0 for never.
const scriptMake = `
local K, call = KEYS[1], redis.call
if call('EXISTS', K) == 1 then return 0 end
call('SETRANGE', K, ARGV[2], string.sub(ARGV[1], 17, 24))
local time, expires = call('TIME'), 0
if ARGV[3] ~= '0' then expires = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3] end
call('SETRANGE', K, 0, ARGV[1] .. struct.pack('<d', expires))
if expires > 0 then call('PEXPIREAT', K, string.format('%.0f', expires)) end
return 1
`

// scriptClear removes a value that is cut short: one of the epoch ARGV[1] with ARGV[4] layers that
// does not end with the epoch at ARGV[2] to ARGV[3]. With another number of layers it ends elsewhere.
const scriptClear = `
local K, call = KEYS[1], redis.call
local head = call('GETRANGE', K, 16, 55)
if string.sub(head, 1, 8) ~= ARGV[1] or struct.unpack('<d', head, 33) ~= tonumber(ARGV[4]) then return 0 end
if call('GETRANGE', K, ARGV[2], ARGV[3]) == ARGV[1] then return 0 end
return call('UNLINK', K)
`

type scripts struct{ add, claim, make, clear onekey.Script }

// newScripts returns the scripts for so many words of a key.
func newScripts(words int) scripts {
	var names, test, span []string
	for i := 1; i <= words; i++ {
		word := strings.NewReplacer("N", strconv.Itoa(i), "O", strconv.Itoa(i-1))
		names = append(names, word.Replace("iN, aN, bN"))
		test = append(test, word.Replace("x, y = up('<i4i4', v, iN + 1)\n    if band(x, aN) == aN and band(y, bN) == bN then "))
		if i > 1 {
			span = append(span, word.Replace("sub(v, iO + 9, iN)"))
		}
		span = append(span, word.Replace("put(v, iN + 1, aN, bN)"))
	}
	values := strings.NewReplacer(
		"LUA", onekey.Lua,
		"WORDS", strings.Join(names, ", "), "FORMAT", strings.Repeat("Bi4i4", words), "SPAN", strings.Join(span, " .. "),
		"TEST", strings.Join(test, "")+"seen = true; break "+strings.Repeat("end ", words),
		"FIRST", strconv.Itoa(slotsAt), "LAST", strconv.Itoa(slotsAt+slots*slotBytes-1),
		"SLOTS", strconv.Itoa(slots), "SIZE", strconv.Itoa(slotBytes),
	)
	build := func(source string) onekey.Script { return onekey.NewScript(values.Replace(source)) }
	return scripts{build(scriptAdd), build(scriptClaim), build(scriptMake), build(scriptClear)}
}
