#!lua
-- extract_group: form matches of a world's oldest live tickets, as many as there are ids for; open seats come first.
-- Guarantee:  taking out of all worlds, the match, each player's record, the stream entry and what is told
--             are one step. An id that exists is skipped, so a call sent again forms no match twice.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     size       integer    players of a match
-- ARGV[8]     width      integer    tickets looked at, at least size
-- ARGV[9]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[10]    drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[11]    count      integer    ids that follow
-- ARGV[12..]  match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms}
-- Touches     pl, pr:<player>, ins, q:<world>:<n>, aw, m, mx, st, w, ws:<world>, kp, op:<world>, sh, al, an, mr:<world>, pub,
--             i:<instance>
-- Cost        O(width log n) whatever the queue holds
-- @include match
-- @include worlds
local world, revision, size, width, terms, drain_ms, count =
  ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), parse_terms(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
-- @include window
-- @include form_match
-- @include throttle
-- @include seats
-- @include fill
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
if closed then return finish({1, '', int(now_ms), 0, 0, 0, 0, '0', int(ready_at_ms)}) end

local ids = unused_ids(12, count)
local live, parked, full = read_window(world, width, '0')
live = seat_all(world, live, function() return anybody end)
local allowed, opens_at_ms = may_form(world, terms)
local taken = 0
for _, candidate in ipairs(ids) do
  if #live - taken < size or #formed >= allowed then break end
  form_match(world, candidate.id, candidate.rooms, {unpack(live, taken + 1, taken + size)}, terms)
  taken = taken + size
end
tell_seated()
flush()
flush_matches()
count_formed(world)
count_throttled(world, terms)
-- Behind a full window of which something was taken or parked there may be more, and so there is where
-- ids ran out.
local enough = #live - taken >= size
local held_back = enough and #formed >= allowed
local more = not held_back and (full and (taken > 0 or parked > 0 or seats_taken > 0) or enough) and 1 or 0
return finish({1, tell_all(), int(now_ms), more, #formed, formed_players + seats_taken, parked, int(formed_wait_ms),
  int(held_back and math.max(opens_at_ms, now_ms + 100) or 0)})
