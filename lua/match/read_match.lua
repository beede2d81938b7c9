#!lua flags=no-writes
-- read_match: a match as it stands.
-- Guarantee:  one moment's view.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     match      id
-- Returns     {1, '', now_ms, match} | {-10} no such match
-- Touches     m
-- Cost        O(1)
-- @include read_prelude
local text = redis.call('HGET', prefix .. 'm', ARGV[5])
if not text then return {CODE_NO_SUCH_MATCH} end
return {1, '', int(now_ms), text}
