#!lua flags=allow-oom
-- open_epoch: open a new epoch where Redis' history is not the one that the epoch was opened under.
-- Guarantee:  compare-and-set: of many callers one opens it, the others learn its number. Born closed:
--             joins are taken, matches are formed from ready_at on. Sent again: the same answer.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer    the epoch that the caller believes in; 0 = none
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     floor      integer    the highest place the caller has seen
-- ARGV[6]     recovery_ms  integer  how long matching waits for assertions
-- Returns     {1, '', now_ms, epoch, ready_at_ms, 1 if Redis had nothing of an epoch before | 0}
-- Touches     nothing else
-- Cost        O(1)
-- @include time
-- @include replication_id
local floor, recovery_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local meta = redis.call('HMGET', meta_key, 'epoch', 'history', 'ready_at', 'last', 'emptied', 'touched', 'ahead')
-- The promoted replica may not have the last calls, and an emptied Redis has none: callers know the last place.
local known_ms = math.floor(math.max(floor, tonumber(epoch)) / 1000)
continue_time(math.max(tonumber(meta[6] or '0'), known_ms), tonumber(meta[7] or '0'))
local current = history()
-- An epoch below the caller's is that of an old history which is served again.
if meta[1] and meta[2] == current and tonumber(meta[1]) >= tonumber(epoch) then
  return {1, '', int(now_ms), meta[1], meta[3], tonumber(meta[5] or '0')}
end
local opened = int(math.max(tonumber(meta[4] or '0') + 1, floor + 1, tonumber(epoch) + 1, now_us))
-- With data from before nobody may be evicted for the time that Redis was away. With none there is
-- nobody to evict, until assertions bring them back; those make it calm themselves.
local calm_until_ms = meta[1] and now_ms + presence_ttl_ms or 0
local ready_at_ms, emptied = int(now_ms + recovery_ms), meta[1] and 0 or 1
redis.call('HSET', meta_key, 'epoch', opened, 'history', current, 'ready_at', ready_at_ms, 'last', opened,
  'touched', int(now_ms), 'calm_until', int(calm_until_ms), 'schema', '1', 'emptied', emptied, 'ahead', int(ahead_us))
return {1, '', int(now_ms), opened, ready_at_ms, emptied}
