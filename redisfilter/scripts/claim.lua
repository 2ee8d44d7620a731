-- Gives a slot to a tag: the one that it has; else a free one, or the one whose last use lies most claims back. The record of the
-- handle that had the slot moves to its second half. The new record takes along the numbers of all records with the tag. The
-- script needs no clock; claims are counted modulo 2^32. It does nothing if no record shows that the value has every confirmed add of the handle. The reply is
-- the slot's index.
--
-- KEYS[1]: the shard. ARGV[1]: the epoch, the tag, and the confirmed number of each lane.
-- ARGV[2], ARGV[3]: first and last byte of the slots.
local K, call, up, pk, sub, find = KEYS[1], redis.call, struct.unpack, struct.pack, string.sub, string.find
local epoch, tag, c0, c1, c2, c3 = up('<c8c8I5I5I5I5', ARGV[1])
if call('GETRANGE', K, 16, 23) ~= epoch then return redis.error_reply('BLOOMGONE redisfilter') end
local slots, claims = call('GETRANGE', K, ARGV[2], ARGV[3]), (up('<d', call('GETRANGE', K, 120, 127)) + 1) % 4294967296
if #slots ~= ARGV[3] - ARGV[2] + 1 then return redis.error_reply('BLOOMGONE redisfilter') end

-- Each number of a record says that its add is in the value, so the greatest of each lane says so, too.
local n0, n1, n2, n3, own, max = 0, 0, 0, 0, nil, math.max
local at = find(slots, tag, 1, true)
while at do
  if at % 32 == 1 then
    local m0, m1, m2, m3 = up('<I5I5I5I5', slots, at + 12)
    n0, n1, n2, n3 = max(n0, m0), max(n1, m1), max(n2, m2), max(n3, m3)
    if at % 64 == 1 then own = (at - 1) / 64 end
  end
  at = find(slots, tag, at + 1, true)
end
if n0 < c0 or n1 < c1 or n2 < c2 or n3 < c3 then return redis.error_reply('BLOOMOLDER redisfilter') end

-- As a number, only a free slot's tag is 0.
local slot, oldest, before = own, -1
if not own then
  for i = 0, #slots / 64 - 1 do
    local owner, stamp = up('<dI4', slots, i * 64 + 1)
    if owner == 0 then slot = i break end
    local age = (claims - stamp) % 4294967296
    if age > oldest then slot, oldest = i, age end
  end
  before = sub(slots, slot * 64 + 1, slot * 64 + 32)
else
  before = sub(slots, slot * 64 + 33, slot * 64 + 64)
end
call('SETRANGE', K, 120, pk('<d', claims))
call('SETRANGE', K, ARGV[2] + slot * 64, pk('<c8I4I5I5I5I5', tag, claims, n0, n1, n2, n3) .. before)
return slot
