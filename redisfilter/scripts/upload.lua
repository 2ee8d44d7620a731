-- Writes a piece of an upload and renews its expiry: an upload that is evicted in between must not be made anew without one.
--
-- KEYS[1]: the upload. ARGV[1]: where the piece begins. ARGV[2]: the piece. ARGV[3]: the time to live in milliseconds.
redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[2])
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
