package redisfilter

import (
	"fmt"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A script looks before it writes, and does all of its work or nothing: a process that ends at any
// moment leaves nothing half done, and a value that has vanished or is another one is not changed. A
// write that can fail for want of memory comes before all other writes.
type script struct{ source, sha string }

// Names that begin with $ are replaced, see newScripts.

const luaHead = `
local K, call, up, pk = KEYS[1], redis.call, struct.unpack, struct.pack
`

// luaSlot compares the handle's slot with what the handle knows. ARGV[1] is the epoch, ARGV[2] and
// ARGV[3] are where the owner and the count of the slot begin and end, ARGV[4] is the owner, ARGV[5]
// the least count. In a filter that does not grow, an intact slot shows that the value is the right
// one and not cut short before the slot.
const luaSlot = `
local slot = call('GETRANGE', K, ARGV[2], ARGV[3])
local owner, count
if #slot == 16 then owner, count = up('<c8d', slot) end
if owner ~= ARGV[4] then
  if call('GETRANGE', K, 16, 23) ~= ARGV[1] then return redis.error_reply('BLOOMGONE redisfilter') end
  return redis.error_reply('BLOOMTAKEN redisfilter')
end
if count - ARGV[5] < 0 then return redis.error_reply('BLOOMOLDER redisfilter') end
`

// luaClock sets ms, and luaGeneration the generation. Time never goes back: the latest generation
// stays until the clock has caught up. If the clock is behind by more than a window, it was wrong
// before or is wrong now. Waiting could take years, so the clock is shifted, and time goes on.
const (
	luaClock = `
local time = call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)
`
	luaGeneration = `
local latest, shift = up('<dd', call('GETRANGE', K, 80, 95))
$clock
local gen, moved = math.floor(ms / $millis) + shift, false
if gen < latest then
  if gen < latest - $generations then shift, moved = shift + latest - gen, true end
  gen = latest
elseif gen > latest then moved = true end
local places = {}
for age = 0, $generations do places[age] = 9 + 64 * ((gen - age) % ($generations + 1)) end
`
)

// luaLayers opens the next layer of a growing filter if the handle asks for it. ARGV[10] is the number
// of layers that the keys are packed for. If there is one less, with no room in it, ARGV[11] is where
// the epoch behind the new layer begins and ARGV[12] how many keys the new layer takes.
const luaLayers = `
local want = tonumber(ARGV[10])
local last, layers, left = up('<ddd', call('GETRANGE', K, 72, 95))
if call('GETRANGE', K, last, last + 7) ~= ARGV[1] then return redis.error_reply('BLOOMGONE redisfilter') end
if layers > want then return redis.error_reply(string.format('BLOOMMORE %.0f redisfilter', layers)) end
if layers < want - 1 or layers < want and left ~= 0 then return redis.error_reply('BLOOMOLDER redisfilter') end
if layers < want then
  call('SETRANGE', K, ARGV[11], ARGV[1])
  last, layers, left = tonumber(ARGV[11]), want, tonumber(ARGV[12])
end
`

// ARGV[8] are the keys and ARGV[9] is their number. A key whose bits are in one block is, for each layer,
// newest first: where its first word begins and its last one ends, as decimal numbers with their length
// before, which are passed on as they are; and for each word how many bytes it is behind the first, and a
// mask in two halves of 32 bits. With a window, the numbers are those of the record.
//
// A key whose bits are anywhere is, for each layer, the number of each bit as such a decimal number.
//
// In a growing filter, the length of all that in 2 bytes comes first.
const luaKeys = `
local d, out, byte, w, pos, done = ARGV[8], '', 0, 1, 1, 0
local n, band, bor, sub = tonumber(ARGV[9]), bit.band, bit.bor, string.sub
while done < n do
  $key
  done = done + 1
  w = w * 2
  if w == 256 then out, byte, w = out .. string.char(byte), 0, 1 end
end
if w > 1 then out = out .. string.char(byte) end
`

// The keys of a filter with all bits of a key in one block.
const (
	luaBlock = `
  local $size from, to, $words, p = up('<${sizeformat}Bc0Bc0$wordformats', d, pos)
  local v, at = call('GETRANGE', K, from, to), 1
  $load
  local seen = $loaded
  $olderblocks
  if not seen then
    $room
    call('SETRANGE', K, from, $span)
    byte = byte + w
  end
  pos = p`

	luaOlderBlocks = `
  local next = pos + 2 + size
  while not seen and p < next do
    local from, to, $words
    from, to, $words, p = up('<Bc0Bc0$wordformats', d, p)
    local v, at = call('GETRANGE', K, from, to), 1
    repeat $test until true
  end
  p = next`

	luaRoom = `
    if not (left >= 1) then break end
    left = left - 1`
)

// The keys of a filter with the bits of a key anywhere. Without growth, one command sets the bits of several
// keys, at most commandBits: Lua has registers for 250 values, which are six per bit and some others.
const (
	commandBits = 40

	luaBits = `
  local set = 0
  if n - done >= $together then
  $settogether
  else
  $setone
  end`

	// Layers have different numbers of bits per key; the number is before them.
	luaGrowingBits = `
  local size, p = up('<I2', d, pos)
  local next, newest, seen = p + size
  while not seen and p < next do
    local bits = {up(string.rep('Bc0', (up('B', d, p))), d, p + 1)}
    p = table.remove(bits)
    newest = newest or bits
    local get = {'BITFIELD_RO', K}
    for i, bit in ipairs(bits) do get[3 * i], get[3 * i + 1], get[3 * i + 2] = 'GET', 'u1', bit end
    seen = true
    for _, bit in ipairs(call(unpack(get))) do seen = seen and bit == 1 end
  end
  if not seen then
    $room
    for _, bit in ipairs(newest) do call('SETBIT', K, bit, '1') end
    byte = byte + w
  end
  pos = next`
)

// The keys of a window. A record that was last written in this generation gets the span of the words.
// An older one is written anew, without the generations that have ended.
const (
	luaRecord = `
  local from, to, $words
  from, to, $words, pos = up('<Bc0Bc0$wordformats', d, pos)
  local v = call('GETRANGE', K, from, to)
  local stamp, seen = up('<d', v), false
  for age = gen - stamp, $generations do
    local at = places[age]
    $test
  end
  $answer`

	luaAskRecord = `if seen then byte = byte + w end`

	luaStoreRecord = `
  if not seen then
    byte = byte + w
    if stamp == gen then
      local at = places[0]
      $load
      call('SETRANGE', K, string.format('%d', from + (at + i1 - 1)), $span)
    else
      local r, zeros = {pk('<d', gen)}, string.rep('\0', 64)
      for q = 0, $generations do
        local g = gen - (gen - q) % ($generations + 1)
        if g == gen then r[q + 2] = $fresh
        elseif g > stamp then r[q + 2] = zeros
        else r[q + 2] = sub(v, 9 + 64 * q, 72 + 64 * q) end
      end
      call('SETRANGE', K, from, table.concat(r))
    end
  end`
)

// The ends of a script that adds. If ARGV[6] is 1, the slot's time is renewed; the count is at ARGV[7].
// The reply is the count, the number of layers and how many keys were looked at, and a bit for each of
// these: 1 if the key is new, the first key in the lowest bit of the first byte. It ends before the
// first new key for which the newest layer has no room.
const (
	luaKeepLayers = `call('SETRANGE', K, 72, pk('<ddd', last, layers, left))`

	luaKeepGeneration = `if moved then call('SETRANGE', K, 80, pk('<dd', gen, shift)) end`

	luaAdded = `
count = count + 1
local used = ''
if ARGV[6] == '1' then used = pk('<d', call('TIME')[1]) end
call('SETRANGE', K, ARGV[7], pk('<d', count) .. used)
return pk('<ddd', count, $layers, done) .. out
`
)

// A script that looks up checks the slot, or, for a handle without one, the epoch at the end, from
// ARGV[2] to ARGV[3]. The reply is the generation, and a bit for each key: 1 if it was found.
const (
	luaAskSlot = `
if ARGV[4] ~= '' then
  $slot
elseif call('GETRANGE', K, ARGV[2], ARGV[3]) ~= ARGV[1] then return redis.error_reply('BLOOMGONE redisfilter') end
`
	luaAsked = `return pk('<d', gen) .. out`
)

// scriptOpen returns what there is: 'n' for nothing, 'f' for something else, 'r' for a ruin, a value of
// this filter that is cut short, and 'w' for a whole one; and the header. With ARGV[1] = 1, it makes
// what is missing or a ruin. ARGV[2] is the header, ARGV[3] where the epoch at the end begins, ARGV[4]
// the TTL, 0 for none, and ARGV[5] when the value expires if that has not passed.
const scriptOpen = luaHead + `
local head = call('GETRANGE', K, 0, $header - 1)
local state = 'f'
if #head == $header and string.sub(head, 1, 10) == string.sub(ARGV[2], 1, 10) and string.sub(head, 25, 32) == string.sub(ARGV[2], 25, 32) then
  local last = up('<d', head, 73)
  state = 'r'
  if last >= $header and last < 536870912 and last == math.floor(last) and call('GETRANGE', K, last, last + 7) == string.sub(head, 17, 24) then
    state = 'w'
  end
elseif call('EXISTS', K) == 0 then state = 'n' end
if ARGV[1] ~= '1' or state == 'f' or state == 'w' then return state .. head end
if state == 'r' then call('UNLINK', K) end
call('SETRANGE', K, ARGV[3], string.sub(ARGV[2], 17, 24))
$clock
local expires = tonumber(ARGV[5])
if expires <= ms then
  expires = 0
  if ARGV[4] ~= '0' then expires = ms + ARGV[4] end
end
head = string.sub(ARGV[2], 1, 96) .. pk('<d', expires) .. string.sub(ARGV[2], 105)
call('SETRANGE', K, 0, head)
if expires > 0 then call('PEXPIREAT', K, string.format('%.0f', expires)) end
return 'w' .. head
`

// scriptClaim gives a slot to the owner ARGV[2] and returns its index: the owner's, a free one, or one
// whose owner has not added for a minute.
const scriptClaim = luaHead + `
if call('GETRANGE', K, 16, 23) ~= ARGV[1] then return redis.error_reply('BLOOMGONE redisfilter') end
local now, slots = tonumber(call('TIME')[1]), call('GETRANGE', K, $table, $tableend)
if #slots ~= $slots * 24 then return redis.error_reply('BLOOMGONE redisfilter') end
local at, oldest
for i = 0, $slots - 1 do
  local owner, used = string.sub(slots, i * 24 + 1, i * 24 + 8), up('<d', slots, i * 24 + 17)
  if owner == ARGV[2] then return i end
  if owner == string.rep('\0', 8) then used = -1 end
  if not oldest or used < oldest then at, oldest = i, used end
end
if oldest >= now - 60 then return redis.error_reply('BLOOMHANDLES redisfilter') end
call('SETRANGE', K, $table + at * 24, ARGV[2] .. pk('<dd', 0, now))
return at
`

// scriptFree gives the slot back.
const scriptFree = luaHead + luaSlot + `
call('SETRANGE', K, ARGV[2], string.rep('\0', 24))
return 1
`

// scriptDelete removes the value of an epoch.
const scriptDelete = luaHead + `
if call('GETRANGE', K, 16, 23) ~= ARGV[1] then return 0 end
return call('UNLINK', K)
`

// scriptUpload writes a piece of an upload, KEYS[1], at ARGV[1], and renews its expiry: an upload that
// is evicted in between must not be made anew without one.
const scriptUpload = `
redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
`

// scriptPut puts an upload, KEYS[2], in the place of a value or adds its bits to it. The upload is
// whole if it ends with the ticket ARGV[7] at ARGV[6]. ARGV[8] is the header of the new value, or empty to
// add; ARGV[9] is where the slot's count is. The expiry stays as it is. The reply is the count, or 0 if
// the upload is not whole.
const scriptPut = luaHead + luaSlot + `
if call('GETRANGE', K, ARGV[6], ARGV[6] + 7) ~= ARGV[1] then return redis.error_reply('BLOOMGONE redisfilter') end
local U = KEYS[2]
if call('GETRANGE', U, 0, 7) ~= ARGV[7] or call('GETRANGE', U, ARGV[6], ARGV[6] + 7) ~= ARGV[7] then return 0 end
local left = call('PTTL', K)
if ARGV[8] == '' then
  call('SETRANGE', U, 0, string.rep('\0', 8))
  call('SETRANGE', U, ARGV[6], string.rep('\0', 8))
  call('BITOP', 'OR', K, K, U)
  call('UNLINK', U)
  call('SETRANGE', K, ARGV[9], pk('<d', count + 1))
else
  call('SETRANGE', U, 0, string.sub(ARGV[8], 1, 96) .. call('GETRANGE', K, 96, 103) .. string.sub(ARGV[8], 105))
  call('SETRANGE', U, ARGV[6], string.sub(ARGV[8], 17, 24))
  call('RENAME', U, K)
end
if left >= 0 then call('PEXPIRE', K, left) else call('PERSIST', K) end
return count + 1
`

// scripts are the scripts of a plan; ask is for windows.
type scripts struct{ open, claim, free, add, ask, delete, upload, put script }

// newScripts returns the scripts of a plan. clock is luaClock, but for tests.
func newScripts(f *plan, clock string) scripts {
	vars := map[string]string{
		"clock": clock, "slot": luaSlot, "header": fmt.Sprint(headerBytes),
		"table": fmt.Sprint(f.layout.table), "tableend": fmt.Sprint(f.layout.end - 1), "slots": fmt.Sprint(f.layout.slots),
		"millis": fmt.Sprint(f.millis), "generations": fmt.Sprint(f.generations),
		"layers": "1", "key": luaBlock,
	}
	f.wordVars(vars)
	before, after := "", ""
	if f.words == 0 {
		k, together := f.scheme.Params().K, 4
		for k*together > commandBits && together > 1 {
			together /= 2
		}
		vars["key"], vars["together"] = luaBits, fmt.Sprint(together)
		vars["setone"], vars["settogether"] = setBits(k, 1), setBits(k, together)
	}
	if f.growth {
		before, after = luaLayers, luaKeepLayers
		vars["layers"], vars["size"], vars["sizeformat"], vars["olderblocks"], vars["room"] = "layers", "size,", "I2", luaOlderBlocks, luaRoom
		if f.words == 0 {
			vars["key"] = luaGrowingBits
		}
	}
	build := func(parts ...string) script {
		source := strings.Join(parts, "")
		for strings.Contains(source, "$") {
			source = os.Expand(source, func(name string) string { return vars[name] })
		}
		source = strings.TrimSpace(source)
		return script{source, redis.NewScript(source).Hash()}
	}
	all := scripts{
		open: build(scriptOpen), claim: build(scriptClaim), free: build(scriptFree), delete: build(scriptDelete),
		upload: build(scriptUpload), put: build(scriptPut),
	}
	if f.generations > 0 {
		before, after, vars["key"], vars["answer"] = luaGeneration, luaKeepGeneration, luaRecord, luaAskRecord
		all.ask = build(luaHead, luaAskSlot, luaGeneration, luaKeys, luaAsked)
		vars["answer"] = luaStoreRecord
	}
	all.add = build(luaHead, luaSlot, before, luaKeys, after, luaAdded)
	return all
}

// wordVars sets the expressions for the words of a key, whose block begins at at in v: their names; a
// test of all words, which ends a loop; the words with the key's bits set, and whether they were set before;
// the span from the first word to the last one, and a block with only these bits.
func (f *plan) wordVars(vars map[string]string) {
	var names, test, load, loaded, span, fresh strings.Builder
	for i := range f.words {
		word := strings.NewReplacer("N", fmt.Sprint(i+1), "O", fmt.Sprint(i))
		names.WriteString(word.Replace(", iN, aN, bN"))
		test.WriteString(word.Replace("local xN, yN = up('<i4i4', v, at + iN); if band(xN, aN) == aN and band(yN, bN) == bN then "))
		load.WriteString(word.Replace("local xN, yN = up('<i4i4', v, at + iN); local pN, qN = bor(xN, aN), bor(yN, bN)\n"))
		loaded.WriteString(word.Replace(" and pN == xN and qN == yN"))
		if i == 0 {
			fresh.WriteString(", sub(zeros, 1, i1), a1, b1")
			span.WriteString(", p1, q1")
		} else {
			fresh.WriteString(word.Replace(", sub(zeros, 1, iN - iO - 8), aN, bN"))
			span.WriteString(word.Replace(", sub(v, at + iO + 8, at + iN - 1), pN, qN"))
		}
	}
	words := max(1, f.words)
	vars["words"], vars["wordformats"] = strings.TrimPrefix(names.String(), ", "), strings.Repeat("Bi4i4", f.words)
	vars["test"] = test.String() + "seen = true; break " + strings.Repeat("end ", f.words)
	vars["load"], vars["loaded"] = load.String(), strings.TrimPrefix(loaded.String(), " and ")
	vars["span"] = "pk('<i4i4" + strings.Repeat("c0i4i4", words-1) + "'" + span.String() + ")"
	vars["fresh"] = fmt.Sprintf("pk('<%sc0'%s, sub(zeros, 1, 56 - i%d))", strings.Repeat("c0i4i4", words), fresh.String(), words)
}

// setBits returns the commands that set the k bits of each of some keys, and note which keys are new. A table of
// arguments would take longer. The number of keys divides 8: the caller ends the bytes of the reply.
func setBits(k, keys int) string {
	var all strings.Builder
	for bit := 0; bit < k*keys; {
		n := min(k*keys-bit, commandBits)
		var names, args, sums strings.Builder
		for i := range n {
			fmt.Fprintf(&names, "b%d, ", i)
			fmt.Fprintf(&args, ", 'SET', 'u1', b%d, '1'", i)
			switch {
			case bit%k == 0 && bit > 0:
				sums.WriteString("done, w, set = done + 1, w * 2, 0")
			case i == 0:
				sums.WriteString("set = set")
			}
			fmt.Fprintf(&sums, " + r[%d]", i+1)
			if bit++; bit%k == 0 {
				fmt.Fprintf(&sums, "\n    if set ~= %d then byte = byte + w end\n    ", k)
			}
		}
		fmt.Fprintf(&all, `do
    local %sp = up('<%s', d, pos)
    local r = call('BITFIELD', K%s)
    pos = p
    %s
  end
  `, &names, strings.Repeat("Bc0", n), &args, &sums)
	}
	return all.String()
}
