#!lua flags=no-writes
-- player_state: players' whole states, for an instance that has to look again.
-- Guarantee:  one moment's view, as of the place that is returned.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    players that follow
-- ARGV[6..]   player     id; for each
-- Returns     {1, '', now_ms, as-of place, then for each {1, generation, record, match, notes, ranks}}
-- Touches     pl, pr:<player>, m, no:<player>, q:<world>:<n>
-- Cost        O(count log n); at most 100 a call
-- @include read_prelude
-- @include record
-- @include player_state
local count = tonumber(ARGV[5])
local reply = {1, '', int(now_ms), meta[3]}
for i = 1, count do
  local player = ARGV[5 + i]
  local presence = redis.call('GET', prefix .. 'pr:' .. player)
  local generation = presence and string.match(presence, '(%d+)$') or '0'
  reply[#reply + 1] = {1, generation, unpack(describe(player))}
end
return reply
