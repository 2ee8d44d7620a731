-- Removes the value of an epoch. The reply is 1 if it was there.
--
-- KEYS[1]: the shard. ARGV[1]: the epoch.
if redis.call('GETRANGE', KEYS[1], 16, 23) ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
