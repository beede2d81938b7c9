#!lua flags=allow-oom
-- ack_match: players say that they know of their matches, and take up their seats where they have one.
-- Guarantee:  touches only a record that names this match. Sent again: acknowledged again.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    players that follow
-- ARGV[6..]   player id, generation, match id; for each
-- Returns     {1, own part of what was told, now_ms, '', then for each {1, record, last place before}
--             | {-10} no such match | {-3} replaced}
-- Touches     pl, pr:<player>, sh, pub, i:<instance>
-- Cost        O(1) a player; at most 50 a call
-- @include prelude
-- @include write_buffer
-- @include notify
-- @include match_requests
local count = tonumber(ARGV[5])
local answers = answer_each(6, count, function(player, record, _, presence, generation)
  if record.acked == '' or record.acked == 's' then
    if record.acked == 's' then seat_holds[player] = false end
    record.acked = record.acked == 's' and 't' or '1'
    save(player)
    tell_of_request(player, presence, generation)
  end
  return 0
end)
flush()
return finish(with_records({1, tell_all(), int(now_ms), ''}, answers))
