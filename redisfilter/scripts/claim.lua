-- Gives a slot to a tag: a free one, or the one whose last use lies most claims back. It needs no clock and refuses no handle;
-- the handle that had the slot is told by its next call (BLOOMTAKEN). The reply is the slot's index and the number of claims.
--
-- KEYS[1]: the shard. ARGV[1]: the epoch. ARGV[2]: the tag, another for each claim.
-- ARGV[3], ARGV[4]: first and last byte of the slots.
local K, call, up, pk = KEYS[1], redis.call, struct.unpack, struct.pack
if call('GETRANGE', K, 16, 23) ~= ARGV[1] then return redis.error_reply('BLOOMGONE redisfilter') end
local slots, claims = call('GETRANGE', K, ARGV[3], ARGV[4]), up('<d', call('GETRANGE', K, 112, 119)) + 1
if #slots ~= ARGV[4] - ARGV[3] + 1 then return redis.error_reply('BLOOMGONE redisfilter') end
local free, at, oldest = string.rep('\0', 8), 0, math.huge
for i = 0, #slots / 32 - 1 do
  local owner, stamp = up('<c8I4', slots, i * 32 + 1)
  if owner == free then at = i break end
  if stamp < oldest then at, oldest = i, stamp end
end
call('SETRANGE', K, 112, pk('<d', claims))
call('SETRANGE', K, ARGV[3] + at * 32, ARGV[2] .. pk('<I4', claims) .. string.rep('\0', 20))
return {at, claims}
