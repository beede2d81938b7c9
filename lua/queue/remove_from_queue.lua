#!lua flags=allow-oom
-- remove_from_queue: a player leaves one world, several, or all.
-- Guarantee:  queue entry and record go together. A match that was faster stands, and is returned; one that is held
--             falls through with its world, so that a player that has left is not matched. Sent again: leaves nothing
--             more.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer    '' = not a session's
-- ARGV[7]     count      integer    worlds that follow; 0 = all
-- ARGV[8..]   world      id; for each
-- Returns     {1, own part of what was told, now_ms, record ('' where a match fell through: it is in what was told),
--             worlds left joined by ;, match or '', worlds whose players are back, last place before} | {-3}
-- Touches     pl, pr:<player>, ins, m, mx, st, w, q:<world>:<n>, no:<player>, aw, kp, op:<world>, sh, al, an, dc:<world>,
--             pub, i:<instance>
-- Cost        O(tickets of the player, and players of a match that falls through)
-- @include end_bundle
local player, generation, count = ARGV[5], ARGV[6], tonumber(ARGV[7])
local presence = parse_presence(redis.call('GET', prefix .. 'pr:' .. player))
if is_older(generation, presence) then return finish({CODE_REPLACED}) end
local before, left, asked = int(last), {}, {}
local function leave(world)
  for _, t in ipairs(take_out(player, world)) do
    left[#left + 1] = t.world
  end
end
if count == 0 then leave(nil) end
for i = 1, count do
  asked[i] = ARGV[7 + i]
  leave(asked[i])
end
local record = load(player)
local match = is_bound(record) and match_of(record.match)
-- A held match that was restored after a loss of history may have no ticket of the player: the player leaves it all the same.
local fell_through = match and (count == 0 or is_one_of(asked, match.world))
if fell_through and not is_one_of(left, match.world) then left[#left + 1] = match.world end
if fell_through then
  tell_self()
  cancel_match(record.match, match, match.state == 'proposed' and 'declined' or 'left', {[player] = 'left'})
elseif #left > 0 then
  save(player)
  tell_of_request(player, presence, generation)
end
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms), fell_through and '' or format_record(record), table.concat(left, ';'), record.match,
  worlds_to_poke(), before})
