-- Adds keys, or the bits of a local filter, to the value of a shard, whatever its kind. It does nothing unless the value is the one
-- that the handle knows. The reply is the server's time in microseconds (a double, 0 unless a window), the number of keys that
-- were looked at (2 bytes), a bit per key, the first in the lowest bit of the first byte: 1 if the key is new; and the
-- indices (2 bytes each) of the keys that are not there and found no room. Before the first such key, it ends if there may be a
-- further layer.
--
-- KEYS[1]: the shard.
-- ARGV[1]: the epoch. ARGV[2]: where the epoch behind the body begins. ARGV[3]: 1 to write although no key is new, because WAIT of
-- Redis 7.4 and later covers only the connection's own writes.
-- ARGV[4]: the keys. ARGV[5]: how many. ARGV[6]: words per key, 2 or 4.
-- ARGV[7]: 'p' plain, 'g' growing, 'w' window, 'm' to merge. ARGV[8]: the number of layers, or the generation, that the keys are
-- packed for.
-- ARGV[9]: growing: where the epoch behind the newest layer begins; window: milliseconds per generation.
-- ARGV[10]: how many keys a new layer or generation takes. ARGV[11]: 1 if there may be a further layer.
-- ARGV[12], ARGV[13]: window: places, and bytes per place.
-- To merge: ARGV[4]: the bits. ARGV[8]: where they begin. KEYS[2], KEYS[3]: names for two strings that the script makes and
-- removes. The reply is that of one key that is not new.
local K, call, up, pk, epoch = KEYS[1], redis.call, struct.unpack, struct.pack, ARGV[1]
if call('GETRANGE', K, ARGV[2], ARGV[2] + 7) ~= epoch then return redis.error_reply('BLOOMGONE redisfilter') end

