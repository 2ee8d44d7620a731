-- Sets bits of a bitmap and gives it a TTL in one step: a bitmap never has bits of this script without a TTL, and adders that meet
-- at its birth leave one expiry. The reply is a character per bit, 1 if the bit was set before, and the error of PEXPIRE, if any.
--
-- KEYS[1]: the bitmap. ARGV[1]: the TTL in milliseconds. ARGV[2]: 1 to renew a TTL, 0 to give one only if there is none.
-- ARGV[3], ARGV[4], ...: the positions.
local K, call, before, failed = KEYS[1], redis.call, {}, ''
local expires = ARGV[2] == '1' or call('PTTL', K) < 0 -- first: a user without the permission sets no bit
for first = 3, #ARGV, 1000 do -- Lua takes at most 8,000 arguments
  local args = {}
  for i = first, math.min(first + 999, #ARGV) do
    local n = #args
    args[n + 1], args[n + 2], args[n + 3], args[n + 4] = 'SET', 'u1', ARGV[i], 1
  end
  for _, bit in ipairs(call('BITFIELD', K, unpack(args))) do before[#before + 1] = bit end
end
if expires then
  local reply = redis.pcall('PEXPIRE', K, ARGV[1])
  if type(reply) == 'table' then failed = reply.err end
end
return table.concat(before) .. failed
