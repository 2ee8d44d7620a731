-- Adds the bits of an upload to the value of a shard, as an add of the handle, and removes the upload. The expiry stays. The
-- reply is 1, or 0 if the upload is not whole: it begins and ends with its mark.
--
-- KEYS[1]: the shard. KEYS[2]: the upload.
-- ARGV[1], ARGV[2]: first and last byte of the handle's slot. ARGV[3]: first byte of the number of the lane.
-- ARGV[4]: the epoch, the slot's tag, the lane, the number of this add, and the confirmed number of each lane.
-- ARGV[5]: where the last epoch, or the last mark, begins. ARGV[6]: the mark.
local K, U, call, up, pk = KEYS[1], KEYS[2], redis.call, struct.unpack, struct.pack
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
if call('GETRANGE', K, ARGV[5], ARGV[5] + 7) ~= epoch then return redis.error_reply('BLOOMGONE redisfilter') end
if call('GETRANGE', U, 0, 7) ~= ARGV[6] or call('GETRANGE', U, ARGV[5], ARGV[5] + 7) ~= ARGV[6] then return 0 end
local left, zeros = call('PTTL', K), string.rep('\0', 8)
call('SETRANGE', U, 0, zeros)
call('SETRANGE', U, ARGV[5], zeros)
call('BITOP', 'OR', K, K, U)
call('UNLINK', U)
call('SETRANGE', K, ARGV[3], pk('<I5', num))
if left >= 0 then call('PEXPIRE', K, left) else call('PERSIST', K) end
return 1