local kind, want, us, changed, last, count, left, expiry, shift, added = ARGV[7], tonumber(ARGV[8]), 0, false
if kind == 'm' then
  local U, V = KEYS[2], KEYS[3]
  call('UNLINK', U, V) -- both are missing, so this and BITOP change nothing, but fail for a user without the permission
  call('BITOP', 'OR', U, U, V)
  call('SETRANGE', U, 0, ARGV[4])
  call('SETRANGE', V, 0, call('GETRANGE', K, want, want + #ARGV[4] - 1))
  call('BITOP', 'OR', U, U, V)
  call('SETRANGE', K, want, call('GETRANGE', U, 0, -1))
  call('UNLINK', U, V)
  return pk('<dI2B', 0, 1, 0)
end

-- The header from 72 on: the last epoch's offset, layers or generation, room, expiry, shift, time of the last add.
if kind ~= 'p' then last, count, left, expiry, shift, added = up('<dddddd', call('GETRANGE', K, 72, 119)) end
if kind == 'p' then
  left = math.huge
elseif kind == 'g' then
  if call('GETRANGE', K, last, last + 7) ~= epoch then return redis.error_reply('BLOOMGONE redisfilter') end
  if count > want then return redis.error_reply(string.format('BLOOMMORE %.0f redisfilter', count)) end
  if count < want - 1 or count < want and left > 0 then return redis.error_reply('BLOOMOLDER redisfilter') end
  if count < want then
    call('SETRANGE', K, ARGV[9], epoch)
    last, count, left, changed = tonumber(ARGV[9]), want, tonumber(ARGV[10]), true
  end
else
  -- Time never goes back: the latest generation stays until the clock has caught up. If the clock is behind by more than a
  -- window, it was wrong before or is wrong now, and is shifted.
  local time, places, bytes = call('TIME'), tonumber(ARGV[12]), tonumber(ARGV[13])
  us = time[1] * 1000000 + time[2]
  local now = math.floor(us / 1000 / ARGV[9]) + shift
  if now < count - places + 1 then shift, now, changed = shift + count - now, count, true end
  if not (now < 2^53) then return redis.error_reply('BLOOMGONE redisfilter') end -- a damaged header: the loop would not end
  if now > count then
    local zeros = string.rep('\0', math.min(bytes, 65536))
    for g = math.max(count + 1, now - places + 1), now do
      local from = 192 + (g % places) * bytes
      for at = from, from + bytes - #zeros, #zeros do call('SETRANGE', K, string.format('%.0f', at), zeros) end
      local rest = bytes % #zeros
      if rest > 0 then call('SETRANGE', K, string.format('%.0f', from + bytes - rest), string.sub(zeros, 1, rest)) end
    end
    count, left, changed = now, tonumber(ARGV[10]), true
  end
  if count ~= want then
    if changed then call('SETRANGE', K, 72, pk('<ddddd', last, count, left, expiry, shift)) end
    return redis.error_reply(string.format('BLOOMMORE %.0f redisfilter', count))
  end
  -- No two adds one after the other have the same time, so that a lookup sees that there was one.
  if us == added then added = us + 1 else added = us end
  changed = true
end

-- A key is its length in 2 bytes, and for each layer, newest first: where its first word begins and its last one ends, as
-- decimal numbers with their length before; and for each word its distance to the first in bytes, and a mask in two halves.
-- A loop over the words would take up to 45 % more time.
local d, n, band, bor, sub = ARGV[4], tonumber(ARGV[5]), bit.band, bit.bor, string.sub
local out, byte, w, pos, done, room, refused = '', 0, 1, 1, 0, left, ''
local two, more = ARGV[6] == '2', ARGV[11] == '1'
while done < n do
  local next, seen, first, span
  if two then
    local size, from, to, i1, a1, b1, i2, a2, b2, p = up('<I2Bc0Bc0Bi4i4Bi4i4', d, pos)
    next = pos + 2 + size
    local v = call('GETRANGE', K, from, to)
    local x1, y1 = up('<i4i4', v, i1 + 1)
    local x2, y2 = up('<i4i4', v, i2 + 1)
    local X1, Y1, X2, Y2 = bor(x1, a1), bor(y1, b1), bor(x2, a2), bor(y2, b2)
    seen = X1 == x1 and Y1 == y1 and X2 == x2 and Y2 == y2
    while not seen and p < next do
      local f, t, j1, j2
      f, t, j1, a1, b1, j2, a2, b2, p = up('<Bc0Bc0Bi4i4Bi4i4', d, p)
      local o = call('GETRANGE', K, f, t)
      repeat
        x1, y1 = up('<i4i4', o, j1 + 1)
        if band(x1, a1) ~= a1 or band(y1, b1) ~= b1 then break end
        x2, y2 = up('<i4i4', o, j2 + 1)
        seen = band(x2, a2) == a2 and band(y2, b2) == b2
      until true
    end
    if not seen then
      first, span = from, pk('<i4i4c0i4i4', X1, Y1, sub(v, i1 + 9, i2), X2, Y2)
    end
  else
    local size, from, to, i1, a1, b1, i2, a2, b2, i3, a3, b3, i4, a4, b4, p = up('<I2Bc0Bc0Bi4i4Bi4i4Bi4i4Bi4i4', d, pos)
    next = pos + 2 + size
    local v = call('GETRANGE', K, from, to)
    local x1, y1 = up('<i4i4', v, i1 + 1)
    local x2, y2 = up('<i4i4', v, i2 + 1)
    local x3, y3 = up('<i4i4', v, i3 + 1)
    local x4, y4 = up('<i4i4', v, i4 + 1)
    local X1, Y1, X2, Y2 = bor(x1, a1), bor(y1, b1), bor(x2, a2), bor(y2, b2)
    local X3, Y3, X4, Y4 = bor(x3, a3), bor(y3, b3), bor(x4, a4), bor(y4, b4)
    seen = X1 == x1 and Y1 == y1 and X2 == x2 and Y2 == y2 and X3 == x3 and Y3 == y3 and X4 == x4 and Y4 == y4
    while not seen and p < next do
      local f, t, j1, j2, j3, j4
      f, t, j1, a1, b1, j2, a2, b2, j3, a3, b3, j4, a4, b4, p = up('<Bc0Bc0Bi4i4Bi4i4Bi4i4Bi4i4', d, p)
      local o = call('GETRANGE', K, f, t)
      repeat
        x1, y1 = up('<i4i4', o, j1 + 1)
        if band(x1, a1) ~= a1 or band(y1, b1) ~= b1 then break end
        x2, y2 = up('<i4i4', o, j2 + 1)
        if band(x2, a2) ~= a2 or band(y2, b2) ~= b2 then break end
        x3, y3 = up('<i4i4', o, j3 + 1)
        if band(x3, a3) ~= a3 or band(y3, b3) ~= b3 then break end
        x4, y4 = up('<i4i4', o, j4 + 1)
        seen = band(x4, a4) == a4 and band(y4, b4) == b4
      until true
    end
    if not seen then
      first, span = from, pk('<i4i4c0i4i4c0i4i4c0i4i4', X1, Y1, sub(v, i1 + 9, i2), X2, Y2, sub(v, i2 + 9, i3), X3, Y3,
        sub(v, i3 + 9, i4), X4, Y4)
    end
  end
  if not seen and left >= 1 then
    left = left - 1
    call('SETRANGE', K, first, span)
    byte = byte + w
  elseif not seen then
    if more then break end
    refused = refused .. pk('<I2', done)
  end
  pos, done, w = next, done + 1, w * 2
  if w == 256 then out, byte, w = out .. string.char(byte), 0, 1 end
end
if w > 1 then out = out .. string.char(byte) end

if ARGV[3] == '1' then call('SETRANGE', K, ARGV[2], epoch) end
if changed or left ~= room and kind ~= 'p' then call('SETRANGE', K, 72, pk('<dddddd', last, count, left, expiry, shift, added)) end
return pk('<dI2', us, done) .. out .. refused
