#!lua flags=allow-oom
-- end_lease: an instance that stops gives its lease back, after it departed its players.
-- Guarantee:  whoever it left behind is parked by the sweep like the players of a dead instance.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- Returns     {1, '', now_ms}
-- Touches     ins
-- Cost        O(log instances)
-- @include prelude
redis.call('ZADD', prefix .. 'ins', 'XX', '0', self)
return finish({1, '', int(now_ms)})
