-- Says what a shard holds: 'n' nothing, 'f' something else, 'r' a ruin (a truncated value of this filter), or 'w' a whole value.
-- The server's time in microseconds (a double) and the header follow. If ARGV[1] is 1, the script makes a value that is missing
-- or a ruin.
--
-- KEYS[1]: the shard. ARGV[1]: 1 if it may make a value. ARGV[2]: the header of a new value.
-- ARGV[3]: where the epoch at the end begins. ARGV[4]: the time to live in milliseconds, 0 for none.
-- ARGV[5]: when the other shards expire, in Unix milliseconds; it counts if it has not passed.
-- ARGV[6]: milliseconds per generation, 0 without a window.
-- An empty SETRANGE changes nothing, and a replica refuses it.
local K, call, sub, pk = KEYS[1], redis.call, string.sub, struct.pack
local role = redis.pcall('SETRANGE', K, 0, '')
if type(role) == 'table' and role.err and string.find(role.err, 'READONLY', 1, true) then return role end
local time, head, state = call('TIME'), call('GETRANGE', K, 0, 191), 'f'
local us = time[1] * 1000000 + time[2]
local ms = math.floor(us / 1000)
if #head == 192 and sub(head, 1, 10) == sub(ARGV[2], 1, 10) and sub(head, 25, 32) == sub(ARGV[2], 25, 32) then
  local last = struct.unpack('<d', head, 73)
  state = 'r'
  if last >= 192 and last < 536870912 and last == math.floor(last) and call('GETRANGE', K, last, last + 7) == sub(head, 17, 24) then
    state = 'w'
  end
elseif call('EXISTS', K) == 0 then
  state = 'n'
end
if ARGV[1] ~= '1' or state == 'f' or state == 'w' then return state .. pk('<d', us) .. head end
if state == 'r' then call('UNLINK', K) end
local expires, count = tonumber(ARGV[5]), sub(ARGV[2], 81, 88)
if expires <= ms then
  expires = 0
  if ARGV[4] ~= '0' then expires = ms + ARGV[4] end
end
-- K is missing, so this changes nothing, but fails for a user without the permission: before a value that never expires.
local function expire() if expires > 0 then call('PEXPIREAT', K, string.format('%.0f', expires)) end end
expire()
if ARGV[6] ~= '0' then count = pk('<d', math.floor(ms / ARGV[6])) end
head = sub(ARGV[2], 1, 80) .. count .. sub(ARGV[2], 89, 96) .. pk('<d', expires) .. sub(ARGV[2], 105)
call('SETRANGE', K, ARGV[3], sub(ARGV[2], 17, 24))
call('SETRANGE', K, 0, head)
expire()
return 'w' .. pk('<d', us) .. head
