#!lua flags=allow-oom
-- remove_from_queue: a player leaves one world, several, or all.
-- Guarantee:  queue entry and record go together. A match that was faster stands, and is returned. Sent
--             again: leaves nothing more.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer    '' = not a session's
-- ARGV[7]     count      integer    worlds that follow; 0 = all
-- ARGV[8..]   world      id; for each
-- Returns     {1, own part of what was told, now_ms, record, worlds left joined by ;, match or ''} | {-3}
-- Touches     pl, pr:<player>, q:<world>:<n>, aw, kp, pub, i:<instance>
-- Cost        O(tickets of the player)
-- @include prelude
-- @include writes
-- @include tell
local player, generation, count = ARGV[5], ARGV[6], tonumber(ARGV[7])
local presence = parse_presence(redis.call('GET', prefix .. 'pr:' .. player))
if is_older(generation, presence) then return finish({CODE_REPLACED}) end
local left = {}
local function leave(world)
  for _, t in ipairs(take_out(player, world)) do
    left[#left + 1] = t.world
  end
end
if count == 0 then leave(nil) end
for i = 1, count do
  leave(ARGV[7 + i])
end
local record = load(player)
if #left > 0 then
  save(player)
  if generation == '' then
    tell_player(player, presence) -- its session did not ask
  else
    tell_self()
  end
end
flush()
return finish({1, tell_all(), int(now_ms), format_record(record), table.concat(left, ';'), record.match})
