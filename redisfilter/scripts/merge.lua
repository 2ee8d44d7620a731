-- Adds a piece of a filter's bits to the value of a shard, as an add of the handle. The reply is 1.
--
-- KEYS[1]: the shard. KEYS[2], KEYS[3]: names for two strings that the script makes and removes.
-- ARGV[1], ARGV[2]: first and last byte of the handle's slot. ARGV[3]: first byte of the number of the lane.
-- ARGV[4]: the epoch, the slot's tag, the lane, the number of this add, and the confirmed number of each lane.
-- ARGV[5]: where the piece begins. ARGV[6]: the piece.
local K, U, V, call, up, pk = KEYS[1], KEYS[2], KEYS[3], redis.call, struct.unpack, struct.pack
local epoch, tag, lane, num, c0, c1, c2, c3 = up('<c8c8BI5I5I5I5I5', ARGV[4])
local slot, owner, _, n0, n1, n2, n3 = call('GETRANGE', K, ARGV[1], ARGV[2])
if #slot == 32 then owner, _, n0, n1, n2, n3 = up('<c8I4I5I5I5I5', slot) end
if owner ~= tag then
  local head = call('GETRANGE', K, 0, 119)
  if #slot ~= 32 or string.sub(head, 17, 24) ~= epoch then return redis.error_reply('BLOOMGONE redisfilter') end
  return redis.error_reply(string.format('BLOOMTAKEN %.0f redisfilter', up('<d', head, 113)))
end
if n0 < c0 or n1 < c1 or n2 < c2 or n3 < c3 then return redis.error_reply('BLOOMOLDER redisfilter') end
if (lane == 0 and n0 or lane == 1 and n1 or lane == 2 and n2 or n3) >= num then return redis.error_reply('BLOOMLATE redisfilter') end
call('SETRANGE', U, 0, ARGV[6])
call('SETRANGE', V, 0, call('GETRANGE', K, ARGV[5], ARGV[5] + #ARGV[6] - 1))
call('BITOP', 'OR', U, U, V)
call('SETRANGE', K, ARGV[5], call('GETRANGE', U, 0, -1))
call('UNLINK', U, V)
call('SETRANGE', K, ARGV[3], pk('<I5', num))
return 1
