#!lua flags=allow-oom
-- ack_match: a player says that it knows of its match, and takes up its seat where it has one.
-- Guarantee:  touches only a record that names this match. Sent again: acknowledged again.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer
-- ARGV[7]     match      id
-- Returns     {1, own part of what was told, now_ms, record} | {-10} no such match | {-3} replaced
-- Touches     pl, pr:<player>, sh, pub, i:<instance>
-- Cost        O(1)
-- @include prelude
-- @include writes
-- @include tell
local player, generation, id = ARGV[5], ARGV[6], ARGV[7]
local presence = parse_presence(redis.call('GET', prefix .. 'pr:' .. player))
if is_older(generation, presence) then return finish({CODE_REPLACED}) end
local record = load(player)
if id == '' or record.match ~= id then return finish({CODE_NO_SUCH_MATCH}) end
if record.acked == '' or record.acked == 's' then
  if record.acked == 's' then seat_holds[player] = false end
  record.acked = record.acked == 's' and 't' or '1'
  save(player)
  tell_self()
  flush()
end
return finish({1, tell_all(), int(now_ms), format_record(record)})
