#!lua
-- reserve_seats: give a fill world's oldest live tickets seats in its open rooms, the fullest first, and in new ones.
-- Guarantee:  seat, marker and how long it is held are one step; never more seats than there are. A room id that exists
--             is skipped, and who has a seat waits no longer, so a call sent again seats nobody twice.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     width      integer    tickets looked at
-- ARGV[8]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[9]     drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[10]    count      integer    ids that follow
-- ARGV[11..]  match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players seated, parked, wait sum ms, opens_at_ms,
--             after}
-- Touches     pl, pr:<player>, ins, q:<world>:<n>, aw, m, mx, st, w, ws:<world>, kp, op:<world>, sh, al, an, mr:<world>, pub,
--             i:<instance>
-- Cost        O(width log n + players of the rooms), those at most 200
-- @include match
-- @include worlds
local world, revision, width, terms, drain_ms, count =
  ARGV[5], ARGV[6], tonumber(ARGV[7]), parse_terms(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
-- @include window
-- @include form_match
-- @include throttle
-- @include seats
-- @include fill
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
if closed then return finish({1, '', int(now_ms), 0, 0, 0, 0, '0', int(ready_at_ms), '0'}) end

local ids = unused_ids(11, count)
local live, parked, full = read_window(world, width, '0')
local allowed, opens_at_ms = may_form(world, terms)
if #live > 0 then read_open_seats(world, #live) end
local waiting, held_back = 0, false
for _, member in ipairs(live) do
  if not seat(member, anybody) then
    local candidate = ids[#formed + 1]
    held_back = held_back or #formed >= allowed
    if candidate and #formed < allowed then
      local match = form_match(world, candidate.id, candidate.rooms, {member}, terms)
      rooms_with_seats[#rooms_with_seats + 1] = {id = candidate.id, match = match}
    else
      waiting = waiting + 1
    end
  end
end
tell_seated()
flush()
flush_matches()
count_formed(world)
count_throttled(world, terms)
local more = (not held_back and waiting > 0 or full and (#formed > 0 or seats_taken > 0 or parked > 0)) and 1 or 0
return finish({1, tell_all(), int(now_ms), more, #formed, formed_players + seats_taken, parked, int(formed_wait_ms),
  int(held_back and math.max(opens_at_ms, now_ms + 100) or 0), '0'})
