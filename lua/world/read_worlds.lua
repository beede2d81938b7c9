#!lua flags=no-writes
-- read_worlds: the realm's worlds as they were last declared.
-- Guarantee:  one moment's view.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- Returns     {1, '', now_ms, revision of the newest change, then for each world: id, revision|state|hash, settings}
-- Touches     w, wc
-- Cost        O(worlds)
-- @include read_prelude
local reply = {1, '', int(now_ms), meta[4] or '0'}
for _, world in ipairs(redis.call('HKEYS', prefix .. 'w')) do
  reply[#reply + 1] = world
  reply[#reply + 1] = redis.call('HGET', prefix .. 'w', world)
  reply[#reply + 1] = redis.call('HGET', prefix .. 'wc', world) or ''
end
return reply
