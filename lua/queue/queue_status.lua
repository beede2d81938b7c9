#!lua flags=no-writes
-- queue_status: how a world's queue stands: exactly for its head, and for the players asked about.
-- Guarantee:  one moment's view.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     head       integer    how many of the head to return
-- ARGV[7]     count      integer    players that follow
-- ARGV[8..]   player     id; for each
-- Returns     {1, '', now_ms, size, oldest place or 0, matches formed, matches open, mean wait 'ms,at_ms' or '',
--             head joined by ;, then for each its rank, or -1}
-- Touches     q:<world>:<n>, ws:<world>
-- Cost        O(head + count log n); at most 100 each
-- @include read_prelude
local world, head_count, count = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local queue, stats = prefix .. 'q:' .. world .. ':1', redis.call('HMGET', prefix .. 'ws:' .. world, 'total', 'mean', 'open')
local head = {}
if head_count > 0 then head = redis.call('ZRANGE', queue, 0, head_count - 1) end
local oldest = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')[2] or '0'
local reply = {1, '', int(now_ms), int(redis.call('ZCARD', queue)), oldest, stats[1] or '0', stats[3] or '0', stats[2] or '', table.concat(head, ';')}
for i = 1, count do
  reply[#reply + 1] = redis.call('ZRANK', queue, ARGV[7 + i]) or -1
end
return reply
